"""e3sm.py: E3SM-IO, the kernel of a climate model's output: its F, G and I cases by PnetCDF; a built one is given."""

import subprocess
from pathlib import Path

from sources import Missing
from suites.place import Place
from trial import Mpi, Suite, Trial, environment

LAYOUTS = ("canonical", "blob")  # variables as they are; each node's part as one, with PnetCDF and maps of its own


def suite(mpi: Mpi, place: Place) -> Suite:
    program = place.given("E3SM_IO", f"E3SM-IO (src/e3sm_io), built with {mpi.name} and PnetCDF")
    maps = sorted(program.parents[1].glob("datasets/map_?_case_16p.nc"))
    if not maps:
        raise Missing(f"{program}: its source tree has no datasets/map_f_case_16p.nc beside src/")
    trials = [
        Trial(
            f"{one.name[4]} case, {layout}, on {ranks}",
            [
                *mpi.start(ranks),
                str(program),
                "-k",
                "-a",
                "pnetcdf",
                "-x",
                layout,
                "-r",
                "2",
                "-o",
                "FOLDER/out",
                str(one),
            ],
            600,
            "I/O bandwidth in MiB/sec",
            "[Ee]rror",
        )
        for one in maps
        for layout in LAYOUTS
        for ranks in (4, 16)
    ]
    return Suite(f"e3sm/{mpi.name}", version(program, mpi), mpi, trials)


def version(program: Path, mpi: Mpi) -> str:
    """The commit of its source, if it is a checkout."""
    words = ["git", "-C", str(program.parent), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(words, env=environment(mpi), capture_output=True, text=True, check=False)
    return done.stdout.strip()
