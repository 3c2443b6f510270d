"""known_jobs.py: runs with a known defect, or with none, for the tests of the doctor."""

from typing import Any

from jobs import GIB, MIB, job, record, shared
from penstock.diagnose.diagnosis import diagnose
from penstock.jobs.job import Job


def first(made: Job) -> str:
    return diagnose(made).findings[0].rule


def severities(made: Job) -> dict[str, str]:
    return {one.rule: one.severity for one in diagnose(made).findings}


def independent_small_writes() -> Job:
    moved, calls = 64 * 20000 * 4096, 64 * 20000
    return job(
        record("MPI-IO", INDEP_WRITES=calls, BYTES_WRITTEN=moved, F_WRITE_TIME=64 * 50, F_SLOWEST_RANK_TIME=55,
               SIZE_WRITE_AGG_1K_10K=calls),
        shared("POSIX", 64, 64, WRITES=calls, BYTES_WRITTEN=moved, F_WRITE_TIME=64 * 48, SEQ_WRITES=calls,
               SIZE_WRITE_1K_10K=calls, ACCESS1_ACCESS=4096, ACCESS1_COUNT=calls),
    )  # fmt: skip


def sieving() -> Job:
    asked = 16 * MIB
    return job(
        record("MPI-IO", INDEP_WRITES=640, BYTES_WRITTEN=asked, F_WRITE_TIME=64 * 40, F_SLOWEST_RANK_TIME=42),
        shared("POSIX", 64, 64, WRITES=640, READS=640, BYTES_WRITTEN=127 * MIB, BYTES_READ=127 * MIB, RW_SWITCHES=640,
               F_WRITE_TIME=64 * 18, F_READ_TIME=64 * 20, SEQ_WRITES=640, SEQ_READS=640, MAX_BYTE_READ=200 * MIB),
    )  # fmt: skip


def rank_0_only() -> Job:
    return job(
        record("POSIX", rank=0, WRITES=8192, BYTES_WRITTEN=8 * GIB, SEQ_WRITES=8192, F_WRITE_TIME=40, OPENS=1,
               SIZE_WRITE_100K_1M=8192, ACCESS1_ACCESS=MIB, ACCESS1_COUNT=8192),
    )  # fmt: skip


def read_by_all() -> Job:
    size = 200 * MIB
    return job(
        shared("POSIX", 64, 64, READS=64 * 200, BYTES_READ=64 * size, MAX_BYTE_READ=size - 1, SEQ_READS=64 * 200,
               F_READ_TIME=64 * 30, SIZE_READ_100K_1M=64 * 200, ACCESS1_ACCESS=MIB, ACCESS1_COUNT=64 * 200, OPENS=64),
    )  # fmt: skip


def metadata_storm() -> Job:
    return job(
        *(
            record("POSIX", f"/scratch/{i}", i % 64, OPENS=10, STATS=30, READS=10, BYTES_READ=1000, SEQ_READS=10,
                   F_META_TIME=1.5, F_READ_TIME=0.01)
            for i in range(64 * 20)
        )
    )  # fmt: skip


def one_aggregator(**more: Any) -> Job:
    moved = 50 * GIB
    return job(
        record("MPI-IO", COLL_WRITES=64 * 10, BYTES_WRITTEN=moved, F_WRITE_TIME=64 * 60, F_SLOWEST_RANK_TIME=61,
               SIZE_WRITE_AGG_10M_100M=640, VIEWS=640),
        shared("POSIX", 64, 1, WRITES=50 * 1024, BYTES_WRITTEN=moved, F_WRITE_TIME=55, SEQ_WRITES=50 * 1024,
               SIZE_WRITE_100K_1M=50 * 1024, ACCESS1_ACCESS=MIB, ACCESS1_COUNT=50 * 1024),
        **more,
    )  # fmt: skip


def slow_target() -> Job:
    stripes = {f"/scratch/{i}": (1, MIB, (7 if i in (3, 9) else i % 6,)) for i in range(64)}
    return job(
        *(
            record("POSIX", f"/scratch/{i}", i, WRITES=256, BYTES_WRITTEN=256 * MIB, SEQ_WRITES=256, OPENS=1,
                   F_WRITE_TIME=45.0 if i in (3, 9) else 4.0, SIZE_WRITE_100K_1M=256, ACCESS1_ACCESS=MIB,
                   ACCESS1_COUNT=256)
            for i in range(64)
        ),
        stripes=stripes,
    )  # fmt: skip


def healthy() -> Job:
    """Collective, aligned, on all stripes, and fast: four aggregators are at work as long as everybody waits."""
    moved = 400 * GIB
    calls = moved // (4 * MIB)
    return job(
        record("MPI-IO", COLL_WRITES=64 * 100, BYTES_WRITTEN=moved, F_WRITE_TIME=64 * 22, F_SLOWEST_RANK_TIME=23,
               SIZE_WRITE_AGG_10M_100M=6400, VIEWS=6400),
        shared("POSIX", 64, 16, WRITES=calls, BYTES_WRITTEN=moved, F_WRITE_TIME=16 * 20, SEQ_WRITES=calls,
               SIZE_WRITE_1M_4M=calls, ACCESS1_ACCESS=4 * MIB, ACCESS1_COUNT=calls, OPENS=16,
               F_MAX_WRITE_TIME=0.1),
        stripes={"/scratch/out": (16, 4 * MIB, tuple(range(16)))},
    )  # fmt: skip


def crowded(hosts: dict[int, str], **more: Any) -> Job:
    each = [
        record("POSIX", path=f"/scratch/{rank}", rank=rank, OPENS=1, WRITES=8, BYTES_WRITTEN=1 << 30, F_WRITE_TIME=40.0)
        for rank in range(16)
    ]
    return job(*each, ranks=16, hosts=hosts, **more)


def sieved() -> Job:
    """16 MiB in stripes of eight ranks, collective buffering off: as ROMIO makes 127 MiB of it."""
    return job(
        record("MPI-IO", COLL_WRITES=8, VIEWS=8, COLL_OPENS=8, BYTES_WRITTEN=16 * MIB, F_WRITE_TIME=8 * 0.9,
               F_META_TIME=0.1, F_SLOWEST_RANK_TIME=1.0, SIZE_WRITE_AGG_1M_4M=8),
        shared("POSIX", 8, 8, OPENS=8, WRITES=253, READS=253, BYTES_WRITTEN=127 * MIB, BYTES_READ=127 * MIB,
               RW_SWITCHES=500, F_WRITE_TIME=8 * 0.4, F_READ_TIME=8 * 0.35, SEQ_WRITES=245, SEQ_READS=245,
               CONSEC_WRITES=245, CONSEC_READS=245, MAX_BYTE_READ=16 * MIB - 1, MAX_BYTE_WRITTEN=16 * MIB - 1,
               SIZE_WRITE_100K_1M=253, SIZE_READ_100K_1M=253, ACCESS1_ACCESS=524288, ACCESS1_COUNT=506),
        ranks=8, seconds=2.0, mounts=(),
    )  # fmt: skip
