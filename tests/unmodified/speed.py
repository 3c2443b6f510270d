#!/usr/bin/env python3
"""speed.py: times parallel libraries that are not changed, in turn without libpenstock_mpiio and with it preloaded.

python tests/unmodified/speed.py --np 16,4 [--pairs 6] [--dir DIR] [CASE...]

penstock-bench is the program: its engines call HDF5, netCDF-4, PnetCDF and MPI-IO as any program does, and check every
byte that they wrote. A pair is one run without and one with the library; each has two repetitions. The lines are rows
of a table in Markdown: medians, and the ratio of the pairs with its 95 % interval (from 6 pairs on).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from penstock.base import launch  # noqa: E402
from penstock.measure.studies import stats  # noqa: E402
from penstock.measure.unmodified.compare import turns  # noqa: E402

DATA = Path(os.environ.get("PENSTOCK_DATA", ROOT.parent / "shared" / "data"))
MAP = DATA / "e3sm" / "map_f_case_16p.nc"
ROWS = ("block3d", "--total", "256MiB", "--row-bytes", "512")
IOR = ("ior", "-b", "16MiB", "-t", "4MiB")
CASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "hdf5-many": ("400 HDF5 datasets of 128 KiB, collective", ("many", "--methods", "phdf5:collective=true")),
    "netcdf4-many": ("400 netCDF-4 variables of 128 KiB, collective", ("many", "--methods", "netcdf4")),
    "pnetcdf-many": ("400 PnetCDF variables of 128 KiB, blocking", ("many", "--methods", "pnetcdf")),
    "e3sm": ("E3SM map F, PnetCDF blocking", ("map", "--map", str(MAP), "--variables", "8", "--methods", "pnetcdf")),
    "rows": ("rows of 512 bytes by MPI_File_write_all", (*ROWS, "--methods", "raw/mpiio:level=3,read_back=none")),
    "hdf5-blocks": ("256 MiB, 3-D blocks, HDF5 collective", (*ROWS[:3], "--methods", "phdf5:collective=true")),
    "pnetcdf-blocks": ("256 MiB, 2-D blocks, PnetCDF", ("block2d", *ROWS[1:3], "--methods", "pnetcdf")),
    "ior": ("IOR's 16 MiB blocks, HDF5 independent", (*IOR, "--methods", "phdf5:collective=false")),
    "ior-collective": ("IOR's 16 MiB blocks, HDF5 collective", (*IOR, "--methods", "phdf5:collective=true")),
}
LIMIT_SECONDS = 600


def once(options: argparse.Namespace, ranks: int, words: Sequence[str], regime: str, with_us: bool) -> dict[str, float]:
    """The median seconds of each operation."""
    mpi = launch.Mpi(options.mpi)
    build = ROOT / "build" / ("mpich" if mpi is launch.Mpi.mpich else ".")
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        record = Path(folder) / "record.json"
        command = [*launch.mpiexec(mpi, ranks)]
        if options.io:
            command += ["--mca", "io", options.io]
        if with_us:
            command += ["env", f"LD_PRELOAD={build / 'lib' / 'libpenstock_mpiio.so'}"]
        command += [str(build / "bin" / "penstock-bench"), *words, "--no-aa", "--regime", regime, "--repetitions", "2"]
        command += ["--dir", folder, "--json", str(record)]
        environment = launch.environment() | {"PENSTOCK_WISDOM": "none"}
        subprocess.run(command, env=environment, check=True, capture_output=True, timeout=LIMIT_SECONDS)
        results = json.loads(record.read_text())["results"]
    os.sync()
    if not all(one["verified"] for one in results):
        raise SystemExit(f"speed.py: what was written is wrong: {' '.join(command)}")
    return {one["operation"]: one["median"] for one in results}


def row(options: argparse.Namespace, ranks: int, case: str, regime: str) -> str:
    name, words = CASES[case]
    seconds: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    for _, with_us in turns(options.pairs):
        seconds[with_us].append(once(options, ranks, words, regime, with_us))
    cells = []
    for operation in ("write", "read"):
        without, with_it = ([one[operation] for one in seconds[which]] for which in (False, True))
        found = stats.ratio(with_it, without)
        assert found is not None
        between = "" if found.low is None else f" ({found.low:.2f} to {found.high:.2f})"
        cells.append(f"{stats.median(without):.3f} | {stats.median(with_it):.3f} | {found.median:.2f}{between}")
    return f"| {name} | {ranks} | {regime} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"all if none is named: {', '.join(CASES)}")
    parser.add_argument("--np", default="16,4", help="numbers of ranks (16,4)")
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--regimes", default="cached,durable")
    parser.add_argument("--mpi", default="openmpi", choices=["openmpi", "mpich"])
    parser.add_argument("--io", help="Open MPI's MPI-IO: ompio or romio321")
    parser.add_argument("--dir", type=Path, default=ROOT / "build", help="where files are written (build)")
    options = parser.parse_args()
    if unknown := [case for case in options.cases if case not in CASES]:
        parser.error(f"there is no case {unknown[0]}")
    options.dir.mkdir(parents=True, exist_ok=True)
    print("| what | ranks | regime | write without | with | ratio | read without | with | ratio |")
    print("|---|---:|---|---:|---:|---:|---:|---:|---:|", flush=True)
    for ranks in map(int, options.np.split(",")):
        for case in options.cases or CASES:
            if case == "e3sm" and not MAP.is_file():
                print(f"skipped: {case}: there is no {MAP}", file=sys.stderr)
                continue
            for regime in options.regimes.split(","):
                print(row(options, ranks, case, regime), flush=True)


if __name__ == "__main__":
    main()
