"""other.py: rules about time-outs, syncs, text, flushes, hints and computing that could have gone on."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from penstock.diagnose.facts import DATA, MIB, STREAMS, Facts, Use
from penstock.diagnose.finding import Evidence, Finding
from penstock.diagnose.rules.collective import written_below
from penstock.diagnose.rules.common import found, names, share, size, times

LITTLE = 0.1  # of the run
FAST = 0.3  # of the ceiling: LRZ looks on below that
MANY = 10  # syncs or flushes of each rank
LONG = 100  # the longest access over the mean one


def time_outs(facts: Facts) -> Iterator[Finding]:
    """T1: an access far longer than the others."""
    posix = facts.posix
    calls = float((posix.of("READS") + posix.of("WRITES")).sum())
    longest = np.maximum(posix.most("F_MAX_READ_TIME"), posix.most("F_MAX_WRITE_TIME"))
    if calls < 10:
        return
    mean = float((posix.of("F_READ_TIME") + posix.of("F_WRITE_TIME")).sum()) / calls
    worst = int(longest.argmax())
    if mean <= 0 or longest[worst] <= LONG * mean or longest[worst] < max(1.0, 0.005 * facts.seconds):
        return
    yield found(
        facts,
        "T1",
        f"One access took {longest[worst]:.3g} s, {longest[worst] / mean:.3g} times the mean one "
        f"({names([posix.paths[worst]])})",
        float(longest[worst]) - mean,
        [
            Evidence("POSIX_F_MAX_READ_TIME, _MAX_WRITE_TIME", round(float(longest[worst]), 3), "seconds"),
            Evidence("mean access", float(f"{mean:.3g}"), "seconds"),
        ],
        files=[posix.paths[worst]],
        calls=DATA,
        confidence=0.5,
        longest=float(longest[worst]),
        mean=mean,
    )


def _whose(use: Use, counters: tuple[str, ...]) -> list[int]:
    """The ranks that make such calls: all where a record is shared, at least one."""
    shared = use.rows.ranks < 0
    if any(float(use.raw(name)[shared].sum()) > 0 for name in counters):
        return list(range(use.ranks))
    return [int(rank) for rank in np.flatnonzero(use.by_rank(counters) > 0)] or [0]


def _of_each(facts: Facts, total: float, whose: list[int]) -> str:
    if facts.ranks == 1:
        return ""
    if len(whose) == 1:
        return f", all of rank {whose[0]}"
    each = times(total / len(whose))
    return f", {each} of each rank" if len(whose) == facts.ranks else f", {each} of each of {len(whose)} ranks"


def syncs(facts: Facts) -> Iterator[Finding]:
    """T2: many syncs of each rank, whose time Darshan has among that of writing."""
    posix = facts.posix
    count = posix.of("FSYNCS") + posix.of("FDSYNCS")
    total, whose = float(count.sum()), _whose(posix, ("FSYNCS", "FDSYNCS"))
    if total < MANY * len(whose):
        return
    order = [int(i) for i in np.argsort(-count, kind="stable") if count[i] > 0]
    paths = [posix.paths[i] for i in order]
    each_write = total >= 0.5 * float(posix.of("WRITES")[order].sum())
    yield found(
        facts,
        "T2",
        f"{times(total)} syncs{_of_each(facts, total, whose)} ({names(paths)})",
        posix.busiest(("WRITE",), paths) * (0.7 if each_write else 0.3),
        [
            Evidence("POSIX_FSYNCS + _FDSYNCS", int(total), "calls"),
            Evidence("POSIX_WRITES", int(posix.of("WRITES")[order].sum()), "of the same files"),
            Evidence("POSIX_F_WRITE_TIME", round(float(posix.of("F_WRITE_TIME")[order].sum()), 3), "s of all ranks"),
        ],
        files=paths,
        calls=("WRITE",),
        confidence=0.6 if each_write else 0.4,
        count=times(total),
    )


def flushes(facts: Facts) -> Iterator[Finding]:
    """S2: the C library's streams are flushed again and again, so that their buffers gather nothing."""
    stdio = facts.stdio
    count = stdio.of("FLUSHES")
    total, whose = float(count.sum()), _whose(stdio, ("FLUSHES",))
    if total < MANY * len(whose):
        return
    order = [int(i) for i in np.argsort(-count, kind="stable") if count[i] > 0]
    paths = [stdio.paths[i] for i in order]
    writes = float(stdio.of("WRITES")[order].sum())
    yield found(
        facts,
        "S2",
        f"{times(total)} flushes of streams{_of_each(facts, total, whose)} ({names(paths)})",
        stdio.busiest(("WRITE",), paths) * 0.9 * min(1.0, total / max(writes, 1.0)),
        [
            Evidence("STDIO_FLUSHES", int(total), "calls"),
            Evidence("STDIO_WRITES", int(writes), "of the same files"),
            Evidence("STDIO_F_WRITE_TIME", round(float(stdio.of("F_WRITE_TIME")[order].sum()), 3), "s of all ranks"),
        ],
        files=paths,
        calls=("WRITE",),
        module="STDIO",
        each=max(writes, 1.0) / total,
    )


