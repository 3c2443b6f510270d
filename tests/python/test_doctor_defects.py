"""test_doctor_defects.py: shapes of real programs' logs, with a defect or without, and what is said first."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import known_jobs as known
from jobs import GIB, MIB, job, record, shared
from penstock.diagnose.diagnosis import diagnose
from penstock.diagnose.many import summary
from penstock.diagnose.rules.common import UNCHANGED
from penstock.jobs.job import SHARED, FunctionTime, Heat, Job, Module, Record


@pytest.mark.parametrize(
    ("made", "remedy"),
    [
        (known.independent_small_writes(), "Application: MPI_File_write_at_all"),  # romio_cb_write does nothing for it
        (known.read_by_all(), "Application: one rank reads and MPI_Bcast hands on"),  # not stripes
        (known.metadata_storm(), "Application: keep files open"),  # not more metadata servers
        (known.sieving(), "MPI hint: romio_ds_write=disable"),
        (known.one_aggregator(stripes={"/scratch/out": (1, 1 << 20, (3,))}), "File system: "),
    ],
)
def test_the_verdict_names_the_remedy_that_helps_most(made: Job, remedy: str) -> None:
    said = diagnose(made).verdict
    assert f". {remedy}" in said


def opened_by_all(**numbers: float) -> Job:
    return job(
        record("MPI-IO", "/scratch/out", SHARED, BYTES_WRITTEN=GIB, INDEP_WRITES=64, F_WRITE_TIME=64 * 10,
               F_META_TIME=64 * 15, **numbers),
        shared("POSIX", 64, 64, WRITES=64, BYTES_WRITTEN=GIB, F_WRITE_TIME=64 * 10),
    )  # fmt: skip


def test_to_open_a_file_once_is_not_to_open_it_too_often() -> None:
    assert "M3" not in known.severities(opened_by_all(COLL_OPENS=64, VIEWS=64))
    assert "M3" not in known.severities(opened_by_all(COLL_OPENS=64 * 4))
    assert "M3" not in known.severities(opened_by_all(COLL_OPENS=64, SYNCS=64 * 20))  # whose time is that of writing
    (often,) = (one for one in diagnose(opened_by_all(COLL_OPENS=64 * 10)).findings if one.rule == "M3")
    assert often.remedies["application"] == "keep files open between steps"
    views = opened_by_all(COLL_OPENS=64 * 2, VIEWS=64 * 38)
    (one,) = (one for one in diagnose(views).findings if one.rule == "M3")
    assert one.remedies["application"].startswith("set a view once")
    assert one.saved_seconds == pytest.approx(0.5 * 15 * 38 / 40)  # without the opens


def test_a_single_writer_of_few_ranks_is_one_too_few() -> None:
    moved, calls = 2 * GIB, 128
    made = job(
        record("MPI-IO", COLL_WRITES=80, BYTES_WRITTEN=moved, F_WRITE_TIME=8 * 40, F_SLOWEST_RANK_TIME=41,
               SIZE_WRITE_AGG_10M_100M=80),
        shared("POSIX", 8, 1, WRITES=calls, BYTES_WRITTEN=moved, F_WRITE_TIME=38, SEQ_WRITES=calls,
               SIZE_WRITE_10M_100M=calls),
        ranks=8, mounts=(("/", "ext4"),),
    )  # fmt: skip
    (found,) = (one for one in diagnose(made).worth if one.rule == "C2")
    assert found.severity == "HIGH"
    assert found.title == "A single rank moves 2 GiB for 8 ranks (out)"
    assert "file system" not in found.remedies


def test_the_rank_with_most_bytes_is_not_the_one_that_waits_longest() -> None:
    """Of MPI-IO's record the slowest rank is any of those that wait in MPI_File_close for the one that writes."""
    total, most = 62 * 8 * MIB, 48 * 8 * MIB
    made = job(
        record("MPI-IO", COLL_OPENS=8, INDEP_WRITES=62, BYTES_WRITTEN=total, F_WRITE_TIME=24, F_META_TIME=70,
               F_SLOWEST_RANK_TIME=12.2, SLOWEST_RANK_BYTES=16 * MIB),
        record("POSIX", OPENS=8, WRITES=62, BYTES_WRITTEN=total, F_WRITE_TIME=24, F_SLOWEST_RANK_TIME=12,
               SLOWEST_RANK=7, SLOWEST_RANK_BYTES=most, F_VARIANCE_RANK_BYTES=1.63e16, SIZE_WRITE_4M_10M=62),
        ranks=8, seconds=30,
    )  # fmt: skip
    first = diagnose(made).findings[0]
    assert (first.rule, first.title) == ("I1", "Rank 7 moves 384 MiB, 6.19 times its share")


