"""recorded.py: what a run did to its files, as a pattern: all its reads or writes, in the order of time."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from penstock.base import words
from penstock.base.errors import UserError
from penstock.diagnose.replay.steps import READ, Steps, Variant, joined, nothing, steps
from penstock.jobs.job import Job, Segments, Step, Traced

LONGEST = (1 << 31) - 1  # bytes of a step


@dataclass(frozen=True)
class Recorded:
    """WHAT was recorded. GATHERED: MPI-IO moved data between the ranks first, so whose it was is not recorded."""

    variant: Variant
    what: str
    gathered: bool


def recorded(job: Job, act: int) -> Recorded:
    """The accesses of JOB's largest commit or read of Penstock's; of all its run if it has none."""
    operation = "read" if act == READ else "write"
    largest = max(
        (step for step in job.steps if step.operation == operation), key=lambda step: step.bytes, default=None
    )
    of_ranks = _steps(job, act, largest)
    if largest is not None and not of_ranks:
        largest, of_ranks = None, _steps(job, act, None)
    if not of_ranks:
        raise UserError(f"{job.source}: it has no single {operation}s: of Darshan's logs those with DXT have")
    ordered = [of_ranks.get(rank, nothing()) for rank in range(max(job.ranks, max(of_ranks) + 1))]
    variant = Variant("recorded", ordered)
    what = f"all {operation}s of the run" if largest is None else f"the {operation} that moved most"
    what += f": {words.size(variant.bytes)} in {words.count(sum(map(len, ordered)), 'call', 'calls')} of {job.source}"
    if "POSIX" in job.partial or job.modules["POSIX"].partial or job.traced_trouble():
        what += "; the log does not have all"
    return Recorded(variant, what, _is_gathered(job, operation))


def _steps(job: Job, act: int, within: Step | None) -> dict[int, Steps]:
    """By rank; files have numbers in the order of their names."""
    found = [(one, chosen) for one in job.traced() if len(chosen := _chosen(one, act, within))]
    number = {path: at for at, path in enumerate(sorted({one.path for one, _ in found}))}
    made: dict[int, list[Steps]] = {}
    times: dict[int, list[npt.NDArray[np.float64]]] = {}
    for one, chosen in found:
        for part in _parts(chosen):
            made.setdefault(one.rank, []).append(steps(act, part["offset"], part["length"], number[one.path]))
            times.setdefault(one.rank, []).append(part["start"].astype(np.float64))
    order = {rank: np.argsort(np.concatenate(of_rank), kind="stable") for rank, of_rank in times.items()}
    return {rank: joined(joined(*of_rank)[order[rank]]) for rank, of_rank in made.items()}


def _chosen(one: Traced, act: int, within: Step | None) -> Segments:
    segments = one.reads if act == READ else one.writes
    if one.module != "POSIX":
        return segments[:0]
    moved = segments[(segments["length"] > 0) & (segments["offset"] >= 0)]
    if within is None:
        return moved
    return moved[(moved["start"] >= within.start) & (moved["start"] <= within.start + within.seconds)]


def _parts(segments: Segments) -> Iterator[Segments]:
    """In steps that a pattern can have."""
    while len(segments):
        part = segments.copy()
        part["length"] = np.minimum(part["length"], LONGEST)
        yield part
        rest = segments.copy()
        rest["offset"] += part["length"]
        rest["length"] -= part["length"]
        segments = rest[rest["length"] > 0]


def _is_gathered(job: Job, operation: str) -> bool:
    verb = "READS" if operation == "read" else "WRITES"
    mpi = job.modules.get("MPI-IO")
    return mpi is not None and any(mpi.total(f"MPIIO_{kind}_{verb}") > 0 for kind in ("COLL", "SPLIT"))
