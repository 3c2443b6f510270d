"""test_doctor_collective.py: what the doctor says of collective access: exchange, late ranks, holes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import known_jobs as known
from jobs import GIB, MIB, job, record, shared
from penstock.diagnose.diagnosis import diagnose
from penstock.diagnose.finding import Finding
from penstock.diagnose.many import summary_of
from penstock.jobs.job import SEGMENT, Job, Module, Record, Traced


def test_reads_beyond_the_end_are_read_modify_write_too() -> None:
    """Collective buffers with holes, of a file that grows: each is read first, and there is nothing yet."""
    asked, moved, rounds = 72 * GIB, 282 * GIB, 56 * 5446
    made = job(
        record("MPI-IO", COLL_WRITES=512 * 200, BYTES_WRITTEN=asked, F_WRITE_TIME=512 * 680, F_SLOWEST_RANK_TIME=683,
               SIZE_WRITE_AGG_100K_1M=102400, VIEWS=102400),
        shared("POSIX", 512, 56, READS=rounds, WRITES=rounds, BYTES_WRITTEN=moved, RW_SWITCHES=2 * rounds,
               F_READ_TIME=56 * 204, F_WRITE_TIME=56 * 60, F_META_TIME=56 * 30, SEQ_READS=rounds,
               SEQ_WRITES=rounds),
        ranks=512, seconds=727,
    )  # fmt: skip
    found = {one.rule: one for one in diagnose(made).findings}
    assert next(iter(found)) == "A2"
    assert {rule for rule, one in found.items() if one.severity == "HIGH"} == {"A1", "A2"}  # no C1, which is the same
    assert found["A2"].title.startswith(
        "304,976 reads, which find next to nothing yet, of a file that the program only"
    )
    assert found["A2"].saved_seconds <= 204 + 60  # of the busiest rank
    assert found["A2"].saved_seconds == pytest.approx(0.9 * (204 + 30))


@pytest.mark.parametrize(("stripes", "rules"), [(8, {"C1", "C4"}), (32, {"C1", "C2"}), (None, {"C1"})])
def test_where_writers_are_enough_it_is_the_exchange(stripes: int | None, rules: set[str]) -> None:
    made = job(
        record("MPI-IO", COLL_WRITES=64 * 1000, BYTES_WRITTEN=50 * GIB, F_WRITE_TIME=64 * 60, F_SLOWEST_RANK_TIME=61,
               VIEWS=640),
        shared("POSIX", 64, 8, WRITES=50 * 1024, BYTES_WRITTEN=50 * GIB, F_WRITE_TIME=8 * 10, SEQ_WRITES=50 * 1024,
               SIZE_WRITE_1M_4M=50 * 1024, ACCESS1_ACCESS=MIB, ACCESS1_COUNT=50 * 1024),
        stripes={} if stripes is None else {"/scratch/out": (stripes, MIB, (3,))},
    )  # fmt: skip
    found = {one.rule: one for one in diagnose(made).findings}
    assert {rule for rule in found if rule in ("C1", "C2", "C4")} == rules
    assert ("mpi hint" in found["C1"].remedies) == ("C4" not in rules)  # more aggregators are of no use then
    assert "C4" not in found or found["C4"].overlaps == ("C1",)


def test_what_all_ranks_read_is_not_made_collective() -> None:
    """Each of 64 ranks reads the same 100 MiB in small pieces: these do not lie side by side, one could broadcast."""
    calls, read = 64 * 1600, 64 * 100 * MIB
    found = known.severities(
        job(
            record("MPI-IO", INDEP_READS=calls, BYTES_READ=read, F_READ_TIME=64 * 40, F_SLOWEST_RANK_TIME=41),
            shared("POSIX", 64, 64, READS=calls, BYTES_READ=read, F_READ_TIME=64 * 40, MAX_BYTE_READ=100 * MIB - 1,
                   SEQ_READS=calls, SIZE_READ_10K_100K=calls),
        )
    )  # fmt: skip
    assert {"A7", "A3"} <= set(found)
    assert "C5" not in found


def test_waiting_for_a_late_rank_is_not_lost_to_io() -> None:
    found = diagnose(late(0.2))
    assert found.worth[0].rule == "I4"
    assert found.first is None
    short = summary_of(Path("late.darshan"), found)
    assert (short.rule, short.lost_core_hours) == ("I4", 0)
    stored = diagnose(known.rank_0_only())
    assert summary_of(Path("one.darshan"), stored).lost_core_hours > 0


def late_by_turns(with_dxt: bool, writers: int) -> Job:
    """Twelve collective writes of four ranks. Another rank comes 2 s late to each, and all leave together."""
    traced = []
    for rank in range(4):
        starts = np.array([5 * k + (2 if k % 4 == rank else 0) for k in range(12)])
        clock = 0.5 * rank  # ahead of the first rank's
        segments = np.array([(0, MIB, start + clock, 5 * k + 2.1 + clock) for k, start in enumerate(starts)], SEGMENT)
        traced.append(Traced("MPI-IO", "/scratch/out", rank, "n0", segments[:0], segments))
    inside = 12 * (0.1 + 2 * 3 / 4)
    return job(
        record("MPI-IO", COLL_OPENS=4, COLL_WRITES=48, BYTES_WRITTEN=48 * MIB, F_WRITE_TIME=4 * inside,
               F_SLOWEST_RANK_TIME=inside, F_FASTEST_RANK_TIME=inside, SIZE_WRITE_AGG_1M_4M=48),
        shared("POSIX", 4, writers, OPENS=4, WRITES=48, BYTES_WRITTEN=48 * MIB, F_WRITE_TIME=0.4),
        ranks=4, seconds=62, mounts=(("/", "ext4"),), has_traced=with_dxt, traced=lambda: iter(traced),
    )  # fmt: skip


@pytest.mark.parametrize("with_dxt", [True, False])
def test_ranks_that_come_late_by_turns_are_seen_in_dxt(with_dxt: bool) -> None:
    found = diagnose(late_by_turns(with_dxt, writers=4))
    assert "nothing is wrong" not in found.verdict
    if not with_dxt:
        assert "DXT_ENABLE_IO_TRACE" in found.verdict
        return
    (one,) = (each for each in found.findings if each.rule == "I4")
    assert one.title.startswith("Now one rank comes, now another late to collective calls")
    assert one.saved_seconds == pytest.approx(12 * 2 * 3 / 4)
    assert "until the last rank comes" in one.cause


@pytest.mark.parametrize("rule", ["C1", "C4"])
def test_what_counters_do_not_tell_from_exchange_is_said(rule: str) -> None:
    few = 1 if rule == "C1" else 2  # of two stripes
    without = replace(late_by_turns(False, few), stripes={"/scratch/out": (few, MIB, tuple(range(few)))})
    (one,) = (each for each in diagnose(without).findings if each.rule == rule)
    assert "late by turns, which counters do not tell from exchange: Darshan with DXT (DXT_ENABLE_IO_T" in one.cause
    traced = diagnose(replace(without, has_traced=True, traced=late_by_turns(True, few).traced)).findings
    assert traced[0].rule == "I4"
    assert not [each for each in traced if "Darshan with DXT" in each.cause]


def test_the_exchange_of_good_collective_access_is_no_waiting() -> None:
    """32 aggregators of 512 ranks write for 12 s, and all are in MPI-IO for 15 s: the exchange took the rest."""
    moved, calls = 512 * GIB, 512 * 64
    made = job(
        record("MPI-IO", COLL_OPENS=512, COLL_WRITES=512 * 20, VIEWS=512, BYTES_WRITTEN=moved, F_WRITE_TIME=512 * 15,
               F_META_TIME=512 * 0.2, F_SLOWEST_RANK_TIME=16, SIZE_WRITE_AGG_10M_100M=512 * 20),
        shared("POSIX", 512, 32, OPENS=32, WRITES=calls // 2, BYTES_WRITTEN=moved, F_WRITE_TIME=32 * 12,
               SEQ_WRITES=calls // 2, SIZE_WRITE_10M_100M=calls // 2),
        ranks=512,
    )  # fmt: skip
    assert diagnose(made).verdict.endswith("nothing is wrong with it: nothing to do.")


def late(fastest: float) -> Job:
    """Four ranks write 64 MiB together; three of them wait for rank 2 where FASTEST is little."""
    moved = 256 * MIB
    slowest = 5.35
    mean = (3 * slowest + fastest) / 4
    return job(
        record("MPI-IO", COLL_OPENS=4, COLL_WRITES=4 * 4, BYTES_WRITTEN=moved, F_WRITE_TIME=4 * mean,
               F_SLOWEST_RANK_TIME=slowest, F_FASTEST_RANK_TIME=fastest, FASTEST_RANK=2, SLOWEST_RANK=0,
               SIZE_WRITE_AGG_10M_100M=16),
        shared("POSIX", 4, 1, OPENS=1, WRITES=16, BYTES_WRITTEN=moved, F_WRITE_TIME=1.0, SEQ_WRITES=16,
               SIZE_WRITE_10M_100M=16),
        ranks=4, seconds=5.56, mounts=(("/", "ext4"),),
    )  # fmt: skip


def test_a_rank_that_comes_late_is_not_slow_exchange() -> None:
    found = diagnose(late(1.30))
    by_rule = {one.rule: one for one in found.findings}
    assert next(iter(by_rule)) == "I4"
    assert "C1" not in by_rule
    one = by_rule["I4"]
    assert one.title.startswith("Rank 2 comes late to collective calls")
    assert one.saved_seconds == pytest.approx(0.75 * (5.35 - 1.30))  # with the work shared evenly
    assert list(one.remedies) == ["application"]
    assert "load balance" in one.remedies["application"]
    assert {("MPIIO_F_FASTEST_RANK_TIME", 1.3), ("MPIIO_F_SLOWEST_RANK_TIME", 5.35)} <= {
        (each.name, each.value) for each in one.evidence
    }


def test_how_many_ranks_are_late_and_whether_it_is_for_their_own_io() -> None:
    def waits(late: int, *more: Record) -> Finding:
        total = (4 - late) * 40.0 + late * 1.0
        made = job(record("MPI-IO", COLL_WRITES=16, BYTES_WRITTEN=16 * MIB, F_WRITE_TIME=total, F_SLOWEST_RANK_TIME=40,
                          F_FASTEST_RANK_TIME=1, FASTEST_RANK=3, SIZE_WRITE_AGG_1M_4M=16), *more, ranks=4)  # fmt: skip
        return next(one for one in diagnose(made).findings if one.rule == "I4")

    assert waits(1).title.startswith("Rank 3 comes late")
    assert waits(2).title.startswith("About 2 ranks (rank 3 most) come late")
    log = record("POSIX", "/scratch/log3", 3, OPENS=1, WRITES=200, FSYNCS=200, BYTES_WRITTEN=GIB, F_WRITE_TIME=38)
    own = waits(1, log)
    assert "still computing" not in own.cause
    assert "log3" in own.remedies["application"]
    assert own.overlaps == () or "T2" in own.overlaps


def test_ranks_that_are_alike_in_collective_calls_are_not_late() -> None:
    rules = {one.rule for one in diagnose(late(5.3)).findings}
    assert "I4" not in rules
    assert "C1" in rules
    unknown = {one.rule for one in diagnose(late(0.0)).findings}  # a log that does not say
    assert "I4" not in unknown


def test_a_rank_with_more_to_write_than_others_is_not_one_for_whom_they_wait() -> None:
    """It is in the file system all the time, and its MPI-IO time is that."""
    made = job(
        record("MPI-IO", COLL_WRITES=64, BYTES_WRITTEN=GIB, F_WRITE_TIME=64 * 4, F_SLOWEST_RANK_TIME=41,
               F_FASTEST_RANK_TIME=0.5, FASTEST_RANK=3, SIZE_WRITE_AGG_10M_100M=64),
        record("POSIX", WRITES=64, BYTES_WRITTEN=GIB, F_WRITE_TIME=64 * 3.8, F_SLOWEST_RANK_TIME=40.5,
               F_VARIANCE_RANK_BYTES=0, SLOWEST_RANK_BYTES=GIB // 64),
    )  # fmt: skip
    assert "I4" not in known.severities(made)


def test_ranks_of_their_own_records_are_late_too() -> None:
    each = (
        record("MPI-IO", "/scratch/out", rank, COLL_WRITES=4, BYTES_WRITTEN=MIB, F_WRITE_TIME=1.0 if rank == 3 else 30,
               SIZE_WRITE_AGG_100K_1M=4) for rank in range(4)
    )  # fmt: skip
    (one,) = (each for each in diagnose(job(*each, ranks=4)).findings if each.rule == "I4")
    assert one.title.startswith("Rank 3 comes late")
    assert one.saved_seconds == pytest.approx(0.75 * 29)


def by_all_alike(piece: int) -> Job:
    """All 16 ranks write as many bytes each, and are a third of their time in the file system."""
    calls = 16 * 64
    return job(
        record("MPI-IO", COLL_OPENS=16, COLL_WRITES=calls, BYTES_WRITTEN=calls * piece, F_WRITE_TIME=16 * 40,
               F_SLOWEST_RANK_TIME=41, F_FASTEST_RANK_TIME=39, VIEWS=calls),
        shared("POSIX", 16, 16, WRITES=calls, BYTES_WRITTEN=calls * piece, F_WRITE_TIME=16 * 10, SEQ_WRITES=calls),
        ranks=16,
    )  # fmt: skip


def test_where_all_write_large_pieces_alike_nobody_waits_for_few() -> None:
    rules = {one.rule for one in diagnose(by_all_alike(16 * MIB)).findings}
    assert rules.isdisjoint({"C1", "C4", "C7"})
    (one,) = (each for each in diagnose(by_all_alike(64 << 10)).findings if each.rule == "C1")
    assert "the few" not in one.cause
    assert "waiting for the last of them" in one.cause
    assert "mpi hint" not in one.remedies  # all are aggregators already


@pytest.mark.parametrize("holes", [True, False])
def test_no_report_enables_and_disables_the_same_hint(holes: bool) -> None:
    """Long contiguous pieces through one rank, which also reads them back: C7 and A2 know the opposite."""
    moved = 4 * GIB
    back: dict[str, Any] = (
        {"READS": 512, "BYTES_READ": moved, "RW_SWITCHES": 1000, "F_READ_TIME": 20.0} if holes else {}
    )
    made = job(
        record("MPI-IO", COLL_WRITES=64 * 8, BYTES_WRITTEN=moved, F_WRITE_TIME=64 * 80, F_SLOWEST_RANK_TIME=80,
               SIZE_WRITE_AGG_4M_10M=512),
        shared("POSIX", 64, 4, WRITES=512, BYTES_WRITTEN=moved, F_WRITE_TIME=20, SEQ_WRITES=512, **back),
    )  # fmt: skip
    found = diagnose(made).findings
    assert {"A2"} <= {one.rule for one in found} if holes else {"C7"} <= {one.rule for one in found}
    assert all("cb_nodes" not in one.remedies.get("mpi hint", "") for one in found)  # the opposite of C7's
    said = " ".join(one.remedies.get("mpi hint", "") for one in found)
    for hint in ("romio_cb_write", "romio_cb_read", "romio_ds_write"):
        assert not (f"{hint}=enable" in said and f"{hint}=disable" in said), said


def test_opening_and_closing_are_not_time_of_writing() -> None:
    calls = 4 * 1000
    made = job(
        record("MPI-IO", COLL_OPENS=4, INDEP_WRITES=calls, BYTES_WRITTEN=calls * 4096, F_WRITE_TIME=0.165,
               F_META_TIME=2.0, F_SLOWEST_RANK_TIME=0.7, SIZE_WRITE_AGG_1K_10K=calls),
        shared("POSIX", 4, 4, OPENS=4, WRITES=calls, BYTES_WRITTEN=calls * 4096, F_WRITE_TIME=0.15, F_META_TIME=0.1,
               SEQ_WRITES=calls),
        ranks=4, seconds=2.0,
    )  # fmt: skip
    (one,) = (each for each in diagnose(made).findings if each.rule == "C5")
    assert 0 < one.saved_seconds <= 0.165


@pytest.mark.parametrize(("seen", "told"), [(0.95, True), (0.5, False)])
def test_where_the_file_systems_calls_were_not_all_seen_nobody_knows_who_waits(seen: float, told: bool) -> None:
    moved = 50 * GIB
    made = job(
        record("MPI-IO", COLL_WRITES=640, BYTES_WRITTEN=moved, F_WRITE_TIME=64 * 40, F_SLOWEST_RANK_TIME=41, VIEWS=640),
        shared("POSIX", 64, 16, WRITES=640, BYTES_WRITTEN=int(seen * moved), F_WRITE_TIME=16 * 2, SEQ_WRITES=640),
    )  # fmt: skip
    assert ("C1" in known.severities(made)) == told
    beside = record("POSIX", "/scratch/out.locktest.3", 3, OPENS=1)  # of OMPIO, whose aggregators call aio_write
    posix = Module("POSIX", [*made.modules["POSIX"].records, beside])
    profiled = replace(made, modules={**made.modules, "POSIX": posix}, kind="profile")
    assert "C1" not in known.severities(profiled)


def test_opening_and_closing_are_not_exchange() -> None:
    moved = 50 * GIB
    made = job(
        record("MPI-IO", COLL_OPENS=64, COLL_WRITES=640, BYTES_WRITTEN=moved, F_WRITE_TIME=64 * 12, F_META_TIME=64 * 50,
               F_SLOWEST_RANK_TIME=63, VIEWS=640),
        shared("POSIX", 64, 16, WRITES=640, BYTES_WRITTEN=moved, F_WRITE_TIME=16 * 10, SEQ_WRITES=640),
    )  # fmt: skip
    assert "C1" not in known.severities(made)


@pytest.mark.parametrize("more", [{"COLL_WRITES": 64 * 40, "SIZE_WRITE_AGG_1M_4M": 64 * 80}, {"SYNCS": 64 * 60}])
def test_where_calls_are_collective_independent_access_does_not_wait(more: dict[str, Any]) -> None:
    alone: dict[str, Any] = {"INDEP_WRITES": 64 * 80, "INDEP_READS": 64 * 200}
    posix = shared("POSIX", 64, 64, WRITES=64 * 80, BYTES_WRITTEN=64 * MIB, F_WRITE_TIME=64 * 0.1)
    times: dict[str, Any] = {"BYTES_WRITTEN": 64 * MIB, "F_WRITE_TIME": 64 * 60}
    assert "N1" in known.severities(job(record("MPI-IO", **times, **alone), posix))
    found = diagnose(job(record("MPI-IO", **times, **(alone | more)), posix))
    assert "N1" not in {one.rule for one in found.findings}
    assert "and no rule says why: the mean rank spends 60 s in reads, writes and views of MPI-IO" in found.verdict


def test_small_pieces_cost_what_the_file_system_takes_for_them() -> None:
    made = job(
        record("MPI-IO", COLL_WRITES=2000, VIEWS=2000, BYTES_WRITTEN=2000 * 4096, F_WRITE_TIME=4 * 10,
               F_SLOWEST_RANK_TIME=10),
        shared("POSIX", 4, 4, WRITES=2000, BYTES_WRITTEN=2000 * 4096, F_WRITE_TIME=4 * 2.0, SEQ_WRITES=2000,
               ACCESS1_ACCESS=4096, ACCESS1_COUNT=2000),
        ranks=4, seconds=20,
    )  # fmt: skip
    found = {one.rule: one for one in diagnose(made).findings}
    assert found["C6"].saved_seconds <= 2.0 < found["C1"].saved_seconds


def test_holes_that_take_the_file_system_no_time_are_not_what_ranks_wait_for() -> None:
    made = job(
        record("MPI-IO", COLL_WRITES=20, BYTES_WRITTEN=40 * MIB, F_WRITE_TIME=4 * 60, F_SLOWEST_RANK_TIME=61),
        shared("POSIX", 4, 1, WRITES=5, READS=5, BYTES_WRITTEN=80 * MIB, F_WRITE_TIME=1.0, SEQ_WRITES=5),
        ranks=4,
    )  # fmt: skip
    assert diagnose(made).findings[0].rule == "C1"


def test_jitter_of_many_calls_is_no_late_rank() -> None:
    made = job(
        record("MPI-IO", COLL_WRITES=2000, BYTES_WRITTEN=2000 * 4096, F_WRITE_TIME=0.18, F_SLOWEST_RANK_TIME=0.054,
               F_FASTEST_RANK_TIME=0.029),
        shared("POSIX", 4, 4, WRITES=2000, BYTES_WRITTEN=2000 * 4096, F_WRITE_TIME=0.008), ranks=4, seconds=0.09,
    )  # fmt: skip
    assert "I4" not in known.severities(made)
