"""test_replay.py: patterns of findings are what the log says, remedies move the same bytes, and outcomes are told."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import known_jobs as known
from jobs import LOGS, MIB, job, logs, record, shared
from penstock.base import launch
from penstock.base.errors import UserError
from penstock.diagnose.diagnosis import diagnose
from penstock.diagnose.finding import ACHIEVED, INFO, UNDECIDED, WITHDRAWN, Finding, Replayed
from penstock.diagnose.replay.costs import costs_of, probes
from penstock.diagnose.replay.play import Stage, can_take_over, play
from penstock.diagnose.replay.remedies import TRIALS, trial
from penstock.diagnose.replay.replay import _noise, _outcome
from penstock.diagnose.replay.steps import (
    BROADCAST,
    READ,
    STEP,
    WRITE,
    Steps,
    Variant,
    extents,
    joined,
    shared_out,
    steps,
    together,
)  # fmt: skip
from penstock.diagnose.replay.trial import Trial
from penstock.jobs.darshan.reader import read_log
from penstock.jobs.job import SEGMENT, Job, Step, Traced
from penstock.measure.campaign.run import Outcome
from penstock.measure.studies.stats import Interval

RANKS = 8


def traced(*accesses: tuple[int, int, int, int], act: int = WRITE, module: str = "POSIX") -> tuple[Traced, ...]:
    """(rank, offset, length, number) in the order of their numbers."""
    made = []
    for rank in sorted({one[0] for one in accesses}):
        own = [one for one in accesses if one[0] == rank]
        segments = np.array([(offset, length, n, n + 0.5) for _, offset, length, n in own], SEGMENT)
        none = np.zeros(0, SEGMENT)
        both = (segments, none) if act == READ else (none, segments)
        made.append(Traced(module, "/scratch/out", rank, "n0", *both))
    return tuple(made)


def tried(made: Job, rule: str, ranks: int = RANKS) -> Trial:
    found = diagnose(made)
    finding = next(one for one in found.findings if one.rule == rule)
    result = trial(found.facts, finding, ranks, "ext4")
    assert isinstance(result, Trial), result
    return result


DEFECTS = [known.independent_small_writes, known.sieving, known.rank_0_only, known.read_by_all, known.sieved]


@pytest.mark.parametrize("make", DEFECTS, ids=lambda one: one.__name__)
def test_a_remedy_moves_the_bytes_that_were_to_be_moved(make: Any) -> None:
    found = diagnose(make())
    told = 0
    for finding in found.findings:
        if finding.severity == INFO or finding.rule not in TRIALS:
            continue
        result = trial(found.facts, finding, RANKS, "ext4")
        assert isinstance(result, Trial), result
        before, again, *after = result.variants
        assert again.steps is before.steps
        assert after
        for one in after:
            told += 1
            for act in (READ, WRITE):
                assert extents(one.steps, act).tolist() == extents(before.steps, act).tolist(), (finding.rule, one.name)
    assert told > 0


def test_each_access_of_the_log_is_replayed_as_it_was() -> None:
    n = 400
    accesses = [(rank, (4 * i + rank) * 1000, 1000, i) for rank in range(4) for i in range(n)]
    made = job(
        shared("POSIX", 4, 4, WRITES=4 * n, BYTES_WRITTEN=4000 * n, F_WRITE_TIME=40, SEQ_WRITES=4 * n,
               SIZE_WRITE_100_1K=4 * n, ACCESS1_ACCESS=1000, ACCESS1_COUNT=4 * n),
        ranks=4, has_traced=True, traced=lambda: iter(traced(*accesses)),
    )  # fmt: skip
    found = tried(made, "A4", 4)
    assert found.exact
    for rank, one in enumerate(found.variants[0].steps):
        assert one["offset"].tolist() == [(4 * i + rank) * 1000 for i in range(n)]
        assert set(one["length"].tolist()) == {1000}
    cut = tried(made, "A4", 2)
    assert len(cut.variants[0].steps) == 2
    assert "2 of 4 ranks" in cut.note


def test_accesses_of_the_log_are_replayed_in_the_order_of_time() -> None:
    order = np.random.default_rng(3).permutation(2000)
    accesses = [(0, int(place) * 100, 100, i) for i, place in enumerate(order)]
    made = job(
        record("POSIX", rank=0, READS=2000, BYTES_READ=200000, F_READ_TIME=80, SEQ_READS=900, SIZE_READ_0_100=2000),
        ranks=1, has_traced=True, traced=lambda: iter(traced(*accesses, act=READ)),
    )  # fmt: skip
    found = tried(made, "A5", 1)
    assert found.variants[0].steps[0]["offset"].tolist() == (order * 100).tolist()
    assert found.variants[2].steps[0]["offset"].tolist() == sorted((order * 100).tolist())


def test_what_is_of_the_file_system_itself_is_not_replayed_elsewhere() -> None:
    found = diagnose(known.slow_target())
    finding = next(one for one in found.findings if one.rule == "I2")
    assert "particular to that file system" in str(trial(found.facts, finding, RANKS, "ext4"))


piece = st.tuples(st.integers(0, 2), st.integers(0, 5000), st.integers(1, 900))
some = st.lists(st.lists(piece, max_size=12), min_size=1, max_size=5)


def of(pieces: list[tuple[int, int, int]]) -> Steps:
    table = np.array(pieces, np.int64).reshape(-1, 3)
    return steps(WRITE, table[:, 1], table[:, 2], table[:, 0]) if pieces else np.zeros(0, STEP)


@given(some, st.integers(1, 7), st.sampled_from([1, 64, 1000]))
@settings(max_examples=150, deadline=None)
def test_bytes_that_are_shared_out_are_each_given_to_one_rank(
    pieces: list[list[tuple[int, int, int]]], ranks: int, align: int
) -> None:
    whole = extents([of(one) for one in pieces], WRITE)
    given_out = shared_out(whole, ranks, WRITE, align)
    assert len(given_out) == ranks
    assert extents(given_out, WRITE).tolist() == whole.tolist()
    assert sum(int(one["length"].sum()) for one in given_out) == int((whole[:, 2] - whole[:, 1]).sum())


@given(st.lists(st.tuples(st.just(0), st.integers(0, 5000), st.integers(1, 900)), max_size=20), st.integers(1, 4000))
@settings(max_examples=150, deadline=None)
def test_pieces_of_a_view_ascend_and_calls_are_numbered_from_0(pieces: list[tuple[int, int, int]], most: int) -> None:
    (made,) = together([of(pieces)], WRITE, most)
    ends = made["offset"] + made["length"]
    assert (made["offset"][1:] >= ends[:-1]).all()
    numbers = np.unique(made["call"]).tolist()
    assert numbers == list(range(len(numbers)))


def test_costs_count_what_sieving_moves() -> None:
    took = {name: 1.0 for name, _ in probes(8, True)}
    # a byte costs 1 ns read or written, a call nothing
    small, large = 800 * (8 << 10) * 1e-9, 16 * (512 << 10) * 1e-9
    for what in ("read", "fresh"):
        took |= {f"{what} small": small, f"{what} large": large, f"{what} all": 8 * 2 * (512 << 10) * 1e-9}
    for how in ("small", "large", "all"):
        took[f"over {how}"] = 3 * took[f"fresh {how}"]
    took |= {
        "begin": 0.0,
        f"together {8 << 10}": 40 * 8 * (8 << 10) * 1e-9,
        f"together {512 << 10}": 8 * 8 * (512 << 10) * 1e-9,
    }
    costs = costs_of(8, took)
    before, _, disabled, collective, taken_over = tried(known.sieved(), "A1").variants
    whole = 8 * 16 * MIB * 1e-9  # each rank reads the whole stretch and writes it, one at a time does either
    assert costs.of(before) == pytest.approx(max(whole, 2 * whole / costs.cores), rel=0.15)
    pieces = 8 * 256 * 1e-7
    assert costs.of(disabled) == pytest.approx(16 * MIB * 1e-9 + pieces / costs.cores, rel=0.1)
    assert costs.of(collective) == pytest.approx(16 * MIB * 1e-9, rel=0.1)
    assert costs.of(Variant("", [joined(steps([BROADCAST], 0, 1000))])) is None
    assert costs.of(taken_over) is None


def test_the_same_calls_taken_over_are_a_remedy_where_the_finding_says_so() -> None:
    before, again, *remedies = tried(known.sieved(), "A1").variants
    (one,) = [each for each in remedies if each.taken_over]
    assert one == replace(before, name="penstock run", taken_over=True)
    assert not before.taken_over
    assert not again.taken_over
    for make, rule in ((known.independent_small_writes, "C5"), (known.read_by_all, "A3")):
        assert not [each for each in tried(make(), rule).variants if each.taken_over]


def test_only_what_is_taken_over_gets_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bench writes each way in a folder with its number, over all cases."""
    library = tmp_path / "lib" / "libpenstock_mpiio.so"
    bench = tmp_path / "bin" / "penstock-bench"
    for path in (library, bench):
        path.parent.mkdir()
        path.touch()
    monkeypatch.setenv("PENSTOCK_BIN", str(bench.parent))
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    seen: list[dict[str, str]] = []

    def run(_command: list[str], environment: dict[str, str], *_: Any) -> Outcome:
        seen.append(environment)
        return Outcome(1, [])

    monkeypatch.setattr("penstock.diagnose.replay.play.run", run)
    one = Variant("before", [steps(WRITE, [0], [8])], "mpiio")
    stage = Stage(tmp_path, 1, launch.Mpi.openmpi, 1, 60.0)
    cases = [("a", [one, replace(one, taken_over=True)]), ("b", [one, one, replace(one, taken_over=True)])]
    for played in (cases, [("a", [one])]):
        with pytest.raises(UserError, match="the replay failed"):
            play(stage, played, 60.0, lambda _done, _of: None)
    first, second = seen
    assert first["LD_PRELOAD"] == str(library)
    assert first["PENSTOCK_RUN_PLAN"] == "*/1/0=auto;*/4/0=auto;none"
    assert "PENSTOCK_RUN_PLAN" not in second
    assert "LD_PRELOAD" not in second
    assert can_take_over(launch.Mpi.openmpi)
    library.unlink()
    monkeypatch.setenv("PATH", "/nowhere")
    assert not can_take_over(launch.Mpi.openmpi)


