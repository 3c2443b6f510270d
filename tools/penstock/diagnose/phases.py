"""phases.py: bursts of I/O: when, how many bytes, how much of all, which ranks and files."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from penstock.jobs.job import Heat, Job

BINS = 2000  # of a time line made from accesses
STEADY = 10  # bins of one kind on either side of where reading turns into writing
QUIET = 0.01  # of the run time: a shorter pause does not end a burst


@dataclass
class Burst:
    start: float  # seconds from the start of the run
    end: float
    read: int  # bytes
    written: int
    weight: float = 0.0  # its part of the time of all bursts
    ranks: tuple[int, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def bytes(self) -> int:
        return self.read + self.written


@dataclass
class TimeLine:
    """Bytes by [rank, bin] of WIDTH seconds, and the files that each bin touches, where accesses are known."""

    width: float
    read: npt.NDArray[np.float64]
    written: npt.NDArray[np.float64]
    exact: bool  # from accesses, else from a heat map
    files: dict[str, tuple[float, float]] = field(default_factory=dict)  # first and last second


def bursts(line: TimeLine | None, seconds: float) -> list[Burst]:
    """Returns the bursts of I/O in a run of SECONDS, in order of time; none if LINE is None."""
    return [] if line is None else list(_cut(line, seconds))


def time_line(job: Job) -> TimeLine | None:
    """Returns the bytes over time, from traced accesses to POSIX, else to MPI-IO, else from a heat map; None if the log
    has none of these.
    """
    if job.has_traced and (line := _from_accesses(job)) is not None:
        return line
    heat = next((job.heat[name] for name in ("POSIX", "MPIIO", "MPI-IO", "STDIO") if name in job.heat), None)
    return None if heat is None else _from_heat(heat)


def _from_heat(heat: Heat) -> TimeLine:
    return TimeLine(heat.width, heat.read.astype(np.float64), heat.written.astype(np.float64), False)


def _from_accesses(job: Job) -> TimeLine | None:
    """An access's bytes are spread evenly over its time."""
    bins = BINS if job.ranks <= 4096 else 200
    width = job.seconds / bins
    kept = {name: (np.zeros((job.ranks, bins)), np.zeros((job.ranks, bins))) for name in ("POSIX", "MPI-IO")}
    files: dict[str, tuple[float, float]] = {}
    for one in job.traced():
        if one.module not in kept or not 0 <= one.rank < job.ranks:
            continue
        for segments, into in ((one.reads, kept[one.module][0]), (one.writes, kept[one.module][1])):
            if len(segments):
                _spread(segments, into[one.rank], width, bins)
                first, last = float(segments["start"].min()), float(segments["end"].max())
                before = files.get(one.path, (first, last))
                files[one.path] = (min(first, before[0]), max(last, before[1]))
    read, written = next((pair for pair in kept.values() if pair[0].any() or pair[1].any()), (None, None))
    return None if read is None or written is None else TimeLine(width, read, written, True, files)


def _spread(segments: npt.NDArray[np.void], into: npt.NDArray[np.float64], width: float, bins: int) -> None:
    first = np.clip((segments["start"] / width).astype(np.int64), 0, bins - 1)
    last = np.clip((np.maximum(segments["end"], segments["start"]) / width).astype(np.int64), 0, bins - 1)
    last = np.maximum(first, last)
    each = np.maximum(segments["length"], 0) / (last - first + 1)
    steps = np.zeros(bins + 1)
    np.add.at(steps, first, each)
    np.add.at(steps, last + 1, -each)
    into += np.maximum(np.cumsum(steps[:-1]), 0)


def _cut(line: TimeLine, seconds: float) -> Iterator[Burst]:
    busy = np.flatnonzero((line.read + line.written).sum(axis=0) > 0.5)
    if len(busy) == 0:
        return
    pause = max(2, int(np.ceil(QUIET * seconds / line.width)))
    writes = (line.written.sum(axis=0) > line.read.sum(axis=0))[busy]
    turns = [int(at) for at in np.flatnonzero(np.diff(writes)) + 1 if _stays(writes, int(at))]
    pauses = [int(at) for at in np.flatnonzero(np.diff(busy) > pause) + 1]
    groups = np.split(busy, sorted({*pauses, *turns}))
    found = [_burst(line, int(group[0]), int(group[-1])) for group in groups]
    whole = sum(one.end - one.start for one in found)
    for one in found:
        one.weight = (one.end - one.start) / whole
    yield from found


def _stays(writes: npt.NDArray[np.bool_], at: int) -> bool:
    """Whether from AT on it is mostly writing, or mostly reading, where before it mostly was not."""
    before, after = writes[max(0, at - STEADY) : at], writes[at : at + STEADY]
    return min(len(before), len(after)) >= STEADY // 2 and abs(float(before.mean()) - float(after.mean())) > 0.8


def _burst(line: TimeLine, first: int, last: int) -> Burst:
    read, written = line.read[:, first : last + 1], line.written[:, first : last + 1]
    start, end = first * line.width, (last + 1) * line.width
    ranks = np.flatnonzero((read + written).sum(axis=1) > 0.5)
    files = [path for path, (begin, over) in line.files.items() if begin < end and over >= start]
    return Burst(
        start,
        end,
        round(float(read.sum())),
        round(float(written.sum())),
        ranks=tuple(ranks.tolist()),
        files=tuple(files),
    )
