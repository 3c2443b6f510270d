"""test_run_library.py: `penstock run` with the library itself: the same files by fewer calls, other hosts, Slurm."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

import slurm_cluster
from conftest import BUILD, ROOT, run_penstock
from penstock.base import launch
from penstock.measure.unmodified.report import Report, read_reports, report_of
from penstock.measure.unmodified.request import NAME


@pytest.fixture(params=["openmpi", "mpich"])
def library(request: pytest.FixtureRequest) -> launch.Mpi:
    """The MPI that the library was built for and programs are compiled with; each is skipped by name."""
    mpi = launch.Mpi(request.param)
    folder = BUILD / "lib" if mpi is launch.Mpi.openmpi else BUILD / mpi.value / "lib"
    if not (folder / NAME).is_file():
        pytest.skip(f"{folder.relative_to(ROOT)} has no {NAME}")
    if shutil.which(f"mpicc.{mpi.value}") is None:
        pytest.skip(f"no mpicc.{mpi.value}")
    return mpi


VARIABLES = """#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
enum { VARIABLES = 50, EACH = 1024 };
static double value(int v, int rank, int i) { return 1000. * v + 100. * rank + i; }
int main(int argc, char **argv) {
  int rank, ranks, wrong = 0;
  double values[EACH];
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (rank == 0) MPI_File_write_at(file, 0, "eight by", 8, MPI_BYTE, MPI_STATUS_IGNORE);
  for (int v = 0; v < VARIABLES; v++) {
    for (int i = 0; i < EACH; i++) values[i] = value(v, rank, i);
    const MPI_Offset at = 8 + (MPI_Offset)(v * ranks + rank) * sizeof values;
    MPI_File_write_at_all(file, at, values, EACH, MPI_DOUBLE, MPI_STATUS_IGNORE);
  }
  if (argc > 2) raise(SIGKILL);
  MPI_File_close(&file);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  for (int v = 0; v < VARIABLES; v++) {
    const int other = (rank + 1) % ranks;
    const MPI_Offset at = 8 + (MPI_Offset)(v * ranks + other) * sizeof values;
    memset(values, 0, sizeof values);
    MPI_File_read_at_all(file, at, values, EACH, MPI_DOUBLE, MPI_STATUS_IGNORE);
    for (int i = 0; i < EACH; i++) wrong += values[i] != value(v, other, i);
  }
  MPI_File_close(&file);
  printf("%d wrong\\n", wrong);
  MPI_Finalize();
  return wrong != 0;
}
"""


@pytest.fixture
def variables(library: launch.Mpi, tmp_path: Path) -> list[str]:
    """The command of a program that writes 50 variables by collective calls on 4 ranks, and reads them."""
    (tmp_path / "variables.c").write_text(VARIABLES)
    compiler = f"mpicc.{library.value}"
    subprocess.run([compiler, "-O1", "-o", "variables", "variables.c"], cwd=tmp_path, check=True)
    return [*launch.mpiexec(library, 4), "./variables"]


def ran(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return run_penstock("run", *words, cwd=folder, bin_folder=BUILD / "bin", environment=launch.environment() | more)


def reported(folder: Path) -> Report:
    (one,) = json.loads((folder / "r.json").read_text())["reports"]
    return report_of(one)


def test_an_unchanged_program_leaves_the_same_file_by_fewer_calls(variables: list[str], tmp_path: Path) -> None:
    subprocess.run([*variables, "without"], cwd=tmp_path, env=launch.environment(), check=True, capture_output=True)
    done = ran(tmp_path, "--report", "json", "-o", "r.json", "--", *variables, "with")
    assert (done.returncode, done.stdout) == (0, "0 wrong\n" * 4), done.stderr
    assert (tmp_path / "with").read_bytes() == (tmp_path / "without").read_bytes()
    assert "50 collective writes of 8 KiB a rank" in done.stderr
    report = reported(tmp_path)
    assert (report.ranks, report.defer, report.warnings) == (4, "collective", [])
    (file,) = [one for one in report.files if one.written]
    assert Path(file.path).name == "with"
    assert (file.calls["MPI_File_write_at_all"].count, file.written) == (200, 200 * 8192 + 8)
    assert (file.kept.calls, file.moves.why) == (200, {"MPI_File_close": 1})
    assert file.storage.writes < 20


def test_nothing_is_kept_back_where_that_is_asked(variables: list[str], tmp_path: Path) -> None:
    done = ran(tmp_path, "--defer", "none", "--report", "json", "-o", "r.json", "--", *variables, "file.bin")
    assert (done.returncode, done.stdout) == (0, "0 wrong\n" * 4), done.stderr
    assert [one.kept.calls for one in reported(tmp_path).files] == [0] * len(reported(tmp_path).files)


def test_files_that_are_left_to_the_mpi_library(variables: list[str], tmp_path: Path) -> None:
    done = ran(tmp_path, "--plan", "*.bin=none", "--report", "json", "-o", "r.json", "--", *variables, "file.bin")
    assert (done.returncode, done.stdout) == (0, "0 wrong\n" * 4), done.stderr
    assert sum(one.storage.writes for one in reported(tmp_path).files) == 0


def test_a_plan_is_used(variables: list[str], tmp_path: Path) -> None:
    words = ["--plan", "two_phase:writers=1", "--memory", "16MiB", "--report", "json", "-o", "r.json"]
    done = ran(tmp_path, *words, "--", *variables, "file.bin")
    assert (done.returncode, done.stdout) == (0, "0 wrong\n" * 4), done.stderr
    report = reported(tmp_path)
    assert report.memory_bytes == 16 << 20
    assert {one.plan for one in report.files if one.written} == {"two_phase:writers=1"}


@pytest.mark.parametrize("plan", ["two_phase:writers=1", "independent", "mpiio"])
def test_wisdom_chooses_where_nobody_named_a_plan(variables: list[str], tmp_path: Path, plan: str) -> None:
    words = ["--report", "json", "-o", "r.json", "--", *variables, "file.bin"]
    assert ran(tmp_path, *words).returncode == 0
    first = reported(tmp_path)
    where = ["findmnt", "-no", "FSTYPE", "-T", str(tmp_path)]
    found = subprocess.check_output(where, text=True)
    problem = {"operation": "write", "format": "raw", "placement": "single", "durable": False, "in_memory": False,
               "ranks": 4, "ranks_per_node": 4, "bytes_per_rank": 50 * 8192, "blocks_per_rank": 50, "run_bytes": 8192,
               "filesystem": found.strip(), "mpi": first.mpi}  # fmt: skip
    entry = {"problem": problem, "plan": plan, "ratio": 0.5, "measured": "2026-11-20"}
    (tmp_path / "wisdom.json").write_text(json.dumps({"schema": "penstock.wisdom/1", "entries": [entry]}))
    done = ran(tmp_path, *words, PENSTOCK_WISDOM=str(tmp_path / "wisdom.json"))
    assert (done.returncode, done.stdout) == (0, "0 wrong\n" * 4), done.stderr
    (file,) = [one for one in reported(tmp_path).files if one.written]
    chosen = (plan, "wisdom of 2026-11-20: 0.50 of the default's time")
    assert (file.plan, file.reason) == (("two_phase", "chosen by the length of runs") if plan == "mpiio" else chosen)


def test_a_file_is_the_same_where_it_was_written_in_the_background(variables: list[str], tmp_path: Path) -> None:
    subprocess.run([*variables, "without"], cwd=tmp_path, env=launch.environment(), check=True, capture_output=True)
    words = ["--plan", "servers:buffer_bytes=64MiB", "--report", "json", "-o", "r.json"]
    done = ran(tmp_path, *words, "--", *variables, "with")
    assert (done.returncode, done.stdout) == (0, "0 wrong\n" * 4), done.stderr
    assert (tmp_path / "with").read_bytes() == (tmp_path / "without").read_bytes()
    (file,) = [one for one in reported(tmp_path).files if one.written]
    assert (file.background.bytes, file.background.at_once, file.background.lost) == (200 * 8192, 0, 0)
    assert file.background.seconds_most > 0


def test_a_killed_program_has_lost_what_was_kept_back(variables: list[str], tmp_path: Path) -> None:
    done = ran(tmp_path, "--", *variables, "file.bin", "killed")
    assert done.returncode != 0
    assert "there is no report: the program ended before MPI_Finalize" in done.stderr


def test_the_comparison_of_a_real_program(variables: list[str], tmp_path: Path) -> None:
    done = ran(tmp_path, "--compare", "1", "--", *variables, "file.bin")
    assert (done.returncode, done.stdout) == (0, "0 wrong\n" * 8), done.stderr
    assert "with penstock the command takes " in done.stderr
    assert "50 collective writes of 8 KiB a rank" in done.stderr


def test_a_program_of_another_mpi_is_passed_through_and_told(tmp_path: Path) -> None:
    if not (BUILD / "lib" / NAME).is_file() or shutil.which("mpicc.mpich") is None:
        pytest.skip(f"no build/lib/{NAME}, or no mpicc.mpich")
    (tmp_path / "variables.c").write_text(VARIABLES)
    subprocess.run(["mpicc.mpich", "-o", "variables", "variables.c"], cwd=tmp_path, check=True)  # noqa: S607
    # By another name of its launcher, so that the build for Open MPI is taken.
    (tmp_path / "mpiexec").write_text('#!/bin/sh\nexec mpiexec.mpich "$@"\n')
    (tmp_path / "mpiexec").chmod(0o755)
    words = ["--report", "json", "-o", "r.json", "--", "./mpiexec", "-n", "2", "./variables", "file.bin"]
    done = ran(tmp_path, *words)
    assert (done.returncode, done.stdout) == (0, "0 wrong\n" * 2), done.stderr
    told = json.loads((tmp_path / "r.json").read_text())
    assert not told["reports"]
    assert [one for one in told["notes"] if "MPI is not openmpi" in one]


FIELDS = ROOT / "examples" / "unmodified" / "fields.c"


@pytest.fixture
def fields(tmp_path: Path) -> list[str]:
    """The program of the guide, linked with what the test names."""
    if not (BUILD / "lib" / NAME).is_file():
        pytest.skip(f"build/lib has no {NAME}")
    if (compiler := shutil.which("h5pcc.openmpi")) is None or shutil.which("h5diff") is None:
        pytest.skip("no h5pcc.openmpi or no h5diff")
    return [compiler, "-O1", str(FIELDS), "-o", "fields"]


def test_parallel_hdf5_leaves_the_same_datasets(fields: list[str], tmp_path: Path) -> None:
    subprocess.run(fields, cwd=tmp_path, check=True)
    command = [*launch.mpiexec(launch.Mpi.openmpi, 3), "./fields", "1"]
    subprocess.run(command, cwd=tmp_path, env=launch.environment(), check=True, capture_output=True)
    (tmp_path / "step_000.h5").rename(tmp_path / "without.h5")
    done = ran(tmp_path, "--", *command)
    assert (done.returncode, done.stdout) == (0, "wrote 1 steps of 100 fields\n"), done.stderr
    assert "100 collective writes of 128 KiB a rank" in done.stderr
    compared = ["h5diff", "-c", "without.h5", "step_000.h5"]
    assert subprocess.run(compared, cwd=tmp_path, capture_output=True, text=True, check=True).stdout == ""


def test_a_linked_program_needs_no_command(fields: list[str], tmp_path: Path) -> None:
    libraries = BUILD / "lib"
    linked = ["-Wl,--no-as-needed", f"-L{libraries}", "-lpenstock_mpiio", f"-Wl,-rpath,{libraries}"]
    subprocess.run([*fields, *linked], cwd=tmp_path, check=True)
    command = [*launch.mpiexec(launch.Mpi.openmpi, 3), "./fields", "1"]
    for more, reports in (({}, 1), ({"PENSTOCK_RUN": "0"}, 0)):
        folder = tmp_path / f"reports-{reports}"
        folder.mkdir()
        given = launch.environment() | {"PENSTOCK_RUN_REPORT": str(folder)} | more
        subprocess.run(command, cwd=tmp_path, env=given, check=True, capture_output=True)
        found, notes = read_reports(folder)
        assert (len(found), notes) == (reports, [])
        assert all(one.files[0].calls["MPI_File_write_at_all"].count == 300 for one in found)


def test_a_job_of_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (BUILD / "lib" / NAME).is_file() or shutil.which("mpicc.openmpi") is None:
        pytest.skip(f"no build/lib/{NAME}, or no mpicc.openmpi")
    if (lost := slurm_cluster.missing()) is not None:
        pytest.skip(lost)
    (tmp_path / "variables.c").write_text(VARIABLES)
    subprocess.run(["mpicc.openmpi", "-o", "variables", "variables.c"], cwd=tmp_path, check=True)  # noqa: S607
    with tempfile.TemporaryDirectory() as folder, slurm_cluster.cluster(Path(folder), nodes=2) as environment:
        words = ["run", "--report", "json", "-o", "r.json", "--"]
        words += ["srun", "--mpi=pmix", "-N", "2", "-n", "4", "./variables", "file.bin"]
        done = run_penstock(*words, cwd=tmp_path, bin_folder=BUILD / "bin", environment=environment)
    assert (done.returncode, done.stdout) == (0, "0 wrong\n" * 4), done.stderr
    assert reported(tmp_path).files[0].kept.calls == 200


# An agent of Open MPI's that starts daemons on "other hosts": with another name, and nothing of our environment.
AGENT = """#!/bin/bash
name=$1
shift
exec env -i PATH="$PATH" HOME="$HOME" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \\
  unshare --uts bash -c "hostname $name; $*"