@pytest.mark.parametrize(
    ("ratio", "noise", "outcome"),
    [
        (Interval(0.5, 0.4, 0.6, 0.96), 1.1, ACHIEVED),
        (Interval(0.064, 0.036, 0.096, 0.96), 2.2, ACHIEVED),  # syncs, of which the same may take twice as long
        (Interval(0.97, 0.9, 1.02, 0.96), 1.02, WITHDRAWN),
        (Interval(1.5, 1.3, 1.6, 0.96), 1.02, WITHDRAWN),
        (Interval(0.7, 0.4, 1.5, 0.96), 1.1, UNDECIDED),
        (Interval(0.7, 0.6, 0.8, 0.96), 1.5, UNDECIDED),  # the same thing twice differs by more
        (Interval(0.5, None, None, 0.0), 1.0, UNDECIDED),
    ],
)
def test_advice_is_withdrawn_only_where_a_gain_is_excluded(ratio: Interval, noise: float, outcome: str) -> None:
    assert _outcome(ratio, noise) == outcome


def test_noise_is_a_factor_in_either_direction() -> None:
    assert _noise([1.0, 2.0, 1.0], [1.0, 1.0, 1.0]) == 2
    assert _noise([1.0, 0.25, 1.0], [1.0, 1.0, 1.0]) == 4


