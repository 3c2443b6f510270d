"""test_doctor.py: known defects are found first, what is healthy is left alone, and damaged logs are told in a line."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from conftest import Penstock
from jobs import GIB, MIB, job, record, shared
from known_jobs import (
    crowded,
    healthy,
    independent_small_writes,
    metadata_storm,
    one_aggregator,
    rank_0_only,
    read_by_all,
    severities,
    sieving,
    slow_target,
)
from penstock.diagnose.diagnosis import diagnose
from penstock.diagnose.facts import Facts
from penstock.diagnose.finding import INFO
from penstock.jobs.darshan.writer import write_darshan
from penstock.jobs.job import SEGMENT, Job, Traced


@pytest.mark.parametrize(
    ("made", "rule"),
    [
        (independent_small_writes(), "C5"),
        (sieving(), "A1"),
        (rank_0_only(), "I3"),
        (read_by_all(), "A3"),
        (metadata_storm(), "M1"),
        (one_aggregator(), "C2"),
        (one_aggregator(stripes={"/scratch/out": (16, MIB, tuple(range(16)))}), "C2"),
        (slow_target(), "I2"),
    ],
)
def test_a_known_defect_is_found_first(made: Job, rule: str) -> None:
    found = diagnose(made)
    assert found.findings[0].rule == rule, found.verdict
    assert found.findings[0].severity == "HIGH"
    assert found.findings[0].evidence
    assert found.findings[0].remedies["penstock"]
    assert found.verdict.startswith("I/O takes ")
    assert found.findings[0].title in found.verdict


ALL = (
    independent_small_writes,
    sieving,
    rank_0_only,
    read_by_all,
    metadata_storm,
    one_aggregator,
    slow_target,
    healthy,
)


@pytest.mark.parametrize("make", ALL, ids=lambda one: one.__name__)
def test_severity_is_that_of_the_seconds_and_seconds_never_add_up_beyond_the_io(make: Callable[[], Job]) -> None:
    found = diagnose(make())
    for one in found.findings:
        share = one.saved_seconds / found.job.seconds
        assert one.severity == ("HIGH" if share >= 0.1 else "WARN" if share >= 0.02 else "INFO"), one
    assert found.saved_seconds <= found.facts.io_seconds
    assert sum(one.besides_seconds for one in found.findings) <= found.facts.io_seconds * 1.000001
    assert found.saved_seconds >= max((one.seconds for one in found.worth), default=0)


def test_findings_about_the_same_time_say_so() -> None:
    first, second = diagnose(sieving()).findings
    assert (first.rule, second.rule) == ("A1", "A2")
    assert second.overlaps == ("A1",)
    assert second.besides_seconds == 0
    assert first.besides_seconds == first.saved_seconds


def test_what_several_files_cost_adds_up_as_far_as_the_busiest_rank_is_in_them() -> None:
    """Each of ten files, one after another, and files that ranks have for themselves at the same time."""
    calls, moved = 64 * 2000, 64 * 2000 * 4096
    after_another = job(
        *(record("MPI-IO", f"/scratch/{i}", INDEP_WRITES=calls, BYTES_WRITTEN=moved, F_WRITE_TIME=64 * 5.0,
                 F_SLOWEST_RANK_TIME=5.5, SIZE_WRITE_AGG_1K_10K=calls) for i in range(10)),
    )  # fmt: skip
    (one,) = (each for each in diagnose(after_another).findings if each.rule == "C5")
    assert one.saved_seconds == pytest.approx(10 * 5.5 * 0.8, rel=0.02)
    at_once = job(
        *(record("POSIX", f"/scratch/{i}", i, READS=4000, SEQ_READS=100, BYTES_READ=4000 << 20, F_READ_TIME=64 * 40.0,
                 MAX_BYTE_READ=4000 << 20, SIZE_READ_100K_1M=4000, ACCESS1_ACCESS=MIB, ACCESS1_COUNT=4000)
          for i in range(64)), seconds=4000,
    )  # fmt: skip
    (one,) = (each for each in diagnose(at_once).findings if each.rule == "A5")
    assert one.saved_seconds <= 64 * 40.0


def test_where_nothing_is_wrong_nothing_is_said() -> None:
    found = diagnose(healthy())
    assert found.is_io
    assert found.verdict.endswith("nothing to do.")
    assert not found.worth


def test_programs_that_are_collective_are_not_told_to_be() -> None:
    for made in (one_aggregator(), healthy()):
        assert "C5" not in severities(made)


def test_small_things_beside_collective_calls_do_not_make_a_file_independent() -> None:
    moved = 50 * GIB
    made = job(
        record("MPI-IO", COLL_WRITES=64, INDEP_READS=500, BYTES_WRITTEN=moved, F_WRITE_TIME=640,
               SIZE_READ_AGG_0_100=500, SIZE_WRITE_AGG_100M_1G=64),
        shared("POSIX", 64, 1, WRITES=500, BYTES_WRITTEN=moved, F_WRITE_TIME=9),
    )  # fmt: skip
    assert Facts(made).mpi.collective.tolist() == [True]


def test_what_is_not_io_is_said_with_its_cost() -> None:
    made = job(shared("POSIX", 64, 64, WRITES=640, BYTES_WRITTEN=GIB, F_WRITE_TIME=64 * 2), ranks=64, seconds=100)
    found = diagnose(made)
    assert not found.is_io
    assert found.verdict == "Not I/O: 2 % of the run, 0.0356 of 1.78 core-hours. Look elsewhere first."
    assert {one.severity for one in found.findings} <= {"INFO"}


def test_the_outermost_interface_and_the_slowest_rank_count() -> None:
    waiting = job(
        record("MPI-IO", COLL_WRITES=640, BYTES_WRITTEN=GIB, F_WRITE_TIME=64 * 78, F_SLOWEST_RANK_TIME=80),
        shared("POSIX", 64, 1, WRITES=100, BYTES_WRITTEN=GIB, F_WRITE_TIME=0.9),
    )
    assert Facts(waiting).outermost.share == pytest.approx(0.80)
    alone = job(record("POSIX", rank=5, WRITES=1, BYTES_WRITTEN=GIB, F_WRITE_TIME=99.8))
    assert Facts(alone).outermost.slowest_share == pytest.approx(0.998)
    assert Facts(alone).outermost.mean_share == pytest.approx(0.998 / 64)


@pytest.mark.parametrize("movers", [1, 2, 5, 56, 64])
def test_how_many_ranks_move_a_shared_files_bytes(movers: int) -> None:
    made = job(shared("POSIX", 64, movers, WRITES=100, BYTES_WRITTEN=GIB, F_WRITE_TIME=1))
    assert Facts(made).posix.movers.tolist() == [movers]


def test_accesses_of_exactly_a_mebibyte_are_not_small() -> None:
    assert "A4" not in severities(rank_0_only())


def test_hints_are_judged_by_our_traces_alone() -> None:
    from penstock.jobs.job import Step

    step = Step("/scratch/out", "write", "hdf5/mpiio", 0, 1, {}, 1, (0,), ("T",), {"cb_nodes": "8"}, {"cb_nodes": "1"})
    assert severities(job(shared("POSIX", 64, 1, WRITES=1, BYTES_WRITTEN=GIB, F_WRITE_TIME=20), steps=(step,)))["H1"]


def test_negative_and_missing_numbers_are_taken_as_nothing() -> None:
    made = job(record("POSIX", WRITES=5, BYTES_WRITTEN=-7, F_WRITE_TIME=-3, F_SLOWEST_RANK_TIME=float("nan")))
    assert diagnose(made).verdict.startswith("Not I/O: 0 %")
    assert diagnose(job()).verdict.startswith("Not I/O: 0 %")


def test_writers_of_a_node_are_counted_where_hosts_are_known() -> None:
    two = {rank: f"n{rank // 8}" for rank in range(16)}
    assert "P1" in {one.rule for one in diagnose(crowded(two)).findings}
    assert "P1" not in {one.rule for one in diagnose(crowded({})).findings}
    assert "P1" not in {one.rule for one in diagnose(crowded({rank: f"n{rank}" for rank in range(16)})).findings}

    def accesses() -> Iterator[Traced]:
        none = np.zeros(0, SEGMENT)
        for rank, host in two.items():
            yield Traced("POSIX", f"/scratch/{rank}", rank, host, none, none)

    from_dxt = diagnose(crowded({}, has_traced=True, traced=accesses))
    assert "P1" in {one.rule for one in from_dxt.findings}
    assert from_dxt.facts.nodes == 2


def test_a_rate_near_the_ceiling_is_said_where_that_is_known() -> None:
    found = diagnose(crowded({}), ceiling=512 * MIB)
    assert found.facts.outermost.slowest_share == pytest.approx(0.4)
    (one,) = [each for each in found.findings if each.rule == "G3"]
    assert one.severity == INFO
    assert "410 MiB/s are 80 %" in one.title
    assert "G3" not in {each.rule for each in diagnose(crowded({}), ceiling=64 * GIB).findings}
    assert "G3" not in {each.rule for each in diagnose(crowded({})).findings}


def test_a_ceiling_of_nothing_is_refused(penstock: Penstock, tmp_path: Path) -> None:
    write_darshan(slow_target(), tmp_path / "x.darshan")
    done = penstock("doctor", "x.darshan", "--ceiling", "0")
    assert (done.returncode, done.stderr) == (2, "penstock: --ceiling 0: a file system that gives nothing\n")