def test_what_would_be_collective_is_not_told_to_gather_by_itself() -> None:
    found = known.severities(known.independent_small_writes())
    assert "C5" in found
    assert "A4" not in found


def test_a_sync_after_each_write_is_what_takes_the_time() -> None:
    made = job(
        *(
            record("POSIX", f"/scratch/{rank}", rank, OPENS=1, WRITES=400, FSYNCS=400, BYTES_WRITTEN=400 << 16,
                   F_WRITE_TIME=50, SIZE_WRITE_10K_100K=400, ACCESS1_ACCESS=1 << 16, ACCESS1_COUNT=400, SEQ_WRITES=400)
            for rank in range(64)
        )
    )  # fmt: skip
    assert [one.rule for one in diagnose(made).worth] == ["T2", "A4"]


def test_waiting_for_the_other_end_of_a_pipe_is_no_metadata_storm() -> None:
    """A program of threads that talk through pipes: eight of them are open all the time, and few bytes move."""
    pipes = (record("POSIX", f"/run/pipe{i}", 0, OPENS=3, READS=2, BYTES_READ=41, F_META_TIME=1462) for i in range(8))
    others = (record("POSIX", f"/usr/{i}", 0, OPENS=1, STATS=6, F_META_TIME=1e-4) for i in range(200))
    found = diagnose(job(*pipes, *others, ranks=1, seconds=1469))
    assert not found.worth
    assert found.verdict == (
        "I/O takes up to 100 % of the run, 0.408 of 0.408 core-hours, and no rule says why. "
        "POSIX: the files of one rank take 7.96 times the run, as those of threads or pipes do."
    )
    assert found.job.troubles


def test_files_opened_through_streams_are_a_metadata_storm_too() -> None:
    made = job(
        *(
            record("STDIO", f"/scratch/{i}", i % 64, OPENS=30, READS=30, BYTES_READ=1000, F_META_TIME=1.5,
                   F_READ_TIME=0.01)
            for i in range(64 * 20)
        )
    )  # fmt: skip
    first = diagnose(made).findings[0]
    assert (first.rule, first.severity) == ("M1", "HIGH")
    assert "38,400 calls" in first.title


def test_where_records_are_missing_the_verdict_is_as_far_as_the_log_tells() -> None:
    """Of 4000 files a rank Darshan keeps a thousand, and nobody knows how long the others took."""
    whole = job(*(record("POSIX", f"/scratch/{i}", i % 4, OPENS=1, STATS=2, F_META_TIME=2e-4) for i in range(4096)),
                ranks=4, seconds=4)  # fmt: skip
    kept = Module("POSIX", whole.modules["POSIX"].records, partial=True)
    found = diagnose(replace(whole, modules={"POSIX": kept}))
    assert found.verdict.startswith(
        "Not I/O as far as the log tells: 5.12 % of the run, 0.000228 of 0.00444 core-hours. "
        "It lacks records of POSIX. Of what it has: 100 % of the time in files goes to opening"
    )
    assert {one.severity for one in found.findings} == {"INFO"}
    assert diagnose(whole).verdict.startswith("Not I/O: ")


def test_a_small_file_read_together_does_not_hide_a_rank_that_writes_alone() -> None:
    alone = known.rank_0_only().modules["POSIX"].records[0]
    made = job(
        alone,
        record("MPI-IO", "/scratch/in", COLL_READS=64, BYTES_READ=MIB, F_READ_TIME=1, SIZE_READ_AGG_1K_10K=64),
        shared("POSIX", 64, 4, "/scratch/in", READS=4, BYTES_READ=MIB, F_READ_TIME=1),
    )
    assert diagnose(made).findings[0].rule == "I3"