def test_withdrawn_advice_comes_last_and_is_no_verdict() -> None:
    found = diagnose(known.rank_0_only())
    gone = [_with_outcome(one, WITHDRAWN) for one in found.findings]
    after = found.with_findings(gone)
    assert after.lost_core_hours == after.saved_seconds == 0
    assert not after.worth
    for one in after.findings:
        told = one.as_json()
        assert (told["severity"], told["saved_seconds"], told["withdrawn"]) == (INFO, 0, True)
        assert told["predicted_seconds"] > 0
    assert "gained nothing in replay" in after.verdict
    held = found.with_findings([_with_outcome(one, ACHIEVED) for one in found.findings])
    assert held.lost_core_hours == pytest.approx(0.5 * 20 * 64 / 3600)


def test_severity_after_replay_is_that_of_what_was_achieved() -> None:
    found = diagnose(known.rank_0_only())
    shown = replace(_with_outcome(found.findings[0], ACHIEVED), saved_seconds=35.0)
    assert shown.replayed is not None
    little = replace(shown, replayed=replace(shown.replayed, of_seconds=10.0))  # of which half: 5 % of the run
    assert found.with_findings([little]).findings[0].severity == "WARN"
    assert found.with_findings([shown]).findings[0].severity == "HIGH"


def test_what_is_undecided_has_an_interval_or_says_how_few_repetitions_there_were() -> None:
    shown = _with_outcome(diagnose(known.rank_0_only()).findings[0], UNDECIDED).replayed
    assert shown is not None
    assert shown.spread == "95 % interval 0.4 to 0.6"
    few = replace(shown, low=None, high=None, least=0.3, most=1.5, repetitions=3)
    assert few.spread == "0.3 to 1.5 in 3 repetitions, too few for a 95 % interval"
    once = replace(shown, low=None, high=None, least=0.3, most=0.3, repetitions=1)
    assert once.spread == "1 repetition, too few for a 95 % interval"
    assert replace(shown, predicted_gain=-1.14).expected.endswith("it should take 2.14 times as long")


