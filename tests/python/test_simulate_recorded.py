"""test_simulate_recorded.py: `penstock simulate --pattern`: what a program did, from its trace, on another machine."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Penstock
from jobs import job, record
from penstock.base import launch
from penstock.base.errors import UserError
from penstock.diagnose.replay.recorded import recorded
from penstock.diagnose.replay.steps import READ, WRITE, Variant, steps, write_pattern
from penstock.jobs.any_job import read_job
from penstock.jobs.job import SEGMENT, Segments, Traced
from penstock.measure.simulate.run import PROGRAM

RANKS = 4
ON = ("--machine", "frontier", "--tasks-per-node", "1")


@pytest.fixture(autouse=True)
def program(build: Path) -> None:
    if not (build / "bin" / PROGRAM).exists():
        pytest.skip(f"{PROGRAM} is not built: it needs SimGrid")


def traced(build: Path, folder: Path, method: str) -> Path:
    """The trace of 2 MiB in blocks, written and read by METHOD."""
    words = ["block2d", "--total", "2MiB", "--readers", str(RANKS), "--repetitions", "1", "--methods", method]
    command = [*launch.mpiexec(launch.Mpi.openmpi, RANKS), str(build / "bin" / "penstock-bench"), *words]
    environment = launch.environment() | {"PENSTOCK_TRACE": str(folder / "trace")}
    subprocess.run([*command, "--dir", str(folder)], env=environment, check=True, capture_output=True, timeout=120)
    return folder / "trace"


def simulated(penstock: Penstock, folder: Path, pattern: Path | str, *words: str) -> dict[str, Any]:
    done = penstock("simulate", "--pattern", str(pattern), *ON, "--json", "out.json", *words)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((folder / "out.json").read_text())
    return found | {"said": done.stdout}


def test_what_phdf5_did_beside_other_methods(build: Path, penstock: Penstock, tmp_path: Path) -> None:
    trace = traced(build, tmp_path, "phdf5:collective=false")
    found = simulated(penstock, tmp_path, trace, "--methods", "raw/independent,hdf5/two_phase,phdf5:collective=false")
    assert "Recorded: the write that moved most: 2.00 MiB in " in found["said"]
    assert "recorded_only" not in found
    whole, independent, ours, textbook = found["results"]
    assert [one["method"] for one in found["results"]][:2] == ["as recorded", "raw/independent"]
    written = read_job(trace)
    step = next(one for one in written.steps if one.operation == "write")
    for one in found["results"]:
        assert (one["np"], one["demand"]["nodes"]) == (RANKS, RANKS)
        assert one["demand"]["bytes"] == pytest.approx(step.bytes, rel=0.01)
    # The program wrote row by row: as many calls as the same data has contiguous runs, and HDF5's own few.
    rows = independent["demand"]["calls"]
    assert rows <= whole["demand"]["calls"] < rows + 20
    assert whole["demand"]["lock_moves"] == pytest.approx(independent["demand"]["lock_moves"], rel=0.05)
    assert whole["seconds"] == pytest.approx(independent["seconds"], rel=0.1)
    assert ours["seconds"] < 0.1 * whole["seconds"]
    assert textbook["limit_seconds"] > 0
    assert "On 4 ranks use hdf5/two_phase" in found["said"]

    reads = simulated(penstock, tmp_path, trace, "--read", "--format", "hdf5")
    assert reads["operation"] == "read"
    assert reads["results"][0]["demand"]["creates"] == 0
    assert {"hdf5/two_phase", "hdf5/independent"} < {one["method"] for one in reads["results"]}


def test_data_that_mpi_io_has_gathered_is_compared_with_nothing(
    build: Path, penstock: Penstock, tmp_path: Path
) -> None:
    found = simulated(penstock, tmp_path, traced(build, tmp_path, "phdf5:collective=true"))
    assert [one["method"] for one in found["results"]] == ["as recorded"]
    assert "As recorded only: MPI-IO moved data between the ranks before it called" in found["said"]
    assert "ranks use" not in found["said"]


def test_one_commit_of_ours_is_what_was_recorded(build: Path, penstock: Penstock, tmp_path: Path) -> None:
    found = simulated(penstock, tmp_path, traced(build, tmp_path, "raw/independent"), "--methods", "raw/independent")
    whole, independent = found["results"]
    assert whole["demand"]["bytes"] == pytest.approx(2 << 20, rel=0.01), (
        "the file has a hidden name while it is written"
    )
    assert whole["demand"]["calls"] == pytest.approx(independent["demand"]["calls"], rel=0.02)


def test_darshans_log_has_the_whole_run(build: Path, penstock: Penstock, tmp_path: Path) -> None:
    trace = traced(build, tmp_path, "phdf5:collective=false")
    assert penstock("trace", str(trace), "--darshan", "run.darshan").returncode == 0
    found = simulated(penstock, tmp_path, "run.darshan")
    assert "Recorded: all writes of the run: " in found["said"]
    # The bench writes once before it measures, and again.
    assert found["results"][0]["demand"]["bytes"] > 3.9 * (1 << 20)
    assert "% of its bytes are written more than once" in found["recorded_only"]


def test_a_pattern_of_ones_own(penstock: Penstock, tmp_path: Path) -> None:
    size = 1 << 20
    mine = [steps(WRITE, (np.arange(8) * RANKS + rank) * size, size) for rank in range(RANKS)]
    found = simulated(penstock, tmp_path, write_pattern(tmp_path, [("mine", [Variant("in turn", mine)])]))
    assert found["results"][0]["demand"]["calls"] == 8 * RANKS
    assert found["results"][0]["demand"]["lock_moves"] == 0, "each call has whole blocks"
    assert {one["demand"]["bytes"] for one in found["results"]} == {8 * RANKS * size}
    done = penstock("simulate", "--pattern", "pattern.json", *ON, "--read")
    assert (done.returncode, "the pattern reads nothing" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("no WORKLOAD, --np or --wisdom", ["--np", "4"]),
        ("no WORKLOAD, --np or --wisdom", ["--wisdom", "kept.json"]),
        ("no WORKLOAD, --np or --wisdom", ["block2d"]),
        ("--pattern says what is moved: --total cannot stand beside it", ["--total", "1MiB"]),
        ("4 ranks, 1 on each node, need more than the 2 nodes", ["--machine", "small.toml", "--tasks-per-node=1"]),
        ("its first variant calls MPI", ["--pattern", "mpiio.json"]),
        ("no penstock.pattern/1", ["--pattern", "other.json"]),
        ("absent.json: cannot be opened", ["--pattern", "absent.json"]),
    ],
)
def test_mistakes_are_named(penstock: Penstock, tmp_path: Path, said: str, words: list[str]) -> None:
    from penstock.measure.simulate import machine

    small = (Path(machine.__file__).parent / "machines" / "babel.toml").read_text()
    lines = [f"count = 2 # {line}" if line.startswith("count = 10240") else line for line in small.splitlines()]
    (tmp_path / "small.toml").write_text("\n".join(lines))
    of = [steps(WRITE, [rank], [1]) for rank in range(RANKS)]
    write_pattern(tmp_path, [("a", [Variant("a", of, "mpiio")])]).rename(tmp_path / "mpiio.json")
    write_pattern(tmp_path, [("a", [Variant("a", of)])])
    (tmp_path / "other.json").write_text("[]")
    given = ["--pattern", "pattern.json"] if "--pattern" not in words else []
    where = ["--machine", "frontier"] if "--machine" not in words else []
    done = penstock("simulate", *words, *given, *where)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def segments(*rows: tuple[int, int, float]) -> Segments:
    """Offset, length, begin."""
    return np.array([(offset, length, start, start + 0.1) for offset, length, start in rows], SEGMENT)


def test_accesses_come_in_the_order_of_time_and_in_steps_that_a_pattern_has() -> None:
    large = 3 << 30
    logged = [
        Traced("POSIX", "/b", 1, "host", segments(), segments((0, 10, 3.0), (10, 10, 1.0))),
        Traced("POSIX", "/a", 1, "host", segments(), segments((5, large, 2.0))),
        Traced("MPI-IO", "/a", 1, "host", segments(), segments((0, 10, 0.0))),
        Traced("POSIX", "/a", 0, "host", segments((0, 4, 0.0)), segments((7, 0, 0.0))),
    ]
    made = job(record("POSIX", "/a", OPENS=1), ranks=3, has_traced=True, traced=lambda: iter(logged))
    found = recorded(made, WRITE)
    assert [len(one) for one in found.variant.steps] == [0, 4, 0]
    own = found.variant.steps[1]
    assert own[["file", "offset", "length"]].tolist() == [
        (1, 10, 10),
        (0, 5, (1 << 31) - 1),
        (0, 5 + (1 << 31) - 1, large - (1 << 31) + 1),
        (1, 0, 10),
    ]
    assert found.variant.bytes == large + 20
    assert recorded(made, READ).variant.bytes == 4
    with pytest.raises(UserError, match="it has no single writes"):
        recorded(job(record("POSIX", "/a", OPENS=1)), WRITE)
