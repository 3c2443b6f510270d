"""report.py: what the library that takes over MPI-IO calls reports of a job, one JSON file of rank 0 for each job."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.base import words
from penstock.base.errors import UserError
from penstock.measure import records

SCHEMA = "penstock.run/1"


@dataclass(frozen=True)
class Calls:
    """Of one function, by all ranks together."""

    count: int
    bytes: int
    seconds: float


@dataclass(frozen=True)
class Passed:
    """Calls that the MPI library itself answered, and why."""

    count: int
    why: str


@dataclass(frozen=True)
class Storage:
    """Our calls of the file system, by all ranks together."""

    writes: int
    write_bytes: int
    reads: int
    read_bytes: int
    metadata: int

    @property
    def calls(self) -> int:
        return self.writes + self.reads + self.metadata


@dataclass(frozen=True)
class Kept:
    """Writes that were kept back: of all ranks, but BYTES_MOST is of one rank at once; SECONDS_MOST: for how long."""

    calls: int
    bytes: int
    bytes_most: int
    seconds_most: float


@dataclass(frozen=True)
class Moves:
    """Movements of what was kept back, and what made them; SECONDS of the slowest rank."""

    count: int
    why: dict[str, int]
    seconds: float


@dataclass(frozen=True)
class Background:
    """Bytes that a thread wrote while the program went on: of all ranks, but BYTES_MOST waited in one rank at once.

    AT_ONCE: bytes that found no room; LOST: that could not be written, which the program learnt at its end at best if
    UNTOLD. SECONDS_MOST: how long something waited without a break; WAITED: of the rank that waited most for its own
    data. WHY_NOT: it was asked for, but could not be.
    """

    bytes: int
    bytes_most: int
    at_once: int
    lost: int
    seconds_most: float
    waited: float
    untold: bool
    why_not: str


@dataclass(frozen=True)
class File:
    path: str
    ranks: int
    opened: int
    plan: str
    reason: str
    calls: dict[str, Calls]
    written: int
    read: int
    storage: Storage
    kept: Kept
    moves: Moves
    background: Background
    passed: dict[str, Passed]
    hints: dict[str, str]
    seconds_mean: float
    seconds_most: float
    errors: list[str]

    @property
    def count(self) -> int:
        """Calls that read or write."""
        return sum(one.count for one in self.calls.values() if one.bytes)


@dataclass(frozen=True)
class Report:
    """Of one MPI job. IO_MEAN, IO_MOST: seconds of the mean and the slowest rank in MPI-IO. RAW: as it was written."""

    mpi: str
    ranks: int
    program: str
    started: float
    seconds: float
    io_mean: float
    io_most: float
    defer: str
    plan: str
    memory_bytes: int
    files: list[File]
    passed: dict[str, Passed]
    warnings: list[str]
    raw: dict[str, Any]

    @property
    def errors(self) -> list[str]:
        return [error for one in self.files for error in one.errors]


def read_reports(folder: Path) -> tuple[list[Report], list[str]]:
    """All reports in FOLDER, the earliest first; and what processes warned of that had none, or why one is not read."""
    found: list[Report] = []
    notes: list[str] = []
    for path in sorted(folder.glob("*.json")):
        try:
            one = read_report(path)
        except UserError as error:
            notes.append(str(error))
        else:
            notes += one if isinstance(one, list) else []
            found += [one] if isinstance(one, Report) else []
    return sorted(found, key=lambda one: one.started), list(dict.fromkeys(notes))


def left_in_background(folder: Path) -> list[str]:
    """What processes had in the background when they ended, by their ledgers in FOLDER."""
    lost: dict[str, list[int]] = {}
    for ledger in sorted(folder.glob("*.background")):
        for line in ledger.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            count, _, path = line.strip().partition(" ")
            if count.isdigit() and int(count) > 0 and path:
                lost.setdefault(path, []).append(int(count))
    return [
        f"LOST: {words.size(sum(counts))} of {path}: the program ended while "
        f"{words.count(len(counts), 'process', 'processes')} had them in the background"
        for path, counts in lost.items()
    ]


def read_report(path: Path) -> Report | list[str]:
    """Only warnings, where the library did not take anything over in that process."""
    try:
        content = json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path.name}: the report is damaged{records.damage(error)}") from None
    with records.taking_apart(Path(path.name), SCHEMA):
        if isinstance(content, dict) and content.keys() == {"warnings"}:
            return [str(one) for one in content["warnings"]]
        return report_of(content)


def report_of(content: dict[str, Any]) -> Report:
    io = _within(content, "io_seconds")
    if not all(int(one.get("ranks", 1)) > 0 for one in (content, *content.get("files", []))):
        raise ValueError("no ranks")
    return Report(
        mpi=str(content.get("mpi", "")),
        ranks=int(content["ranks"]),
        program=str(content["program"]),
        started=float(content["started"]),
        seconds=float(content["seconds"]),
        io_mean=float(io.get("mean", 0)),
        io_most=float(io.get("max", 0)),
        defer=str(content.get("defer", "")),
        plan=str(content.get("plan", "")),
        memory_bytes=int(content.get("memory_bytes", 0)),
        files=[_file(one) for one in content.get("files", [])],
        passed=_passed(content),
        warnings=[str(one) for one in content.get("warnings", [])],
        raw=content,
    )


def _file(content: dict[str, Any]) -> File:
    kept, moves, seconds = (_within(content, name) for name in ("kept", "moves", "seconds"))
    behind = _within(content, "background")
    storage = _within(content, "storage")
    names = ("writes", "write_bytes", "reads", "read_bytes", "metadata")
    return File(
        path=str(content["path"]),
        ranks=int(content.get("ranks", 1)),
        opened=int(content.get("opened", 1)),
        plan=str(content.get("plan", "")),
        reason=str(content.get("reason", "")),
        calls={
            str(name): Calls(int(one["count"]), int(one.get("bytes", 0)), float(one.get("seconds", 0)))
            for name, one in _within(content, "calls").items()
            if int(one["count"]) > 0
        },
        written=int(content.get("written", 0)),
        read=int(content.get("read", 0)),
        storage=Storage(*(int(storage.get(name, 0)) for name in names)),
        kept=Kept(
            int(kept.get("calls", 0)),
            int(kept.get("bytes", 0)),
            int(kept.get("bytes_max", 0)),
            float(kept.get("seconds_max", 0)),
        ),
        moves=Moves(
            int(moves.get("count", 0)),
            {str(name): int(times) for name, times in _within(moves, "why").items()},
            float(moves.get("seconds", 0)),
        ),
        background=Background(
            int(behind.get("bytes", 0)),
            int(behind.get("bytes_max", 0)),
            int(behind.get("at_once", 0)),
            int(behind.get("lost", 0)),
            float(behind.get("seconds_max", 0)),
            float(behind.get("waited", 0)),
            bool(behind.get("untold", False)),
            str(behind.get("why_not", "")),
        ),
        passed=_passed(content),
        hints={str(name): str(text) for name, text in _within(content, "hints").items()},
        seconds_mean=float(seconds.get("mean", 0)),
        seconds_most=float(seconds.get("max", 0)),
        errors=[str(one) for one in content.get("errors", [])],
    )


def _passed(content: Mapping[str, Any]) -> dict[str, Passed]:
    found = _within(content, "passed")
    return {str(name): Passed(int(one["count"]), str(one.get("why", ""))) for name, one in found.items()}


def _within(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The object NAME, which may be missing."""
    found = content.get(name) or {}
    if not isinstance(found, dict):
        raise TypeError(f"{name} is no object")
    return found
