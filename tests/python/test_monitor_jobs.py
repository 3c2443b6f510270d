"""test_monitor_jobs.py: which processes the monitor takes for one job, and what it says of the files they write."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from monitor_root import make_root, page, write, write_page, write_process
from penstock.operate.monitor import reading
from penstock.operate.monitor.job_lines import progress_text
from penstock.operate.monitor.members import Members
from penstock.operate.monitor.outputs import Outputs
from penstock.operate.monitor.queries import Queries
from penstock.operate.monitor.sample import Sample, between
from penstock.operate.monitor.status_page import parse

MIB = 1 << 20


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_root(tmp_path)


class Watch:
    """Takes samples of ROOT, two seconds of its own clock apart."""

    def __init__(self, root: Path) -> None:
        self.root, self.queries, self.members, self.outputs = root, Queries(), Members(), Outputs()
        self.at = time.monotonic()
        self.last = self._read()

    def _read(self) -> reading.Reading:
        found = reading.read_node(self.root, self.queries, self.members)
        found.at = self.at
        return found

    def next(self) -> Sample:
        self.at += 2.0
        before, self.last = self.last, self._read()
        return between(before, self.last, self.outputs)


def rank(root: Path, pid: int, number: int, of: int, written: int, **more: Any) -> None:
    """A rank of Slurm job 4711 that has written so much of 100 MiB, of which 100 MiB / OF are its own."""
    write_process(root, pid, "heat", start=pid, write_bytes=written)
    environment = f"SLURM_JOB_ID=4711\0SLURM_PROCID={number}\0SLURM_NTASKS={of}\0HOME=/home/ada\0"
    write(root / f"proc/{pid}/environ", environment)
    step: dict[str, Any] = {"kind": 1, "token": 99, "rank": number, "ranks": of, "mine": 100 * MIB // of}
    step |= {"total": 100 * MIB, "path": "/scratch/ada/heat.h5"}
    inside = more.pop("inside", "write")
    write_page(root, pid, page(pid, written, inside=inside, **(step | more)))


def test_ranks_of_a_job_and_their_output_are_one(root: Path) -> None:
    watch = Watch(root)
    start = int((watch.at - 4.0) * 1e9)
    rank(root, 100, 0, 2, 10 * MIB, start=start)
    rank(root, 101, 1, 2, 10 * MIB, start=start, inside="exchange")
    watch.next()
    rank(root, 100, 0, 2, 20 * MIB, start=start)
    rank(root, 101, 1, 2, 20 * MIB, start=start, inside="exchange")
    (job,) = watch.next().jobs
    assert (job.id, job.program, job.processes, job.ranks) == ("slurm-4711", "heat", 2, 2)
    assert (job.phases, job.commits) == ({"write": 1, "exchange": 1}, 3)
    assert job.write_bytes_per_second == 10.0 * MIB
    (output,) = job.outputs
    assert (output.path, output.operation, output.plan) == ("/scratch/ada/heat.h5", "write", "hdf5/two_phase")
    assert (output.done_bytes, output.total_bytes, output.progress) == (40 * MIB, 100 * MIB, 0.4)
    assert output.elapsed_seconds == pytest.approx(8.0)
    assert output.bytes_per_second == pytest.approx(5.0 * MIB)
    assert output.left_seconds == pytest.approx(12.0)


@pytest.mark.parametrize(("seconds", "late"), [(6.0, []), (12.0, [2])])
def test_a_rank_that_does_not_come_is_named(root: Path, seconds: float, late: list[int]) -> None:
    watch = Watch(root)
    start = int((watch.at + 2.0 - seconds) * 1e9)
    for number in range(3):
        rank(root, 100 + number, number, 3, 0, start=start, inside="exchange", kind=0 if number == 2 else 1)
    (output,) = watch.next().jobs[0].outputs
    assert output.waits_for == late
    assert ("waits for rank 2" in progress_text(output)) == bool(late)


def test_of_a_job_on_several_nodes_the_part_here_counts(root: Path) -> None:
    watch = Watch(root)
    rank(root, 100, 4, 8, 5 * MIB, start=int((watch.at - 1.0) * 1e9))
    (output,) = watch.next().jobs[0].outputs
    assert (output.ranks_here, output.ranks) == (1, 8)
    assert (output.total_bytes, output.progress) == (100 * MIB // 8, 0.4)


def test_what_the_library_does_not_count_is_estimated_from_the_system(root: Path) -> None:
    watch = Watch(root)
    write_process(root, 100, "heat", write_bytes=1000 * MIB)
    step: dict[str, Any] = {
        "kind": 1,
        "token": 5,
        "ranks": 1,
        "mine": 100 * MIB,
        "total": 100 * MIB,
        "start": int(watch.at * 1e9),
    }
    write_page(root, 100, page(100, **step, path="/scratch/x.h5"))
    watch.next()
    write_process(root, 100, "heat", write_bytes=1025 * MIB)
    (output,) = watch.next().jobs[0].outputs
    assert (output.done_bytes, output.progress, output.estimated) == (25 * MIB, 0.25, True)


def test_nobody_guesses_where_the_beginning_was_missed(root: Path) -> None:
    watch = Watch(root)
    write_process(root, 100, "heat", write_bytes=1000 * MIB)
    step: dict[str, Any] = {"kind": 1, "token": 5, "ranks": 1, "mine": 100 * MIB, "start": int((watch.at - 60) * 1e9)}
    write_page(root, 100, page(100, **step, path="/scratch/x.h5"))
    (output,) = watch.next().jobs[0].outputs
    assert (output.done_bytes, output.progress, output.left_seconds) == (None, None, None)


def test_a_server_belongs_to_the_process_that_started_it(root: Path) -> None:
    watch = Watch(root)
    write_process(root, 100, "heat")
    write_page(root, 100, page(100))
    write_process(root, 101, "penstock-server", parent=100)
    write_page(root, 101, page(101, role=1, inside="write"))
    (job,) = watch.next().jobs
    assert (job.id, job.processes, job.phases) == ("process-100", 2, {"compute": 1})


def test_programs_without_a_page_are_known_by_their_partial_files(root: Path) -> None:
    watch = Watch(root)
    write_process(root, 100, "heat")
    name = ".heat.h5.0123456789abcdef.aaaaaaaaaaaa-100-5.slurm-4711.node1.partial"
    (root / "proc/100/fd/7").symlink_to(f"/scratch/ada/{name}")
    (job,) = watch.next().jobs
    (output,) = job.outputs
    assert (job.phase, output.path, output.progress) == ("write", "/scratch/ada/heat.h5", None)


def test_pages_of_others_and_of_no_sense_are_passed_over() -> None:
    good = page(100, kind=1, path="/a")
    assert parse(good, 100) is not None
    assert parse(good, 101) is None, "as a forked child has its parent's"
    assert parse(good[:-1], 100) is None
    assert parse(b"x" + good[1:], 100) is None
    huge = bytearray(good)
    huge[16:20] = b"\xff\xff\xff\x7f"
    assert parse(bytes(huge), 100) is None


def test_a_step_that_is_changing_is_left_out() -> None:
    changing = parse(page(100, kind=1, sequence=7, path="/a"), 100)
    assert changing is not None
    assert changing.steps == []


def test_long_and_strange_paths_are_shown_as_far_as_they_go() -> None:
    found = parse(page(100, kind=2, path="/" + "ä" * 400), 100)
    assert found is not None
    assert found.steps[0].path.endswith("…")
    assert found.steps[0].operation == "read"


def test_a_job_that_ends_is_gone(root: Path) -> None:
    watch = Watch(root)
    rank(root, 100, 0, 1, 0)
    assert len(watch.next().jobs) == 1
    for file in ("stat", "io", "environ", "cmdline", "fd/5"):
        (root / "proc/100" / file).unlink()
    (root / "proc/100/fd").rmdir()
    os.rmdir(root / "proc/100")  # noqa: PTH106
    assert watch.next().jobs == []
