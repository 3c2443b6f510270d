"""steps.py: what ranks do to files, step by step, in one or several ways; written as a pattern for penstock-bench."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

SCHEMA = "penstock.pattern/1"
STEP = np.dtype([("act", "<i4"), ("file", "<i4"), ("offset", "<i8"), ("length", "<i8"), ("call", "<i8")])
WRITE, READ, OPEN, CLOSE, STAT, SYNC, BROADCAST = range(7)
CHUNK = 4 << 20  # bytes of a large access

Steps = npt.NDArray[np.void]  # of STEP
Extents = npt.NDArray[np.int64]  # [stretch, (file, begin, end)], sorted, none touching the next


@dataclass(frozen=True)
class Variant:
    """STEPS are [rank]. Of MPI-IO, pieces with one number of a call are one call. TAKEN_OVER: by `penstock run`."""

    name: str
    steps: Sequence[Steps]
    interface: str = "posix"  # or "mpiio"
    collective: bool = False
    views: bool = False
    hints: dict[str, str] = field(default_factory=dict)
    taken_over: bool = False

    @property
    def files(self) -> int:
        own = [int(one["file"][one["act"] != BROADCAST].max(initial=0)) for one in self.steps]
        return max(own, default=0) + 1

    @property
    def bytes(self) -> int:
        return sum(int(one["length"][one["act"] <= READ].sum()) for one in self.steps)


Case = tuple[str, Sequence[Variant]]  # name, and ways that are compared with the first


def steps(act: int | npt.ArrayLike, offset: npt.ArrayLike, length: npt.ArrayLike, file: npt.ArrayLike = 0) -> Steps:
    """Each a call of its own."""
    made = np.zeros(np.broadcast(act, offset, length, file).shape, STEP)
    made["act"], made["offset"], made["length"], made["file"] = act, offset, length, file
    made["call"] = np.arange(len(made))
    return made


def nothing() -> Steps:
    return np.zeros(0, STEP)


def joined(*parts: Steps) -> Steps:
    made = np.concatenate(parts)
    made["call"] = np.arange(len(made))
    return made


def extents(of: Sequence[Steps], act: int) -> Extents:
    """What is touched at all, by whichever rank."""
    chosen = np.concatenate([one[(one["act"] == act) & (one["length"] > 0)] for one in of])
    order = np.lexsort((chosen["offset"], chosen["file"]))
    made: list[list[int]] = []
    for file, begin, length in chosen[order][["file", "offset", "length"]].tolist():
        if made and made[-1][0] == file and begin <= made[-1][2]:
            made[-1][2] = max(made[-1][2], begin + length)
        else:
            made.append([file, begin, begin + length])
    return np.array(made, np.int64).reshape(-1, 3)


def shared_out(what: Extents, ranks: int, act: int, align: int = 1) -> list[Steps]:
    """Every byte by one rank, in large accesses, each rank as many as the others; parts begin at multiples of ALIGN."""
    total = int((what[:, 2] - what[:, 1]).sum())
    share = -(-max(total, 1) // ranks)
    made: list[list[tuple[int, int, int]]] = [[] for _ in range(ranks)]
    rank, left = 0, share
    for file, first, end in what.tolist():
        begin = first
        while begin < end:
            stop = min(end, begin + min(CHUNK, left))
            if align > 1 and stop < end and (aligned := stop - stop % align) > begin:
                stop = aligned
            made[rank].append((file, begin, stop - begin))
            left -= stop - begin
            begin = stop
            if left <= (align if align > 1 else 0) and rank + 1 < ranks:
                rank, left = rank + 1, left + share
    return [_of(act, one) for one in made]


def _of(act: int, places: list[tuple[int, int, int]]) -> Steps:
    table = np.array(places, np.int64).reshape(-1, 3)
    return steps(act, table[:, 1], table[:, 2], table[:, 0]) if len(table) else nothing()


def together(of: Sequence[Steps], act: int, call_bytes: int) -> list[Steps]:
    """The same pieces in calls of MPI-IO of about CALL_BYTES each, in the order of the file."""
    made = []
    for one in of:
        chosen = one[one["act"] == act]
        chosen = chosen[np.argsort(chosen["offset"], kind="stable")].copy()
        chosen = chosen[_fresh(chosen)]
        chosen["call"] = np.cumsum(chosen["length"]) // max(call_bytes, 1) if len(chosen) else 0
        if len(chosen):
            chosen["call"] = np.unique(chosen["call"], return_inverse=True)[1]
        made.append(chosen)
    return made


def _fresh(ordered: Steps) -> npt.NDArray[np.bool_]:
    """Pieces that do not overlap what came before: a file view has each byte once."""
    ends = np.maximum.accumulate(ordered["offset"] + ordered["length"]) if len(ordered) else np.zeros(0, np.int64)
    return np.asarray(ordered["offset"] >= np.concatenate(([0], ends[:-1])) if len(ordered) else np.zeros(0, bool))


def write_pattern(folder: Path, cases: Sequence[Case]) -> Path:
    told: list[dict[str, Any]] = []
    for at, (name, variants) in enumerate(cases):
        written: dict[int, str] = {}
        for one in variants:
            if id(one.steps) not in written:
                written[id(one.steps)] = f"{at}-{len(written)}.steps"
                np.concatenate(one.steps).tofile(folder / written[id(one.steps)])
        told.append({"name": name, "variants": [_told(one, written[id(one.steps)]) for one in variants]})
    path = folder / "pattern.json"
    path.write_text(json.dumps({"schema": SCHEMA, "cases": told}, indent=1), encoding="utf-8")
    return path


def _told(one: Variant, file: str) -> dict[str, Any]:
    return {
        "name": one.name,
        "interface": one.interface,
        "collective": one.collective,
        "views": one.views,
        "hints": one.hints,
        "files": one.files,
        "steps": file,
        "counts": [len(rank) for rank in one.steps],
    }