def test_pieces_are_as_large_as_ranks_begin_apart_in_the_log() -> None:
    """As data sieving reads them: stretches of 512 KiB, which begin at each rank's first piece, of 4 KiB."""
    accesses = [(rank, rank * 4096 + i * (512 << 10), 512 << 10, i) for rank in range(8) for i in range(4)]
    made = replace(known.sieved(), has_traced=True, traced=lambda: iter(traced(*accesses)))
    found = tried(made, "A1")
    assert {int(length) for one in found.variants[0].steps for length in one["length"]} == {4096}
    assert "pieces of 4096 bytes" in found.note
    assert "lie in the log so far apart" in found.note
    assert "pieces of 8192 bytes, of which a rank has one in 8, are assumed" in tried(known.sieved(), "A1").note


def test_ranks_of_a_collective_call_leave_no_holes_between_their_pieces() -> None:
    """An aggregator writes one stretch: that is no stretch of each rank, which holes of megabytes would part."""
    moved = 48 * MIB
    made = job(
        record("MPI-IO", COLL_WRITES=24, VIEWS=24, BYTES_WRITTEN=moved, F_WRITE_TIME=4 * 60, F_SLOWEST_RANK_TIME=60),
        shared("POSIX", 4, 1, WRITES=11, BYTES_WRITTEN=moved, F_WRITE_TIME=1, SEQ_WRITES=10, CONSEC_WRITES=10),
        ranks=4,
    )  # fmt: skip
    found = tried(made, "C1", 4)
    whole = extents([one[:1] for one in found.variants[0].steps], WRITE)  # of the first call
    assert len(whole) == 1
    assert not [one.name for one in found.variants if "disable" in one.name]  # which is no remedy of C1


