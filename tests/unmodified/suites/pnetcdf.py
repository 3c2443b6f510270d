"""pnetcdf.py: make check and make ptest of PnetCDF: its tests, examples and benchmarks, one after another."""

import re
from collections.abc import Iterator
from pathlib import Path

import sources
from suites.place import Place
from trial import Mpi, Suite, Trial

COMPILERS = {"MPICC": "cc", "MPICXX": "cxx", "MPIF77": "f77", "MPIF90": "f90"}
FLAGS = ("CFLAGS=-O1", "CXXFLAGS=-O1", "FFLAGS=-O1 -fallow-argument-mismatch", "FCFLAGS=-O1 -fallow-argument-mismatch")
PARALLEL = ("test", "examples", "benchmarks")  # whose ptest is what make ptest does


def suite(mpi: Mpi, place: Place) -> Suite:
    source, version = place.source("pnetcdf")
    folder = place.built("pnetcdf", mpi, lambda folder: build(source, folder, mpi))
    trials = [*checks(folder), *parallel(source, folder)]
    return Suite(f"pnetcdf/{mpi.name}", version, mpi, trials)


def checks(folder: Path) -> Iterator[Trial]:
    """The programs and scripts of make check, which run on one rank."""
    for place in [*subfolders(folder / "test"), folder / "src/utils/ncvalidator"]:
        name = str(place.relative_to(folder))
        for one in listed(place, "TESTS"):
            yield trial(place, f"check {name}", one, f"check TESTS={one}")


def parallel(source: Path, folder: Path) -> Iterator[Trial]:
    """Each folder's script for make ptest, called for one program at a time where it has a list of them."""
    for place in (place for part in PARALLEL for place in subfolders(folder / part)):
        name = str(place.relative_to(folder))
        script = source / name / "parallel_run.sh"
        if script.exists():
            listing = re.search(r"^for i in \$\{(\w+)\}", script.read_text(), re.MULTILINE)
            for one in listed(place, listing[1]) if listing else [""]:
                yield trial(place, f"ptest {name}", one, f"ptest {listing[1]}={one}" if listing else "ptest")


def trial(place: Path, group: str, one: str, target: str) -> Trial:
    """Its Fortran has names of 80 characters for files: a short link leads to the folder."""
    script = f"ln -sfn FOLDER {place}/out && make -C {place} {target} TESTOUTDIR=out"
    return Trial(f"{group}/{one}".rstrip("/"), ["sh", "-c", script], 300, group=group.replace("/", "-"))


def subfolders(folder: Path) -> list[Path]:
    return [folder / name for name in listed(folder, "SUBDIRS") if (folder / name / "Makefile").is_file()]


def listed(folder: Path, variable: str) -> list[str]:
    return sources.said("make", "-s", "-C", str(folder), f"--eval=listed:;@echo $({variable})", "listed").split()


def build(source: Path, folder: Path, mpi: Mpi) -> None:
    if not (source / "configure").exists():
        sources.call("autoreconf", "--install", cwd=source)
    compilers = [f"{name}={mpi.compiler(language)}" for name, language in COMPILERS.items()]
    start = f"TESTMPIRUN={mpi.start(1)[0]} -n NP"
    sources.call(str(source / "configure"), *compilers, start, *FLAGS, cwd=folder, log=folder / "configure.log")
    sources.call("make", "-j2", cwd=folder, log=folder / "make.log")
    sources.call("make", "-j2", "tests", cwd=folder, log=folder / "tests.log")
