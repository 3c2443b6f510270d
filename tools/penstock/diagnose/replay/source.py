"""source.py: the accesses of one file, each as logged or made up from counters; cut to what can be replayed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from penstock.base.words import count
from penstock.diagnose.facts import Facts, Use
from penstock.diagnose.replay.steps import READ, WRITE, Steps, joined, nothing, steps
from penstock.diagnose.rules.sieved import is_buffered

PIECE = 8 << 10  # bytes of a piece where neither counters nor accesses say it


@dataclass(frozen=True)
class Most:
    """How much of a pattern is played, of all ranks in one way."""

    bytes: int = 128 << 20
    steps: int = 40_000

    def part(self, scale: float) -> "Most":
        return Most(max(1 << 20, round(self.bytes * scale)), max(64, round(self.steps * scale)))


FULL = Most()


@dataclass(frozen=True)
class Holes:
    """An interleaved pattern: a rank owns one in STRIDE pieces of PIECE bytes. The others belong to other ranks; where
    NOBODYS is set, nobody touches them.
    """

    piece: int
    stride: int
    nobodys: bool


@dataclass(frozen=True)
class Source:
    steps: Sequence[Steps]  # [rank]
    exact: bool  # each as logged
    views: bool = False
    note: str = ""  # what was assumed, or left out


def logged(facts: Facts, module: str, path: str, ranks: int, limit: Most) -> Source | None:
    """The first accesses of the first ranks that have any, in the order of time; None where the log has none."""
    if not facts.job.has_traced or module in facts.partial:
        return None
    found: dict[int, list[Steps]] = {}
    times: dict[int, list[npt.NDArray[np.float64]]] = {}
    for one in facts.job.traced():
        if (one.module, one.path) != (module, path) or (one.rank not in found and len(found) >= ranks):
            continue
        for act, segments in ((READ, one.reads), (WRITE, one.writes)):
            found.setdefault(one.rank, []).append(steps(act, segments["offset"], segments["length"]))
            times.setdefault(one.rank, []).append(segments["start"].astype(np.float64))
    ordered = []
    for rank in sorted(found):
        every = joined(*found[rank])
        of_rank = every[np.argsort(np.concatenate(times[rank]), kind="stable")]
        ordered.append(joined(of_rank[(of_rank["length"] > 0) & (of_rank["offset"] >= 0)]))
    whole = sum(len(one) for one in ordered)
    if whole == 0:
        return None
    kept = _cut(ordered, limit)
    left = whole - sum(len(one) for one in kept)
    told = f"{len(kept)} of {facts.ranks} ranks" if len(kept) < facts.ranks else ""
    told += f"{', ' if told else ''}the first {whole - left} of {whole} accesses" if left else ""
    return Source(kept, True, note=told)


def _cut(of: Sequence[Steps], limit: Most) -> list[Steps]:
    """The same number of each rank's first accesses, so that neighbours stay neighbours, within the limits."""
    most = max(len(one) for one in of)
    low, high = 1, most
    while low < high:
        middle = (low + high + 1) // 2
        parts = [one[:middle] for one in of]
        if sum(int(p["length"].sum()) for p in parts) <= limit.bytes and sum(map(len, parts)) <= limit.steps:
            low = middle
        else:
            high = middle - 1
    return [one[:low] for one in of]


def verb_of(use: Use, i: int) -> str:
    """What takes most of the time in file I."""
    return "READ" if use.of("F_READ_TIME")[i] > use.of("F_WRITE_TIME")[i] else "WRITE"