def test_collective_calls_that_few_ranks_write_have_the_holes_of_the_log() -> None:
    moved = 40 * MIB
    made = job(
        record("MPI-IO", COLL_WRITES=20, VIEWS=20, BYTES_WRITTEN=moved, F_WRITE_TIME=4 * 60, F_SLOWEST_RANK_TIME=60),
        shared("POSIX", 4, 1, WRITES=11, BYTES_WRITTEN=2 * moved, F_WRITE_TIME=60, SEQ_WRITES=10, CONSEC_WRITES=10),
        ranks=4,
    )  # fmt: skip
    (one,) = (each for each in diagnose(made).findings if each.rule == "A1")
    assert next(iter(one.remedies)) == "application"  # romio_ds_write keeps no holes out of the buffers
    assert not [text for text in one.remedies.values() if "romio_ds_write" in text]
    before, _, apart, closed, _ = tried(made, "A1", 4).variants
    one_call = extents([each[each["call"] == 0] for each in before.steps], WRITE)
    touched = int((one_call[:, 2] - one_call[:, 1]).sum())
    assert int(one_call[-1, 2] - one_call[0, 1]) == pytest.approx(2 * touched, rel=0.01)
    assert apart.hints == {"romio_cb_write": "disable", "romio_ds_write": "disable"}
    (whole,) = extents(closed.steps, WRITE).tolist()
    assert whole[2] - whole[1] == closed.bytes == before.bytes


def test_accesses_in_views_are_played_where_offsets_are_those_of_the_file() -> None:
    def wrote(offset: int) -> Trial:
        accesses = [(rank, rank * offset + i * 1000, 1000, i) for rank in range(4) for i in range(500)]
        n = 4 * 500
        return tried(
            job(
                record("MPI-IO", INDEP_WRITES=n, BYTES_WRITTEN=n * 1000, VIEWS=4, F_WRITE_TIME=4 * 40,
                       F_SLOWEST_RANK_TIME=41),
                shared("POSIX", 4, 4, WRITES=n, BYTES_WRITTEN=n * 1000, F_WRITE_TIME=4 * 40, SEQ_WRITES=n),
                ranks=4, has_traced=True, traced=lambda: iter(traced(*accesses, module="MPI-IO")),
            ),
            "C5", 4,
        )  # fmt: skip

    assert wrote(500 * 1000).exact
    assert "are not replayed" not in wrote(500 * 1000).note
    in_views = wrote(0)  # all begin at the same: these are the views' own offsets
    assert not in_views.exact
    assert "the logged accesses are not replayed: the program set file views" in in_views.note


def test_the_programs_hints_are_those_of_before_too() -> None:
    hints = {"romio_cb_write": "disable", "romio_ds_write": "enable", "access_style": "write_once"}
    step = Step("/scratch/out", "write", "hdf5/mpiio", 0, 1, {}, 1, (0,), ("T",), hints, {"romio_cb_write": "disable"})
    before, again, *after = tried(replace(known.sieved(), steps=(step,)), "A1").variants
    assert before.hints == again.hints == {"romio_cb_write": "disable", "romio_ds_write": "enable"}
    assert after[0].hints["romio_ds_write"] == "disable"
    assert after[1].hints["romio_cb_write"] == "enable"
    unnamed = known.sieved()
    mpi = unnamed.modules["MPI-IO"].records[0]
    mpi.counters["MPIIO_HINTS"] = 8
    assert tried(unnamed, "A1").note.endswith("; the program gave hints, which the log does not name")


def _with_outcome(one: Finding, outcome: str) -> Finding:
    shown = Replayed(2.0, 1.0, 0.5, 0.4, 0.6, outcome, False, "remedy", 8, "ext4", None, 20.0)
    return one.with_replay(shown)


@logs
def test_the_pattern_of_a_public_log_is_that_of_its_trace() -> None:
    found = diagnose(read_log(LOGS / "mpi_io_test_with_dxt.darshan"))
    finding = next(one for one in found.findings if one.rule == "N1")
    assert "NFS" in str(trial(found.facts, finding, RANKS, "ext4"))
    made = trial(found.facts, finding, RANKS, "nfs4")
    assert isinstance(made, Trial)
    assert made.exact
    by_rank = {one.rank: one for one in found.job.traced() if one.module == "MPI-IO"}
    for rank, own in enumerate(made.variants[0].steps):
        every = by_rank[rank].reads if own["act"][0] == READ else by_rank[rank].writes
        assert own["offset"].tolist() == every["offset"][: len(own)].tolist()
        assert own["length"].tolist() == every["length"][: len(own)].tolist()
