"""costs.py: what single calls cost where a replay is played, and what a way of doing things should take there."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from penstock.diagnose.replay.steps import (
    CLOSE,
    OPEN,
    READ,
    STAT,
    SYNC,
    WRITE,
    Case,
    Steps,
    Variant,
    extents,
    joined,
    nothing,
    steps,
)

SMALL, LARGE = 8 << 10, 512 << 10  # bytes of the two sizes from which a cost for each call and for each byte follows
SIEVE = {READ: 4 << 20, WRITE: 512 << 10}  # ROMIO's buffers of data sieving, by default
COUNT = {SMALL: 800, LARGE: 16}  # calls of a probe
CALLS = {SMALL: 40, LARGE: 8}  # collective ones
PIECE_SECONDS = 1e-7


@dataclass(frozen=True)
class Line:
    """Seconds of a call of so many bytes."""

    call: float
    byte: float

    def of(self, calls: float, moved: float) -> float:
        return calls * self.call + moved * self.byte


@dataclass(frozen=True)
class Kind:
    """Accesses of one kind: what each costs a rank that is alone, and how many ranks get on with them at once."""

    line: Line
    at_once: float


@dataclass(frozen=True)
class Costs:
    ranks: int
    cores: int
    read: Kind
    fresh: Kind  # writing where nothing was
    over: Kind  # writing where something was
    open: float
    stat: float
    sync: float
    piece: float  # of a file view, beside the bytes
    begin: float  # MPI-IO's opening, one file view and closing, by all
    exchange: Line | None  # a collective call, and each byte of all ranks in it, writing included

    def of(self, one: Variant) -> float | None:
        """Seconds of ONE; None where single calls do not say."""
        moving = None if one.taken_over else self._moving(one)
        return None if moving is None else moving + (self.begin if one.interface == "mpiio" else 0.0)

    def _moving(self, one: Variant) -> float | None:
        if one.interface == "mpiio" and one.collective and not _disabled(one, "cb"):
            return self._collective(one)
        acts = np.concatenate([rank["act"] for rank in one.steps]) if one.steps else np.zeros(0, np.int32)
        if len(acts) and acts.max() > SYNC:
            return None
        written = [self._moved(one, rank[rank["act"] == WRITE], WRITE) for rank in one.steps]
        read = [self._moved(one, rank[rank["act"] == READ], READ) for rank in one.steps]
        total = sum(moved for _, moved, _ in written)
        first = min(1.0, _unique(one.steps, WRITE) / total) if total else 0.0
        read = [(a[0] + b[2][0], a[1] + b[2][1], a[2]) for a, b in zip(read, written, strict=True)]
        parts = ((self.read, read, 1.0), (self.fresh, written, first), (self.over, written, 1 - first))
        busy = np.array([[part * kind.line.of(*each[:2]) for each in of] for kind, of, part in parts])  # [kind, rank]
        limits = [row.sum() / kind.at_once for row, (kind, _, _) in zip(busy, parts, strict=True)]
        moving = float(max(busy.sum(axis=0).max(), *limits, busy.sum() / min(self.cores, self.ranks)))
        counts = {act: sum(int((rank["act"] == act).sum()) for rank in one.steps) for act in (OPEN, STAT, SYNC)}
        other = counts[OPEN] * self.open + counts[STAT] * self.stat
        pieces = sum(map(len, one.steps)) * self.piece if one.views else 0.0
        return moving + (other + pieces) / min(self.cores, self.ranks) + counts[SYNC] * self.sync / self.ranks

    @staticmethod
    def _moved(one: Variant, of: Steps, act: int) -> tuple[float, float, tuple[float, float]]:
        """Calls and bytes of the file system; and those that are read to be written back."""
        if len(of) == 0:
            return 0.0, 0.0, (0.0, 0.0)
        if not one.views or _disabled(one, "ds"):
            return float(len(of)), float(of["length"].sum()), (0.0, 0.0)
        starts = np.flatnonzero(np.concatenate(([True], np.diff(of["call"]) != 0)))
        ends = np.concatenate((starts[1:], [len(of)])) - 1
        spans = (of["offset"][ends] + of["length"][ends] - of["offset"][starts]).astype(float)
        calls = float(np.ceil(spans / SIEVE[act]).sum())
        whole = float(spans.sum())
        return calls, whole, (calls, whole) if act == WRITE else (0.0, 0.0)

    def _collective(self, one: Variant) -> float | None:
        acts = {int(act) for rank in one.steps for act in np.unique(rank["act"])}
        if self.exchange is None or acts != {WRITE}:
            return None
        calls = max(len(np.unique(rank["call"])) for rank in one.steps)
        whole = extents(one.steps, WRITE)
        span = float(whole[-1, 2] - whole[0, 1])
        unique = float((whole[:, 2] - whole[:, 1]).sum())
        if span > 1.05 * unique:
            return None  # holes: what a buffer with some makes is the library's affair
        return self.exchange.of(calls, unique) + self.piece * max(map(len, one.steps))


def _disabled(one: Variant, what: str) -> bool:
    return any(key.startswith(f"romio_{what}_") and value == "disable" for key, value in one.hints.items())


def _unique(of: Sequence[Steps], act: int) -> float:
    found = extents(of, act)
    return float((found[:, 2] - found[:, 1]).sum())


def probes(ranks: int, with_mpi: bool) -> list[Case]:
    """Cases of a pattern: few calls of each kind by one rank, by all RANKS in one file, and collective ones."""
    cases: list[Case] = []

    def case(name: str, of: Sequence[Steps]) -> None:
        cases.append((name, [Variant("probe", [*of, *[nothing()] * (ranks - len(of))])]))

    def accesses(name: str, size: int, count: int, active: int) -> None:
        places = [(np.arange(count) * active + rank) * size for rank in range(active)]
        case(f"read {name}", [steps(READ, place, size) for place in places])
        case(f"fresh {name}", [steps(WRITE, place, size) for place in places])
        case(f"over {name}", [joined(*[steps(WRITE, place, size)] * 3) for place in places])

    accesses("small", SMALL, COUNT[SMALL], 1)
    accesses("large", LARGE, COUNT[LARGE], 1)
    accesses("all", LARGE, _few(ranks), ranks)
    case("open", [steps([OPEN, CLOSE] * 200, 0, 0)])
    case("stat", [steps([STAT] * 200, 0, 0)])
    case("sync", [steps([WRITE, SYNC] * 10, np.arange(20) // 2 * SMALL, [SMALL, 0] * 10) for _ in range(ranks)])
    if not with_mpi or ranks == 1:
        return cases
    for size, count in CALLS.items():
        of = [steps(WRITE, (np.arange(count) * ranks + rank) * size, size) for rank in range(ranks)]
        cases.append((f"together {size}", [Variant("probe", of, "mpiio", True, hints={"romio_cb_write": "enable"})]))
    cases.append(("begin", [Variant("probe", [steps([WRITE], r, 1) for r in range(ranks)], "mpiio", views=True)]))
    return cases


def _few(ranks: int) -> int:
    return max(2, COUNT[LARGE] // ranks)


def costs_of(ranks: int, took: Mapping[str, float]) -> Costs:
    """TOOK are seconds by the names of probes."""

    def kind(name: str, less: str = "", times: int = 1) -> Kind:
        small, large, every = (
            max(1e-9, took[f"{name} {how}"] - (took[f"{less} {how}"] if less else 0)) / times
            for how in ("small", "large", "all")
        )
        line = _line(small / COUNT[SMALL], large / COUNT[LARGE])
        return Kind(line, min(max(1.0, ranks * _few(ranks) * (large / COUNT[LARGE]) / every), float(ranks)))

    exchange = None
    if "begin" in took:
        small, large = ((took[f"together {size}"] - took["begin"]) / count for size, count in CALLS.items())
        per_byte = max(0.0, (large - small) / (ranks * (LARGE - SMALL)))
        exchange = Line(max(0.0, small - per_byte * ranks * SMALL), per_byte)
    return Costs(
        ranks=ranks,
        cores=len(os.sched_getaffinity(0)),
        read=kind("read"),
        fresh=kind("fresh"),
        over=kind("over", "fresh", 2),
        open=took["open"] / 200,
        stat=took["stat"] / 200,
        sync=took["sync"] / 10,
        piece=PIECE_SECONDS,
        begin=took.get("begin", 0.0),
        exchange=exchange,
    )


def _line(small: float, large: float) -> Line:
    per_byte = max(0.0, (large - small) / (LARGE - SMALL))
    return Line(max(0.0, small - per_byte * SMALL), per_byte)
