"""mpich_io.py: MPICH's tests of MPI-IO, in C and Fortran, as its lists have them."""

from pathlib import Path

import sources
from suites.place import Place
from trial import Mpi, Suite, Trial

FOLDERS = ("io", "f77/io", "f90/io")
NEEDED = ("util", "dtpools", *FOLDERS)
MISMATCH = "-fallow-argument-mismatch -w"
FLAGS = ("CFLAGS=-O1 -w", "CPPFLAGS=-DOMPI_OMIT_MPI1_COMPAT_DECLS=0", f"FFLAGS={MISMATCH}", f"FCFLAGS={MISMATCH}")
LARGE = ("bigtype", "i_bigtype")


def suite(mpi: Mpi, place: Place) -> Suite:
    source, version = place.source("mpich")
    folder = place.built("mpich_io", mpi, lambda folder: build(source / "test/mpi", folder, mpi))
    trials = []
    for part in FOLDERS:
        lines = (folder / part / "testlist").read_text().splitlines()
        for name, ranks, *options in (line.split() for line in lines if line.strip() and not line.startswith("#")):
            arguments = [option.removeprefix("arg=") for option in options if option.startswith("arg=")]
            words = [str(folder / part / name), *arguments]
            limit = 300 if name in LARGE else 90
            words = [*mpi.start(int(ranks)), *words]
            trials.append(Trial(f"{part}/{name} on {ranks}", words, limit, "No Errors", r"Found\s+\d+ errors"))
    return Suite(f"mpich_io/{mpi.name}", version, mpi, trials)


def build(tests: Path, folder: Path, mpi: Mpi) -> None:
    """configure looks for compilers without a suffix in bin/ of an MPI's folder."""
    prefix = folder / "mpi" / "bin"
    prefix.mkdir(parents=True, exist_ok=True)
    for name in ("mpicc", "mpicxx", "mpif77", "mpif90", "mpifort", "mpiexec"):
        link = prefix / name
        link.unlink(missing_ok=True)
        link.symlink_to(f"/usr/bin/{name}.{mpi.suffix}")
    features = ("--disable-spawn", "--disable-cxx", "--enable-fortran=f77,f90")
    configure = [str(tests / "configure"), f"--with-mpi={prefix.parent}", *features, *FLAGS]
    sources.call(*configure, cwd=folder, log=folder / "configure.log")
    for part in NEEDED:
        make = ["make", "-k", "-j2", "-C", part]
        sources.call(*make, cwd=folder, log=folder / f"{part.replace('/', '-')}.log")
