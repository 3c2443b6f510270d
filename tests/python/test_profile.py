"""test_profile.py: `penstock profile` counts what known programs do, names the places, and changes nothing of them."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import BUILD, ROOT, run_penstock
from penstock.base import launch
from penstock.base.errors import UserError
from penstock.base.mounts import LOCAL, kind_of
from penstock.diagnose.diagnosis import diagnose
from penstock.jobs.job import Job
from penstock.jobs.profile import overhead
from penstock.jobs.profile.reader import read_profile

SOURCES = ROOT / "tests" / "profile"
FORTRAN = """program save
 use mpi
 implicit none
 integer :: ierr, fh, rank, b(100) = 1
 call MPI_Init(ierr)
 call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
 call MPI_File_open(MPI_COMM_WORLD, 'f.dat', MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, fh, ierr)
 call MPI_File_write_at(fh, int(rank*400, MPI_OFFSET_KIND), b, 100, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
 call MPI_File_close(fh, ierr)
 call MPI_Finalize(ierr)
end program
"""
FLUSHES = """#include <fstream>
#include <iomanip>
__attribute__((noinline)) int end(std::ofstream& out, int i) { out << "step " << i << std::endl; return i; }
__attribute__((noinline)) int flush(std::ofstream& out, int i) { out << std::setw(4) << i << std::flush; return i; }
int main() {
  std::ofstream out("log.txt");
  for (int i = 0; i < 100; ++i) end(out, i), flush(out, i);
}
"""


def made(folder: Path, compiler: str, source: Path, *more: str) -> Path:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    command = [compiler, "-g", "-O1", "-o", str(folder / "program"), str(source), *more]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return folder / "program"


def profiled(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    if not (BUILD / "lib" / "libpenstock_profile.so").is_file():
        pytest.fail("build/lib has no libpenstock_profile.so: 'ninja -C build penstock_profile' makes it")
    words = ["profile", "--with", "own", "-o", "seen", "--", *command]
    return run_penstock(*words, cwd=folder, bin_folder=BUILD / "bin", environment=launch.environment())


def doctor(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_penstock("doctor", *words, cwd=folder, bin_folder=BUILD / "bin")


def ranks_of(mpi: str) -> list[str]:
    if shutil.which(f"mpiexec.{mpi}") is None:
        pytest.skip(f"no mpiexec.{mpi}")
    return [f"mpiexec.{mpi}", "-n", "2"]


def of_file(job: Job, module: str, name: str) -> dict[str, int]:
    (found,) = [one.counters for one in job.modules[module].records if Path(one.path).name == name]
    return found


def test_calls_of_threads_and_children_are_counted_exactly(tmp_path: Path) -> None:
    program = made(tmp_path, "gcc", SOURCES / "calls.c", "-pthread")
    done = profiled(tmp_path, str(program))
    assert (done.returncode, done.stdout) == (3, "its own words\n")
    assert " called from " in done.stderr
    assert "recording took" in done.stderr
    job = read_profile(tmp_path / "seen")
    first = of_file(job, "POSIX", "a.dat")
    expected = {
        "OPENS": 2, "WRITES": 101, "READS": 1, "BYTES_WRITTEN": 104096, "BYTES_READ": 50, "FSYNCS": 1,
        "SIZE_WRITE_100_1K": 100, "SIZE_WRITE_1K_10K": 1, "SIZE_READ_0_100": 1, "MAX_BYTE_WRITTEN": (1 << 20) + 4095,
        "CONSEC_WRITES": 99, "SEQ_WRITES": 100, "RW_SWITCHES": 2, "ACCESS1_ACCESS": 1000, "ACCESS1_COUNT": 100,
    }  # fmt: skip
    assert {name: first[f"POSIX_{name}"] for name in expected} == expected
    for name in ("b.dat", "child.dat"):
        assert of_file(job, "POSIX", name)["POSIX_BYTES_WRITTEN"] == 100000
    (row,) = [one for one in job.functions if one.function == "write"]
    assert (row.calls, row.written_bytes, row.place) == (300, 300000, "write_pieces (calls.c:15)")
    assert job.heat["POSIX"].written.sum() == 304096


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_independent_small_writes_are_counted_and_found(tmp_path: Path, mpi: str) -> None:
    program = made(tmp_path, f"mpicc.{mpi}", SOURCES / "files.c")
    done = profiled(tmp_path, *ranks_of(mpi), str(program))
    assert done.returncode == 0, done.stderr
    job = read_profile(tmp_path / "seen")
    assert job.ranks == 2
    counters = of_file(job, "MPI-IO", "grid.dat")
    expected = {
        "COLL_OPENS": 2, "INDEP_WRITES": 4000, "COLL_WRITES": 2, "BYTES_WRITTEN": 408000, "SIZE_WRITE_AGG_0_100": 4001,
        "SIZE_WRITE_AGG_1K_10K": 1, "INDEP_READS": 0,
    }  # fmt: skip
    assert {name: counters.get(f"MPIIO_{name}", 0) for name in expected} == expected
    (row,) = [one for one in job.functions if one.function == "MPI_File_write_at"]
    assert (row.calls, row.place) == (4000, "save_grid (files.c:7)")
    told: dict[str, Any] = json.loads(doctor(tmp_path, "seen", "--json", "-").stdout)
    (small,) = [one for one in told["findings"] if one["rule"] == "C5"]
    kind = kind_of(tmp_path)
    assert ("mpi hint" in small["remedies"]) == (kind not in LOCAL)  # collective calls gain nothing on ext4
    assert kind not in LOCAL or small["title"].endswith(f"as well on {kind}")
    assert any(one["function"] == "MPI_File_write_at" and one["location"] == "files.c:7" for one in told["call_sites"])


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_fortran_names_its_own_lines(tmp_path: Path, mpi: str) -> None:
    source = tmp_path / "save.f90"
    source.write_text(FORTRAN)
    done = profiled(tmp_path, *ranks_of(mpi), str(made(tmp_path, f"mpifort.{mpi}", source)))
    assert done.returncode == 0, done.stderr
    job = read_profile(tmp_path / "seen")
    assert of_file(job, "MPI-IO", "f.dat")["MPIIO_BYTES_WRITTEN"] == 800
    places = {one.function: one.location for one in job.functions}
    assert places["MPI_File_write_at"] == "save.f90:8"


def test_the_outermost_library_is_named_and_who_called_it(tmp_path: Path) -> None:
    include = Path("/usr/lib/x86_64-linux-gnu/netcdf/mpi/include")
    if not (include / "netcdf.h").is_file():
        pytest.skip("no netcdf.h of libnetcdf-mpi-dev")
    program = made(tmp_path, "mpicc.openmpi", SOURCES / "load.c", f"-I{include}", "-lnetcdf_mpi")
    assert profiled(tmp_path, str(program)).returncode == 0
    (row,) = [one for one in read_profile(tmp_path / "seen").functions if one.function == "nc_get_vara_double"]
    assert (row.calls, row.interface, row.place) == (50, "netCDF", "load_interp (load.c:8)")


def test_what_headers_inline_is_a_call_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "flush.cpp").write_text(FLUSHES)
    program = made(tmp_path, "g++", tmp_path / "flush.cpp", "-O2")
    assert profiled(tmp_path, str(program)).returncode == 0
    places = {one.location for one in read_profile(tmp_path / "seen").functions if one.function == "write"}
    assert places == {"flush.cpp:3", "flush.cpp:4"}


def test_lines_are_those_of_the_program_that_ran(tmp_path: Path) -> None:
    folder = tmp_path / "odd\udcff"
    folder.mkdir()
    program = made(tmp_path, "gcc", SOURCES / "calls.c", "-pthread").rename(folder / "program")
    profiled(tmp_path, str(program))

    def place() -> tuple[str, str]:
        job = read_profile(tmp_path / "seen")
        (row,) = [one for one in job.functions if one.function == "write"]
        return row.place, "\n".join(job.troubles)

    assert place() == ("write_pieces (calls.c:15)", "")
    later = program.stat().st_mtime + 1000
    os.utime(program, (later, later))  # as if it had been built again
    assert place() == ("program", f"{program} has changed since this run: what it calls has no lines")
    program.unlink()
    assert place() == ("program", f"{program}: No such file or directory: what it calls has no lines")


def test_a_killed_program_is_said(tmp_path: Path) -> None:
    done = profiled(tmp_path, str(made(tmp_path, "gcc", SOURCES / "calls.c", "-pthread")), "killed")
    assert done.returncode == 128 + 9


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [(["./nothing"], 127, "./nothing: No such file or directory"), (["/etc"], 126, "/etc: Permission denied")],
)
def test_commands_that_cannot_start(tmp_path: Path, command: list[str], status: int, said: str) -> None:
    done = profiled(tmp_path, *command)
    assert (done.returncode, done.stderr) == (status, f"penstock: {said}\n")


def test_a_profile_has_its_picture_on_the_page(tmp_path: Path) -> None:
    profiled(tmp_path, str(made(tmp_path, "gcc", SOURCES / "calls.c", "-pthread")))
    assert doctor(tmp_path, "seen", "--html", "why.html").returncode == 0
    assert "in write called from write_pieces (calls.c:15)" in (tmp_path / "why.html").read_text()


def test_damaged_profiles_are_one_clear_error(tmp_path: Path) -> None:
    profiled(tmp_path, str(made(tmp_path, "gcc", SOURCES / "calls.c", "-pthread")))
    whole = max((tmp_path / "seen").glob("*.profile"), key=lambda path: path.stat().st_size)
    data = whole.read_bytes()
    for other in (tmp_path / "seen").glob("*.profile"):
        other.unlink()
    for damaged in (
        data[:200],
        data[:-5],
        b"",
        data.replace(b'"calls"', b'"cells"').replace(b'"ranks":1', b'"ranks":0'),
    ):
        whole.write_bytes(damaged)
        done = doctor(tmp_path, "seen")
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith("penstock: ")
        assert done.stderr.count("\n") == 1


def test_whatever_is_said_in_a_profile_there_is_an_answer(tmp_path: Path) -> None:
    profiled(tmp_path, "dd", "if=/dev/zero", "of=x", "count=1")
    (whole,) = (tmp_path / "seen").glob("*.profile")
    data = whole.read_bytes()
    at = data.rindex(b'{"schema"')
    about = json.loads(data[at:])
    everything: tuple[Any, ...] = (None, "x", "x" * 5000, -1, 1e300, [], {}, 10**30, "\ud800")
    for key in about:
        for odd in everything:
            whole.write_bytes(data[:at] + json.dumps(about | {key: odd}).encode())
            with contextlib.suppress(UserError):
                job = read_profile(whole.parent)
                diagnose(job)
                assert "recording took" in overhead.describe_overhead(whole.parent, job.seconds)


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "seen").write_text("")
    assert "name a folder that can be written" in profiled(tmp_path, "true").stderr
    (tmp_path / "seen").unlink()
    (tmp_path / "seen").mkdir()
    (tmp_path / "seen" / "x.profile").write_text("damaged")
    assert "holds the profile of another run" in profiled(tmp_path, "true").stderr


def test_an_option_that_there_is_not_is_said(build: Path, tmp_path: Path) -> None:
    result = run_penstock("profile", "--nothing", "--", "true", cwd=tmp_path, bin_folder=build / "bin")
    assert result.returncode == 2
    assert "No such option: --nothing" in result.stderr
    options = ["--with", "x", "-o", "y"]  # behind the program they are its own
    command = ["profile", "-o", "p", "--with", "own", "echo", *options]
    result = run_penstock(*command, cwd=tmp_path, bin_folder=build / "bin")
    assert (result.returncode, result.stdout.split()) == (0, options)


def test_a_profile_that_could_not_be_written_is_said(tmp_path: Path) -> None:
    done = profiled(tmp_path, "sh", "-c", "rm -r seen; dd if=/dev/zero of=x count=1 2>/dev/null")
    assert (done.returncode, done.stderr.splitlines()) == (
        0,
        ["penstock: the profile could not be written: seen: No such file or directory"],
    )


def test_of_a_killed_program_it_is_said_that_the_end_is_missing(build: Path, tmp_path: Path) -> None:
    command = ["profile", "-o", "p", "--with", "own", "--", sys.executable, "-c"]
    killed = "import os; open('x', 'w').write('1'); os.kill(os.getpid(), 9)"
    result = run_penstock(*command, killed, cwd=tmp_path, bin_folder=build / "bin")
    assert result.returncode == 128 + 9
    assert "the program was killed" in result.stderr
    command[2] = "q"
    result = run_penstock(*command, "open('x', 'w').write('1')", cwd=tmp_path, bin_folder=build / "bin")
    assert result.returncode == 0
    assert "killed" not in result.stderr