def of_mpi(facts: Facts, path: str, verb: str, ranks: int, limit: Most) -> Source:
    """Calls of MPI-IO, as many and as long as the log's in the mean; with holes where more was moved than asked for."""
    mpi, posix = facts.mpi, facts.posix
    i = mpi.index(path)
    assert i is not None
    at = posix.index(path)
    calls = sum(float(mpi.of(f"{kind}_{verb}S")[i]) for kind in ("INDEP", "COLL", "SPLIT", "NB"))
    each = max(1, int(float(mpi.of(f"BYTES_{'READ' if verb == 'READ' else 'WRITTEN'}")[i]) / max(calls, 1)))
    of_rank = max(1, round(calls / ranks))
    each = min(each, max(1, limit.bytes // ranks))
    of_rank = max(1, min(of_rank, limit.bytes // (ranks * each), limit.steps // ranks))
    act = READ if verb == "READ" else WRITE
    word = "BYTES_READ" if verb == "READ" else "BYTES_WRITTEN"
    moved = 0.0 if at is None else float(posix.of(word)[at])
    amplified = moved / max(1.0, float(mpi.of(word)[i]))
    if amplified > 1.2:
        found = piece_of(facts, path)
        stride, nobodys = max(2, round(amplified)), is_buffered(facts, path)
        piece = PIECE if found is None else max(1, found // stride) if nobodys else found
        if each >= 2 * piece:
            made_up = _with_holes(act, each // piece * piece, of_rank, ranks, Holes(piece, stride, nobodys), limit)
            how = "are assumed" if found is None else "lie in the log so far apart"
            return replace(made_up, note=f"{made_up.note} {how}")
    extent = 0.0 if at is None else float(posix.most(f"MAX_BYTE_{'READ' if verb == 'READ' else 'WRITTEN'}")[at]) + 1
    same = verb == "READ" and extent > 0 and float(mpi.of(word)[i]) > 1.5 * extent
    # Of a collective file the consecutive accesses are the aggregators', not those of the ranks' pieces.
    alone = at is not None and not mpi.collective[i]
    in_blocks = alone and float(posix.of(f"CONSEC_{verb}S")[at]) > 0.5 * float(posix.of(f"{verb}S")[at])
    number = np.arange(of_rank)
    made = []
    for rank in range(ranks):
        place = number if same else rank * of_rank + number if in_blocks else number * ranks + rank
        made.append(steps(act, place * each, each))
    how = "the same" if same else "one stretch" if in_blocks else "in turn with the others"
    return Source(made, False, note=f"{_of_each(ranks, of_rank)} of {each} bytes each, {how}")


def piece_of(facts: Facts, path: str) -> int | None:
    """How far apart in a file its ranks begin, by the log's accesses: those that write in turn have a piece each. None
    where there are no accesses, or they do not say it.
    """
    if not facts.job.has_traced:
        return None
    firsts: dict[str, dict[int, tuple[float, int]]] = {"MPI-IO": {}, "POSIX": {}}
    for one in facts.job.traced():
        if one.path != path or one.module not in firsts:
            continue
        for segments in (one.reads, one.writes):
            if len(segments):
                earliest = segments[int(segments["start"].argmin())]
                mine = (float(earliest["start"]), int(earliest["offset"]))
                firsts[one.module][one.rank] = min(mine, firsts[one.module].get(one.rank, mine))
    for of_rank in firsts.values():
        places = sorted({offset for _, offset in of_rank.values()})
        gaps = [int(gap) for gap in np.diff(places)]
        if len(gaps) >= 2 and 2 * gaps.count(min(gaps)) >= len(gaps):
            return min(gaps)
    return None


def _with_holes(act: int, each: int, of_rank: int, ranks: int, holes: Holes, limit: Most) -> Source:
    """Pieces with HOLES between them: what data sieving makes so much more of."""
    piece, stride = holes.piece, holes.stride
    pieces = each // piece
    while of_rank * pieces * ranks > limit.steps and of_rank > 1:
        of_rank //= 2
    pieces = max(1, min(pieces, limit.steps // (of_rank * ranks)))
    groups = -(-ranks // stride)
    made = []
    for rank in range(ranks):
        group, place = divmod(rank, stride)
        call, number = (one.ravel() for one in np.meshgrid(np.arange(of_rank), np.arange(pieces), indexing="ij"))
        at = ((call * groups + group) * pieces + number) * stride + place
        if holes.nobodys:
            at = ((call * pieces + number) * ranks + rank) * stride
        offset = at * piece
        one = steps(act, offset, np.full(len(offset), piece))
        one["call"] = call
        made.append(one)
    told = f"{_of_each(ranks, of_rank)} of {count(pieces, 'piece', 'pieces')} each"
    told += f"; pieces of {piece} bytes, of which {'all ranks together have' if holes.nobodys else 'a rank has'} "
    told += f"one in {stride},"
    return Source(made, False, True, told)


def of_posix(facts: Facts, path: str, verb: str, ranks: int, limit: Most) -> Source:
    """As many reads or writes, of the log's common sizes, in order or not as the log says."""
    use = facts.posix
    i = use.index(path)
    assert i is not None
    movers = max(1, min(ranks, round(float(use.movers[i]))))
    calls = max(1, int(float(use.of(f"{verb}S")[i])))
    word = "BYTES_READ" if verb == "READ" else "BYTES_WRITTEN"
    of_rank = max(1, min(round(calls / movers), limit.steps // movers))
    mean = max(1, int(float(use.of(word)[i]) / calls))
    of_rank = max(1, min(of_rank, limit.bytes // (movers * mean)))
    lengths = _sizes(use, i, of_rank, mean, limit)
    ends = np.cumsum(lengths)
    extent = float(use.most(f"MAX_BYTE_{'READ' if verb == 'READ' else 'WRITTEN'}")[i]) + 1
    again = float(use.of(word)[i]) / max(1.0, extent) if verb == "READ" else 1.0
    in_order = float(use.of(f"SEQ_{verb}S")[i]) >= 0.5 * calls
    consecutive = float(use.of(f"CONSEC_{verb}S")[i]) >= 0.5 * calls or not in_order
    made = []
    for rank in range(ranks):
        if rank >= movers:
            made.append(nothing())
            continue
        begins = ends - lengths
        if again > 1.5:
            period = max(1, int(ends[-1] / (again / movers if again > movers else 1)))
            begins = np.minimum(begins % period, max(0, period - int(lengths.max())))
        elif consecutive or movers == 1:
            begins = begins + rank * int(ends[-1])
        else:
            begins = (np.arange(of_rank) * movers + rank) * int(lengths.max())
        order = np.arange(of_rank) if in_order else np.random.default_rng(rank).permutation(of_rank)
        made.append(steps(READ if verb == "READ" else WRITE, begins[order], lengths[order]))
    told = f"{_of_each(movers, of_rank, verb.lower())} of {mean} bytes each in the mean"
    told += "" if movers == ranks else "; the other ranks move nothing"
    return Source(made, False, note=told)


def _of_each(ranks: int, times: int, what: str = "call") -> str:
    return f"{count(ranks, 'rank', 'ranks')}, {count(times, what, what + 's')}"


def _sizes(use: Use, i: int, number: int, mean: int, limit: Most) -> npt.NDArray[np.int64]:
    """The common sizes in their proportions; without them the mean."""
    common = [(int(use.most(f"ACCESS{k}_ACCESS")[i]), float(use.of(f"ACCESS{k}_COUNT")[i])) for k in range(1, 5)]
    common = [(size, many) for size, many in common if size > 0 and many > 0 and size <= 64 * mean]
    if not common:
        return np.full(number, mean, np.int64)
    weights = np.array([many for _, many in common])
    parts = np.maximum(1, np.round(number * weights / weights.sum())).astype(np.int64)
    made = np.repeat(np.array([size for size, _ in common], np.int64), parts)
    made = np.resize(np.random.default_rng(0).permutation(made), number)
    scale = limit.bytes / max(1.0, float(made.sum()))
    return made if scale >= 1 else np.maximum(1, (made * scale)).astype(np.int64)