"""


@pytest.mark.parametrize("more", [[], ["-x", "MINE=1"]], ids=["list", "x"])
def test_ranks_on_other_hosts_get_the_library_too(fields: list[str], tmp_path: Path, more: list[str]) -> None:
    if shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("other host names need unshare and root")
    subprocess.run(fields, cwd=tmp_path, check=True)
    (tmp_path / "agent").write_text(AGENT)
    (tmp_path / "agent").chmod(0o755)
    settings = {"plm_rsh_agent": str(tmp_path / "agent"), "plm_rsh_no_tree_spawn": "1", "btl": "tcp,self"}
    settings |= {"btl_tcp_if_include": "lo", "oob_tcp_if_include": "lo"}
    words = [word for name, value in settings.items() for word in ("--mca", name, value)]
    tell = "echo $(hostname) ${LD_PRELOAD##*/} $PENSTOCK_RUN_DEFER; exec ./fields 1"
    command = ["mpiexec.openmpi", *more, *words, "-H", "s0:2,s1:2", "bash", "-c", tell]
    done = ran(tmp_path, "--defer", "collective", "--", *command)
    told = sorted(done.stdout.splitlines())
    expected = sorted([f"s{number} {NAME} collective" for number in (0, 0, 1, 1)] + ["wrote 1 steps of 100 fields"])
    assert (done.returncode, told) == (0, expected), done.stderr
    assert "./fields 1, 4 ranks" in done.stderr
