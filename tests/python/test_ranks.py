"""test_ranks.py: the package on several ranks, and its examples."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, extension
from penstock.base import launch


def on_ranks(count: int, *words: str | Path) -> str:
    command = ["mpiexec.openmpi", "-n", str(count), sys.executable, "-m", "mpi4py", *map(str, words)]
    done = subprocess.run(command, env=launch.environment(), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("ranks", [3, 4])
def test_files_on_ranks(tmp_path: Path, ranks: int) -> None:
    on_ranks(ranks, ROOT / "tests/python/ranks_file.py", tmp_path)


@pytest.mark.parametrize("program", ["ranks_file.py", "ranks_steps.py", "ranks_esio.py"])
def test_files_on_ranks_of_mpich(tmp_path: Path, program: str) -> None:
    module = extension("mpich/lib/python", "_mpi")
    linked = subprocess.run(["/usr/bin/ldd", module], capture_output=True, text=True, timeout=60, check=True).stdout
    library = re.search(r"libmpich\.so\.12 => (\S+)", linked)
    assert library, linked
    # mpi4py's wheel asks for it by the name that all implementations of MPICH's binary interface have.
    (tmp_path / "libmpi.so.12").symlink_to(library[1])
    paths = os.pathsep.join(map(str, (module.parents[1], *sys.path)))
    changes = {"PYTHONPATH": paths, "LD_LIBRARY_PATH": str(tmp_path), "MPI4PY_MPIABI": "mpich"}
    command = [
        "mpiexec.mpich",
        "-n",
        "3",
        sys.executable,
        "-m",
        "mpi4py",
        str(ROOT / "tests/python" / program),
        str(tmp_path),
    ]
    done = subprocess.run(
        command, env=launch.environment() | changes, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(tmp_path.glob("*.h5"))) > 1


def test_particles_are_the_same_on_other_ranks(tmp_path: Path) -> None:
    program, path = ROOT / "examples/particles/particles.py", tmp_path / "particles.h5"
    written = on_ranks(4, program, "write", path)
    assert written.startswith("particles 3085 ")
    for ranks in (1, 3):
        assert on_ranks(ranks, program, "read", path) == written


def test_jacobi_restarts_on_other_ranks(tmp_path: Path) -> None:
    program, path = ROOT / "examples/jacobi/jacobi.py", tmp_path / "heat.h5"
    whole = on_ranks(1, program, "--steps", "40")
    on_ranks(4, program, "--steps", "20", "--checkpoint", path)
    assert on_ranks(3, program, "--steps", "40", "--restart", path) == whole