def text(facts: Facts) -> Iterator[Finding]:
    """S1: a good part of the bytes or of the time goes through the C library's streams."""
    stdio, posix = facts.stdio, facts.posix
    each = (stdio.of("BYTES_READ") + stdio.of("BYTES_WRITTEN")) / np.maximum(stdio.of("READS") + stdio.of("WRITES"), 1)
    # A MiB and more at a time goes past the streams' buffers.
    files = np.array([path not in STREAMS for path in stdio.paths], bool) & (each < MIB)
    moved = (stdio.of("BYTES_READ") + stdio.of("BYTES_WRITTEN"))[files]
    others = float((posix.of("BYTES_READ") + posix.of("BYTES_WRITTEN")).sum())
    layer = stdio.layer(files)
    if layer is None or float(moved.sum()) < MIB:
        return
    seconds = min(max(layer.mean_share, layer.slowest_share), facts.seconds)
    by_bytes = float(moved.sum()) >= 0.1 * (others + float(moved.sum()))
    by_time = seconds >= 0.1 * facts.io_seconds
    if not (by_bytes or by_time):
        return
    calls = float((stdio.of("READS") + stdio.of("WRITES"))[files].sum())
    paths = [path for path, one in zip(stdio.paths, files, strict=True) if one]
    order = np.argsort(-moved, kind="stable")
    yield found(
        facts,
        "S1",
        f"{size(float(moved.sum()))} through stdio, {seconds:.3g} s of the slowest rank "
        f"({names(paths[i] for i in order)})",
        seconds * 0.7,
        [
            Evidence("STDIO_BYTES_READ + _BYTES_WRITTEN", int(moved.sum()), "bytes"),
            Evidence("STDIO_READS + _WRITES", int(calls), "calls"),
            Evidence("STDIO_F_READ_TIME + _WRITE_TIME + _META_TIME", round(seconds, 3), "of the slowest rank"),
        ],
        files=[paths[i] for i in order],
        module="STDIO",
        mean=size(float(moved.sum()) / max(calls, 1)),
        together=", by all ranks together" if facts.ranks > 1 else "",
    )


def hints(facts: Facts) -> Iterator[Finding]:
    """H1: a hint that was not taken. Only traces of ours know both sides; Darshan's hints are of its own log."""
    told: set[str] = set()
    for step in facts.job.steps:
        for hint, asked in step.hints_requested.items():
            used = step.hints_effective.get(hint, "")
            if used == asked or hint in told:
                continue
            told.add(hint)
            advice = (
                "the library does not know it, or was not given it: penstock hints lists its names"
                if not used
                else "ask for a value that it can take, or another library"
            )
            yield found(
                facts,
                "H1",
                f"{hint}={asked} was asked for, {used or 'nothing'} is used",
                0.0,
                [Evidence(hint, asked, "requested"), Evidence(hint, used or "-", "effective")],
                files=[step.path],
                confidence=0.9,
                hint=hint,
                asked=asked,
                used=used or "nothing",
                advice=advice,
            )


def overlap(facts: Facts) -> Iterator[Finding]:
    """O1: writes in bursts with computing between, and nothing in the background."""
    mpi = facts.mpi
    background = float((mpi.of("NB_READS") + mpi.of("NB_WRITES") + mpi.of("SPLIT_WRITES")).sum())
    written = [one for one in facts.bursts if one.written > one.read]
    if len(written) < 3 or background > 0 or facts.outermost.share < 0.1:
        return
    gaps = [b.start - a.end for a, b in pairwise(written)]
    each = float(np.median([one.end - one.start for one in written]))
    gap = float(np.median(gaps))
    if gap < 0.5 * each or gap <= 0:
        return
    # A burst is as long as its bins of the heat map, which may be far longer than its writing.
    part = _writing(facts) / sum(one.written for one in written)
    saved = sum(min(one.end - one.start, part * one.written, after) for one, after in zip(written, gaps, strict=False))
    yield found(
        facts,
        "O1",
        f"{len(written)} bursts of writing, {gap:.3g} s apart, and nothing is written in the background",
        saved * 0.8,
        [
            Evidence("bursts", len(written), f"{each:.3g} s each in the median"),
            Evidence("between them", round(gap, 3), "seconds in the median"),
            Evidence("MPIIO_NB_WRITES", int(background), "non-blocking calls"),
            Evidence("share of the run", share(facts.outermost.share)),
        ],
        calls=("WRITE",),
        module="",
        confidence=0.5,
        bursts=len(written),
        each=each,
        gap=gap,
    )


def _writing(facts: Facts) -> float:
    """Seconds of the busiest rank in which the file system takes what it writes. MPI-IO's own are those without the
    waiting for late ranks, and count for files of which POSIX has not the bytes.
    """
    mpi = facts.mpi
    above = [i for i in range(len(mpi)) if not written_below(facts, i)]
    waited = sum(max(0.0, mpi.mean(i, ("WRITE",)) - facts.late(i)) for i in above)
    return facts.posix.busiest(("WRITE",)) + facts.stdio.busiest(("WRITE",)) + waited


def near_the_ceiling(facts: Facts) -> Iterator[Finding]:
    """G3: as fast as the file system gives; what is left to gain is to move less."""
    outer = facts.outermost
    seconds = outer.slowest_share * facts.seconds
    if facts.ceiling is None or seconds <= 0 or outer.share < LITTLE:
        return
    rate = (outer.read_bytes + outer.written_bytes) / seconds
    if rate < FAST * facts.ceiling:
        return
    yield found(
        facts,
        "G3",
        f"{size(rate)}/s are {share(rate / facts.ceiling)} of what the file system gives",
        0.0,
        [
            Evidence("bytes", outer.read_bytes + outer.written_bytes, outer.module),
            Evidence("slowest rank", float(f"{seconds:.4g}"), "seconds"),
            Evidence("--ceiling", float(f"{facts.ceiling:.4g}"), "bytes a second"),
        ],
        confidence=0.6,
    )


RULES = (near_the_ceiling, time_outs, syncs, text, flushes, hints, overlap)
