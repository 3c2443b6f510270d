"""arrivals.py: when each rank came to each collective call, where a log has every access: whom the others wait for."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from penstock.jobs.job import Job

MOST_CALLS = 10_000_000  # of all ranks, whose times are kept


@dataclass(frozen=True)
class Waits:
    """The seconds that the mean rank waits in the collective calls of one file, keyed by the rank that comes last."""

    by_last: Mapping[int, float]

    @property
    def seconds(self) -> float:
        return sum(self.by_last.values())


def waits(job: Job, calls: Mapping[str, int]) -> dict[str, Waits]:
    """Returns, for each path in CALLS, how long the ranks wait for one another in collective calls. CALLS maps each
    path to the number of calls that every rank makes. The result leaves out a file if the log has another number of
    accesses for some rank. It is empty if the log traces no accesses, or there are too many calls.
    """
    if not job.has_traced or sum(calls.values()) * job.ranks > MOST_CALLS:
        return {}
    found: dict[str, dict[int, list[npt.NDArray[np.float64]]]] = {path: {} for path in calls}
    for one in job.traced():
        if one.module == "MPI-IO" and one.path in found:
            for segments in (one.reads, one.writes):
                times = np.stack([segments["start"], segments["end"]], axis=1).astype(np.float64)
                found[one.path].setdefault(one.rank, []).append(times)
    made = {}
    for path, by_rank in found.items():
        each = [np.concatenate(parts) for _, parts in sorted(by_rank.items())]
        if len(each) == job.ranks > 1 and all(len(times) == calls[path] for times in each):
            made[path] = _of(np.stack([times[np.argsort(times[:, 0], kind="stable")] for times in each]))
    return made


def _of(times: npt.NDArray[np.float64]) -> Waits:
    """TIMES are [rank, call, (start, end)]. How far a rank's clock is from that of rank 0 is taken off first: with it
    goes the waiting for a rank that is always late, which counters tell.
    """
    starts = times[:, :, 0]
    times = times - np.median(starts - starts[0], axis=1)[:, None, None]
    last = times[:, :, 0].argmax(axis=0)
    until = np.minimum(times[:, :, 0].max(axis=0), times[:, :, 1])
    waited = np.maximum(until - times[:, :, 0], 0).mean(axis=0)
    return Waits({int(rank): float(waited[last == rank].sum()) for rank in np.unique(last)})
