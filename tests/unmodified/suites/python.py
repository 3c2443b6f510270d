"""python.py: the tests of h5py that need MPI, as Debian installs them, and those of mpi4py that open files."""

import subprocess
import tarfile
from pathlib import Path

import sources
from suites.place import Place
from trial import Mpi, Suite, Trial

PYTHON = "/usr/bin/python3"  # Debian's h5py is for it
H5PY = "h5py._debian_h5py_mpi.tests"
MPI4PY = "3.1.6"  # the last one of the series that Debian has


def suite(mpi: Mpi, place: Place) -> Suite:
    show = "import h5py._debian_h5py_mpi as h5py, mpi4py, pytest_mpi; print(h5py.__version__, mpi4py.__version__)"
    found = subprocess.run([PYTHON, "-c", show], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        raise sources.Missing(f"no h5py with MPI for {PYTHON}: {found.stderr.strip()[-300:]}")
    h5py, mpi4py = found.stdout.split()
    folder = place.built("python", mpi, fetch)
    start = [*mpi.start(4), PYTHON]
    pytest = ["-m", "pytest", "-p", "no:cacheprovider", "--with-mpi", "-m", "mpi", "--pyargs", H5PY]
    trials = [Trial("h5py on 4", [*start, *pytest], 200, "passed", "failed")]
    for module in ("test_file", "test_io"):
        for ranks in (1, 4):
            program = f"import sys, unittest; sys.path.insert(0, {str(folder / 'test')!r}); unittest.main({module!r})"
            trials.append(Trial(f"mpi4py {module} on {ranks}", [*mpi.start(ranks), PYTHON, "-c", program], 200, "OK"))
    return Suite(f"python/{mpi.name}", f"h5py {h5py}, mpi4py {mpi4py} (tests of {MPI4PY})", mpi, trials)


def fetch(folder: Path) -> None:
    sources.call(
        PYTHON, "-m", "pip", "download", "--no-deps", "--no-binary=:all:", f"mpi4py=={MPI4PY}", cwd=folder,
    )  # fmt: skip
    with tarfile.open(folder / f"mpi4py-{MPI4PY}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    (folder / f"mpi4py-{MPI4PY}" / "test").rename(folder / "test")