def test_a_rank_that_writes_little_alone_but_long_is_found() -> None:
    made = job(record("STDIO", rank=0, WRITES=500_000, BYTES_WRITTEN=20 * MIB, F_WRITE_TIME=40, OPENS=1))
    assert [one.rule for one in diagnose(made).worth] == ["I3", "S1"]


def test_a_slow_target_is_found_beside_small_files() -> None:
    """Each rank reads some small files as well: what is alike is sought among the large ones."""
    targets = known.slow_target()
    small = (
        record("POSIX", f"/scratch/in{i}", i % 64, OPENS=1, READS=1, BYTES_READ=4096, F_READ_TIME=1e-3)
        for i in range(256)
    )
    made = job(*targets.modules["POSIX"].records, *small, stripes=targets.stripes)
    first = diagnose(made).findings[0]
    assert first.rule == "I2"
    assert first.title.endswith("take up to 11.2 times as long, all on storage target 7")


def test_a_slow_rank_of_a_shared_file_is_found_where_ranks_go_by_themselves() -> None:
    def slow(**more: float) -> Job:
        return job(
            shared("POSIX", 64, 64, WRITES=64 * 64, BYTES_WRITTEN=64 * 64 * MIB, F_WRITE_TIME=63 * 4 + 60,
                   F_SLOWEST_RANK_TIME=60, SLOWEST_RANK=9, SEQ_WRITES=64 * 64, SIZE_WRITE_100K_1M=64 * 64,
                   ACCESS1_ACCESS=MIB, ACCESS1_COUNT=64 * 64),
            record("MPI-IO", "/scratch/out", SHARED, BYTES_WRITTEN=64 * 64 * MIB, F_WRITE_TIME=63 * 4 + 60,
                   F_SLOWEST_RANK_TIME=60, **more),
        )  # fmt: skip

    first = diagnose(slow(INDEP_WRITES=64 * 64)).findings[0]
    assert (first.rule, first.severity) == ("I2", "HIGH")
    assert first.title == "Rank 9 takes 15 times as long as the others with the same bytes (out)"
    assert "I2" not in known.severities(slow(COLL_WRITES=64 * 64))


