"""records.py: the ranks' counts of one file as Darshan's records: one of all ranks where all used it."""

import statistics
from collections.abc import Iterator

from penstock.jobs.job import SHARED, Record
from penstock.jobs.trace.counters import Counts


def records_of(path: str, by_rank: dict[int, Counts], ranks: int, alignment: int) -> Iterator[Record]:
    if len(by_rank) < ranks or ranks == 1:
        for rank, counts in sorted(by_rank.items()):
            yield _record(path, rank, counts, [counts], alignment)
        return
    each = [by_rank[rank] for rank in sorted(by_rank)]
    whole = Counts(each[0].module, SHARED)
    for counts in each:
        whole.merge(counts)
    yield _record(path, SHARED, whole, each, alignment)


def _record(path: str, rank: int, counts: Counts, each: list[Counts], alignment: int) -> Record:
    counters, times = counts.counters(alignment), counts.times()
    fastest = min(each, key=lambda one: (one.seconds, one.rank))
    slowest = max(each, key=lambda one: (one.seconds, -one.rank))
    name = counts.module
    counters |= {
        f"{name}_FASTEST_RANK": fastest.rank,
        f"{name}_FASTEST_RANK_BYTES": fastest.bytes,
        f"{name}_SLOWEST_RANK": slowest.rank,
        f"{name}_SLOWEST_RANK_BYTES": slowest.bytes,
    }
    shared = len(each) > 1
    times |= {
        f"{name}_F_FASTEST_RANK_TIME": fastest.seconds,
        f"{name}_F_SLOWEST_RANK_TIME": slowest.seconds,
        f"{name}_F_VARIANCE_RANK_TIME": statistics.pvariance(one.seconds for one in each) if shared else 0.0,
        f"{name}_F_VARIANCE_RANK_BYTES": statistics.pvariance(float(one.bytes) for one in each) if shared else 0.0,
    }
    return Record(path, rank, counters, times)
