"""test_readme.py: the ten lines of each language in README.md and docs/use.md write the same file on three ranks."""

import re
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from conftest import ROOT
from penstock.base import launch

RANKS = 3
PAGES = "".join((ROOT / page).read_text() for page in ("README.md", "docs/use.md"))
BLOCKS = dict(re.findall(r"^```(c|cpp|fortran|python)\n(.*?)^```$", PAGES, re.DOTALL | re.M))

# Each rank has two of 6 rows of 5; element (y, x) is 10 y + x.
C = """
#include <stdint.h>
#include <stdio.h>
#include <mpi.h>
{include}
int main(void) {{
  int rank;
  double t[2][5];
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int64_t NY = 6, NX = 5, y0 = 2 * rank, x0 = 0, ny = 2, nx = 5;
  for (int i = 0; i < 10; ++i) t[i / 5][i % 5] = 10 * (y0 + i / 5) + i % 5;
  {{
{rest}
  }}
  MPI_Finalize();
}}
"""
CPP = """
#include <iostream>
#include <penstock/array.hpp>
#include <penstock/mpi.hpp>
struct View {{  // as std::mdspan is
  using element_type = double;
  using value_type = double;
  using rank_type = size_t;
  double* data;
  double* data_handle() const {{ return data; }}
  static constexpr size_t rank() {{ return 2; }}
  int64_t extent(size_t d) const {{ return d == 0 ? 2 : 5; }}
  int64_t stride(size_t d) const {{ return d == 0 ? 5 : 1; }}
}};
int main() {{
  MPI_Init(nullptr, nullptr);
  {{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int64_t NY = 6, NX = 5, y0 = 2 * rank, x0 = 0;
    double values[10];
    for (int i = 0; i < 10; ++i) values[i] = static_cast<double>(10 * (y0 + i / 5) + i % 5);
    View t{{values}};
    {rest}
  }}
  MPI_Finalize();
}}
"""
FORTRAN = """
program ten_lines
{use}
implicit none
{declare}
integer :: rank, gx = 5, gy = 6, nx = 5, ny = 2, x0 = 1, y0, i, j
real(8) :: t(0:6, 0:3) = -1
call MPI_Init()
call MPI_Comm_rank(MPI_COMM_WORLD, rank)
y0 = 2 * rank + 1
do j = 1, ny
  do i = 1, nx
    t(i, j) = 10 * (y0 + j - 2) + i - 1
  end do
end do
{rest}
call MPI_Finalize()
end program
"""
PYTHON = """
import numpy
import penstock
import xarray
from mpi4py import MPI
comm = MPI.COMM_WORLD
ny_all, nx_all, y0, x0 = 6, 5, 2 * comm.rank, 0
t = numpy.add.outer(10.0 * numpy.arange(y0, y0 + 2), numpy.arange(5.0))
{rest}
assert dataset["temperature"].shape == (6, 5)
"""


def split(text: str, pattern: str) -> tuple[str, str]:
    """The lines that match PATTERN, and the others."""
    lines = text.splitlines()
    chosen = [line for line in lines if re.match(pattern, line)]
    return "\n".join(chosen), "\n".join(line for line in lines if line not in chosen)


def program(language: str) -> str:
    text = BLOCKS[language]
    if language == "c":
        include, rest = split(text, "#include")
        return C.format(include=include, rest=rest)
    if language == "cpp":
        return CPP.format(rest=text)
    if language == "fortran":
        use, rest = split(text, "use ")
        declare, rest = split(rest, "type")
        return FORTRAN.format(use=use, declare=declare, rest=rest)
    return PYTHON.format(rest=text.replace("[10:20, ::2]", "[1:3, ::2]"))


@pytest.mark.parametrize("language", ["c", "cpp", "fortran", "python"])
def test_the_ten_lines(build: Path, tmp_path: Path, language: str) -> None:
    compilers = {
        "c": ["mpicc.openmpi", "-Wall", "-Werror", "-Wno-unused-variable"],
        "cpp": ["mpicxx.openmpi", "-std=c++20", "-Wall", "-Werror"],
        "fortran": ["mpifort.openmpi", "-I", str(build / "include" / "penstock" / "fortran")],
    }
    source = tmp_path / f"ten.{'f90' if language == 'fortran' else 'py' if language == 'python' else language}"
    source.write_text(program(language))
    command = [sys.executable, "-m", "mpi4py", str(source)]
    if language in compilers:
        folders = ["-I", str(ROOT / "include"), "-I", str(build / "include")]
        libraries = ["-L", str(build / "lib"), "-lpenstock", f"-Wl,-rpath,{build / 'lib'}"]
        if language == "fortran":
            libraries.insert(2, "-lpenstock_fortran")
        words = [*compilers[language], *folders, str(source), *libraries, "-o", str(tmp_path / "ten")]
        made = subprocess.run(words, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr
        command = [str(tmp_path / "ten")]
    ran = subprocess.run(
        [*launch.mpiexec(launch.Mpi.openmpi, RANKS), *command],
        cwd=tmp_path, env=launch.environment(), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    with h5py.File(tmp_path / "heat.h5") as file:
        np.testing.assert_array_equal(file["temperature"], np.add.outer(10.0 * np.arange(6), np.arange(5.0)))
        assert file["temperature"].attrs["units"] == b"K"
        if language in ("cpp", "fortran"):
            assert [each[0].name for each in file["temperature"].dims] == ["/y", "/x"]