def test_output_between_computations_is_nothing_wrong() -> None:
    """Large writes of all ranks, five times with as long between: as good as most programs are."""
    written = np.zeros((64, 100), np.int64)
    for start in range(5, 100, 20):
        written[:, start : start + 5] = 64 * MIB
    total = int(written.sum())
    made = job(
        *(
            record("POSIX", f"/scratch/{rank}", rank, OPENS=1, WRITES=total // 64 // (16 * MIB), SEQ_WRITES=100,
                   BYTES_WRITTEN=total // 64, F_WRITE_TIME=24, SIZE_WRITE_10M_100M=total // 64 // (16 * MIB))
            for rank in range(64)
        ),
        heat={"POSIX": Heat(1.0, np.zeros_like(written), written)},
    )  # fmt: skip
    found = diagnose(made)
    assert [one.rule for one in found.worth] == ["O1"]
    assert found.verdict == (
        "I/O takes 24 % of the run, 0.427 of 1.78 core-hours, and nothing is wrong with it: nothing to do; "
        "though 15.4 s could overlap with the computation (O1)."
    )


def test_only_writing_could_pass_behind_the_computation() -> None:
    """A second of the heat map has a hundredth of a second of writing, beside a wait of nine for a late rank."""
    written = np.zeros((4, 100), np.int64)
    written[:, 5::10] = MIB
    total = int(written.sum())
    made = job(
        record("MPI-IO", COLL_WRITES=40, BYTES_WRITTEN=total, F_WRITE_TIME=3 * 90.0 + 0.2, F_SLOWEST_RANK_TIME=90.0,
               F_FASTEST_RANK_TIME=0.2, SIZE_WRITE_AGG_100K_1M=40),
        shared("POSIX", 4, 4, WRITES=40, BYTES_WRITTEN=total, F_WRITE_TIME=0.4, SEQ_WRITES=40),
        ranks=4, heat={"POSIX": Heat(1.0, np.zeros_like(written), written)},
    )  # fmt: skip
    assert [one.rule for one in diagnose(made).findings] == ["I4"]
    unseen = diagnose(replace(made, modules={"MPI-IO": made.modules["MPI-IO"]}))  # of POSIX there is nothing
    assert [one.rule for one in unseen.findings] == ["I4", "O1"]
    assert unseen.findings[1].saved_seconds == pytest.approx(0.8 * 0.9 * 0.2)


def test_hdf5_alone_does_not_tell_why() -> None:
    """Of a program whose HDF5 was linked with Darshan, and nothing below."""
    one = Record("/scratch/out.h5:/rho", SHARED, {"H5D_WRITES": 64}, {"H5D_F_WRITE_TIME": 64 * 30.0})
    assert diagnose(replace(job(), modules={"H5D": Module("H5D", [one])})).verdict == (
        "I/O takes 30 % of the run, 0.533 of 1.78 core-hours. "
        "The log has nothing of what is below H5D, which would tell why."
    )
    collective = record("MPI-IO", COLL_WRITES=640, VIEWS=640, BYTES_WRITTEN=100 * GIB, F_WRITE_TIME=64 * 60)
    assert diagnose(job(collective)).verdict.endswith("nothing of what is below MPI-IO, which would tell why.")


def test_slowest_ranks_of_many_files_are_not_one_rank() -> None:
    """In each of 500 files another rank is slowest: no rank has been slow for all of their times."""
    made = job(
        *(
            shared("POSIX", 64, 64, f"/scratch/{i}", WRITES=64, BYTES_WRITTEN=64 * MIB, F_WRITE_TIME=64 * 0.004,
                   F_SLOWEST_RANK_TIME=0.1, SLOWEST_RANK=i % 64)
            for i in range(500)
        )
    )  # fmt: skip
    outer = diagnose(made).facts.outermost
    assert outer.mean_share == pytest.approx(0.02)
    assert outer.slowest_share == pytest.approx(0.02 + 8 * 0.096 / 100)


@pytest.mark.parametrize(
    "numbers",
    [
        {"SIZE_READ_0_100": 5000, "READS": 0, "F_READ_TIME": 1000},  # sizes of calls that there were not
        {"READS": 50, "F_MAX_READ_TIME": 30},  # no time at all but the longest
        {"WRITES": 9, "BYTES_WRITTEN": GIB, "F_WRITE_TIME": 90, "SLOWEST_RANK": 1 << 40, "SLOWEST_RANK_BYTES": GIB},
        {"OPENS": 1 << 62, "F_META_TIME": 1e9},
    ],
)
@pytest.mark.parametrize("ranks", [1, 64])
@pytest.mark.parametrize("seconds", [-5.0, 0.0, 100.0])
def test_numbers_that_contradict_each_other_do_no_harm(numbers: dict[str, float], ranks: int, seconds: float) -> None:
    assert diagnose(job(record("POSIX", "/scratch/out", SHARED, **numbers), ranks=ranks, seconds=seconds)).verdict


def test_one_log_that_cannot_be_looked_at_does_not_end_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: Path) -> Job:
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr("penstock.diagnose.many.read_job", fails)
    said = "a fault of penstock doctor, please report it: ZeroDivisionError: float division by zero"
    assert summary(Path("x.darshan")).error == said


@pytest.mark.parametrize(
    ("ranks", "moved", "told"), [(512, GIB // 2, True), (512, 32 * MIB, False), (8, GIB // 2, False)]
)
def test_a_single_writer_of_many_ranks_need_not_write_much(ranks: int, moved: int, told: bool) -> None:
    made = job(
        record("MPI-IO", COLL_WRITES=ranks * 10, BYTES_WRITTEN=moved, F_WRITE_TIME=ranks * 30, F_SLOWEST_RANK_TIME=31,
               SIZE_WRITE_AGG_100K_1M=ranks * 10),
        shared("POSIX", ranks, 1, WRITES=512, BYTES_WRITTEN=moved, F_WRITE_TIME=25, SEQ_WRITES=512),
        ranks=ranks,
    )  # fmt: skip
    assert ("C2" in known.severities(made)) == told


def test_on_a_local_file_system_small_writes_are_not_told_to_be_collective() -> None:
    made = known.independent_small_writes()
    here = diagnose(replace(made, mounts=(("/", "ext4"),)))
    (one,) = (each for each in here.findings if each.rule == "C5")
    assert (one.severity, one.saved_seconds) == ("INFO", 0)
    assert "on ext4" in one.title
    assert "mpi hint" not in one.remedies
    assert here.findings[0].rule == "A4"
    assert here.verdict.split("First: ")[1].startswith("1,280,000 accesses of less than 1 MiB")
    assert diagnose(made).findings[0].rule == "C5"


def unaligned(block: int, each: int) -> Job:
    return job(
        shared("POSIX", 4, 4, WRITES=32, BYTES_WRITTEN=32 * each, F_WRITE_TIME=4 * 50, SEQ_WRITES=32,
               FILE_NOT_ALIGNED=32, FILE_ALIGNMENT=block, SIZE_WRITE_10M_100M=32),
        ranks=4, mounts=(("/", "ext4"),),
    )  # fmt: skip


def test_large_writes_that_are_not_aligned_are_said_at_their_weight() -> None:
    light = diagnose(unaligned(4096, 16 * MIB + 13))
    (one,) = light.findings
    assert (one.rule, one.severity) == ("A6", "INFO")
    assert one.saved_seconds == pytest.approx(50 * 2 * 4096 / (16 * MIB) * 0.3, rel=0.01)
    assert light.verdict.endswith("nothing to do; what else was seen costs little (A6).")
    heavy = diagnose(unaligned(4 * MIB, 4 * MIB + 13))
    assert (heavy.findings[0].rule, heavy.findings[0].severity) == ("A6", "HIGH")


@pytest.mark.parametrize(("each", "told"), [(10, True), (9, False)])
@pytest.mark.parametrize("ranks", [1, 4])
def test_ten_syncs_of_each_rank_are_many(each: int, told: bool, ranks: int) -> None:
    made = job(
        *(record("POSIX", f"/scratch/{rank}", rank, WRITES=each, FSYNCS=each, BYTES_WRITTEN=GIB, F_WRITE_TIME=80)
          for rank in range(ranks)), ranks=ranks,
    )  # fmt: skip
    found = {one.rule: one for one in diagnose(made).findings}
    assert ("T2" in found) == told
    if told:
        assert found["T2"].severity == "HIGH"
        assert found["T2"].saved_seconds == pytest.approx(0.7 * 80)


def test_the_views_that_hdf5_sets_for_each_write_are_its_own() -> None:
    assert "M3" not in known.severities(opened_by_all(COLL_OPENS=64, COLL_WRITES=64 * 10, VIEWS=64 * 20))
    assert "M3" in known.severities(opened_by_all(COLL_OPENS=64, COLL_WRITES=64 * 10, VIEWS=64 * 40))


def test_flushes_of_streams_are_said() -> None:
    def flushed(times: int) -> Job:
        return job(
            *(record("STDIO", f"/scratch/{rank}.log", rank, WRITES=60000, FLUSHES=times, BYTES_WRITTEN=600_000,
                     F_WRITE_TIME=30, OPENS=1) for rank in range(4)), ranks=4,
        )  # fmt: skip

    first = diagnose(flushed(60000)).findings[0]
    assert (first.rule, first.severity) == ("S2", "HIGH")
    assert first.title.startswith("240,000 flushes of streams, 60,000 of each rank (")
    assert "S2" not in known.severities(flushed(2))


@pytest.mark.parametrize("path", ["/scratch/out.h5", "/scratch/out.data"])
def test_hdf5_jobs_that_spend_their_time_on_metadata_are_told_how_to_share_them(path: str) -> None:
    made = job(
        record("MPI-IO", path, COLL_OPENS=12, COLL_WRITES=8, BYTES_WRITTEN=GIB, F_WRITE_TIME=0.7, F_META_TIME=4.8,
               F_SLOWEST_RANK_TIME=1.4),
        shared("POSIX", 4, 4, path, OPENS=4, WRITES=8, BYTES_WRITTEN=GIB, F_WRITE_TIME=0.6, F_META_TIME=0.2),
        ranks=4, seconds=2,
    )  # fmt: skip
    found = {one.rule: one for one in diagnose(made).findings}
    assert ("M5" in found) == path.endswith(".h5")
    if "M5" in found:
        assert "H5Pset_all_coll_metadata_ops" in found["M5"].remedies["library"]
        assert found["M5"].saved_seconds == pytest.approx(4.8 * 2 / 3 / 4 / 2)  # without the first opens
    of_hdf5 = Record(f"{path}:/rho", SHARED, {"H5D_WRITES": 4}, {"H5D_F_WRITE_TIME": 0.8, "H5D_F_META_TIME": 4.0})
    made = replace(made, modules={**made.modules, "H5D": Module("H5D", [of_hdf5])})
    assert "M5" in known.severities(made)


@pytest.mark.parametrize("calls", [{"INDEP_WRITES": 8}, {"COLL_WRITES": 8, "VIEWS": 16}])
def test_to_open_a_file_and_the_views_of_hdf5_are_no_metadata_of_hdf5(calls: dict[str, Any]) -> None:
    made = job(
        record("MPI-IO", "/scratch/out.h5", COLL_OPENS=4, BYTES_WRITTEN=GIB, F_WRITE_TIME=2.4, F_META_TIME=4.8,
               F_SLOWEST_RANK_TIME=1.9, **calls),
        shared("POSIX", 4, 4, "/scratch/out.h5", OPENS=4, WRITES=8, BYTES_WRITTEN=GIB, F_WRITE_TIME=2.2),
        ranks=4, seconds=3,
    )  # fmt: skip
    assert diagnose(made).verdict.endswith("nothing is wrong with it: nothing to do.")


def hdf5_collective(each: int, late: float, profiled: bool = True) -> Job:
    """1000 collective writes of four ranks, EACH of so many bytes; 40 s of the mean rank in either view and in them."""
    sites = [
        FunctionTime("MPI_File_set_view", "MPI-IO", "H5FD__mpio_write", "h", 4000, 0, 0, seconds, seconds, 0, 1, "")
        for seconds in (20.0 + late, 20.0 - late)
    ]
    return job(
        record("MPI-IO", "/scratch/out.h5", COLL_OPENS=8, COLL_WRITES=4000, VIEWS=8000, BYTES_WRITTEN=1000 * each,
               F_WRITE_TIME=4 * 20, F_META_TIME=4 * 40, F_SLOWEST_RANK_TIME=61),
        shared("POSIX", 4, 4, "/scratch/out.h5", OPENS=4, WRITES=4000, BYTES_WRITTEN=1000 * each, F_WRITE_TIME=4 * 2),
        ranks=4, functions=tuple(sites) if profiled else (),
    )  # fmt: skip


def test_time_in_the_views_of_hdf5_has_a_name() -> None:
    first = diagnose(hdf5_collective(571, 0.5)).findings[0]
    assert (first.rule, first.severity) == ("M6", "HIGH")
    assert first.saved_seconds == pytest.approx(0.5 * (2 * 19.5 + 20 - 2))
    assert first.remedies["library"].startswith("HDF5: one dataset or attribute instead of many")
    (large,) = (one for one in diagnose(hdf5_collective(64 * MIB, 0.5)).findings if one.rule == "M6")
    assert large.saved_seconds == pytest.approx(0.5 * 2 * 19.5)  # without the accesses themselves
    assert "INDEPENDENT" in large.remedies["library"]
    assert "file views wait for no other rank" in first.remedies[UNCHANGED]
    # Who waits before the first view alone waits for a late rank.
    assert "M6" not in known.severities(hdf5_collective(64 * MIB, 19.9))
    (logged,) = (one for one in diagnose(hdf5_collective(64 * MIB, 0, False)).findings if one.rule == "M6")
    assert logged.saved_seconds == pytest.approx(0.5 * 40 * 8000 / 8008)


def test_large_binary_records_through_streams_are_no_text() -> None:
    def streamed(each: int) -> Job:
        calls = 40 * MIB // each
        return job(*(record("STDIO", f"/scratch/{i}", i, OPENS=1, WRITES=calls, BYTES_WRITTEN=40 * MIB, F_WRITE_TIME=30)
                     for i in range(4)), ranks=4)  # fmt: skip

    assert "S1" not in known.severities(streamed(4 * MIB))
    assert "S1" in known.severities(streamed(64))


def test_a_rank_that_syncs_alone_is_not_a_slow_target() -> None:
    made = job(
        *(record("POSIX", f"/scratch/{i}", i, OPENS=1, WRITES=40, BYTES_WRITTEN=40 * MIB, SEQ_WRITES=39,
                 FSYNCS=40 if i == 1 else 0, F_WRITE_TIME=60 if i == 1 else 3) for i in range(8)),
        ranks=8, mounts=(("/", "ext4"),),
    )  # fmt: skip
    first = diagnose(made).findings[0]
    assert (first.rule, first.title) == ("T2", "40 syncs, all of rank 1 (1)")
    assert "I2" not in known.severities(made)


def test_files_that_are_opened_for_each_write_are_in_order() -> None:
    made = job(*(record("POSIX", f"/scratch/{i}", i, OPENS=8000, WRITES=8000, BYTES_WRITTEN=8000 * 4096,
                        F_WRITE_TIME=40) for i in range(4)), ranks=4)  # fmt: skip
    assert "A5" not in known.severities(made)


def test_blocks_that_a_rank_fills_by_itself_are_not_shared() -> None:
    """IOR's blocks of 1 MiB in four transfers: three of four begin inside of a block, which is the rank's own."""
    made = job(
        shared("POSIX", 4, 4, OPENS=4, WRITES=128, BYTES_WRITTEN=32 * MIB, F_WRITE_TIME=4 * 50, SEQ_WRITES=124,
               CONSEC_WRITES=96, FILE_NOT_ALIGNED=96, FILE_ALIGNMENT=MIB), ranks=4,
    )  # fmt: skip
    assert "A6" not in known.severities(made)
    assert "library" not in diagnose(unaligned(4096, MIB + 13)).findings[0].remedies  # no HDF5 there


@pytest.mark.parametrize(("consecutive", "apart"), [(0, True), (31_000, False)])
def test_pieces_that_lie_apart_cannot_be_gathered(consecutive: int, apart: bool) -> None:
    made = job(
        shared("POSIX", 4, 4, WRITES=32_000, BYTES_WRITTEN=32_000 * 3001, F_WRITE_TIME=4 * 60, SEQ_WRITES=31_990,
               CONSEC_WRITES=consecutive, SIZE_WRITE_1K_10K=32_000), ranks=4,
    )  # fmt: skip
    (one,) = (each for each in diagnose(made).findings if each.rule == "A4")
    assert one.remedies["application"].startswith("a rank's pieces are not adjacent" if apart else "gather in memory")


@pytest.mark.parametrize(("each", "said"), [(49, "no flush after each line"), (8192, "a larger buffer (setvbuf")])
def test_a_larger_buffer_is_advised_only_where_a_buffer_gathers(each: int, said: str) -> None:
    made = job(*(record("POSIX", f"/scratch/{i}", i, OPENS=1, WRITES=40_000, BYTES_WRITTEN=40_000 * each,
                        F_WRITE_TIME=60, SEQ_WRITES=39_999, CONSEC_WRITES=39_999, SIZE_WRITE_1K_10K=40_000)
                 for i in range(4)), ranks=4)  # fmt: skip
    (one,) = (found for found in diagnose(made).findings if found.rule == "A4")
    assert said in one.remedies["application"]
    assert ("larger buffer" in one.remedies["application"]) == (each == 8192)
