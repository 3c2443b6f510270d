"""status_page.py: reads what a process's library shows of itself in memory (docs/formats/status.md)."""

import os
import struct
from dataclasses import dataclass, field
from pathlib import Path

NAME = "memfd:penstock-status"  # as links in /proc/PID/fd have it, "/memfd:penstock-status (deleted)"
MAGIC = b"PENSTAT\x01"
PAGE_BYTES = 4096
HEADER = struct.Struct("<8sIIII5q")
PHASES_AT, STEPS_AT = 144, 256
PHASES = ("define", "pack", "exchange", "write", "sync", "commit", "read")
STEP = struct.Struct("<IIQqiiiIqqq64s512s")
STEPS_MOST = 64
KINDS = {1: "write", 2: "read"}
TRIES = 5


@dataclass(frozen=True)
class Step:
    """A commit or a read under way in one process. START: seconds of the monotonic clock."""

    operation: str
    token: int
    start: float
    rank: int
    ranks: int
    commit: int
    mine: int
    total: int
    done: int
    plan: str
    path: str


@dataclass(frozen=True)
class Page:
    """INSIDE and NANOSECONDS: by phase, threads in it now, and time in it that ended."""

    pid: int
    is_server: bool
    written: int
    read: int
    commits: int
    reads: int
    ended: float | None
    inside: dict[str, int]
    nanoseconds: dict[str, int]
    steps: list[Step] = field(default_factory=list)


def read_page(path: Path, pid: int) -> Page | None:
    """Reads the status page of process PID. Returns None if PATH is no page, or is another process's, as a forked child
    inherits its parent's.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        for _ in range(TRIES):
            first, second = os.pread(descriptor, PAGE_BYTES, 0), os.pread(descriptor, PAGE_BYTES, 0)
            if len(first) == PAGE_BYTES and _sequences(first) == _sequences(second):
                break
        return parse(first, pid)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def parse(data: bytes, pid: int) -> Page | None:
    """Steps that were changing while the page was read are left out."""
    if len(data) < PAGE_BYTES or data[:8] != MAGIC:
        return None
    _, owner, role, most, step_bytes, written, read, commits, reads, ended = HEADER.unpack_from(data)
    if owner != pid or step_bytes < STEP.size or most > STEPS_MOST or STEPS_AT + most * step_bytes > len(data):
        return None
    inside, nanoseconds = {}, {}
    for i, name in enumerate(PHASES):
        threads, nanoseconds[name] = struct.unpack_from("<qq", data, PHASES_AT + 16 * i)
        inside[name] = max(0, threads)
    steps = []
    for i in range(most):
        words = STEP.unpack_from(data, STEPS_AT + i * step_bytes)
        sequence, kind, token, start, rank, ranks, commit, path_bytes, mine, total, base, plan, path = words
        if kind not in KINDS or sequence % 2:
            continue
        done = (written if KINDS[kind] == "write" else read) - base
        name = _text(path) + ("…" if path_bytes >= len(path) else "")
        steps.append(
            Step(KINDS[kind], token, start / 1e9, rank, ranks, commit, mine, total, max(0, done), _text(plan), name)
        )
    return Page(owner, role == 1, written, read, commits, reads, ended / 1e9 or None, inside, nanoseconds, steps)


def _sequences(data: bytes) -> list[int]:
    most, step_bytes = struct.unpack_from("<II", data, 16)
    if most > STEPS_MOST or STEPS_AT + most * step_bytes > len(data):
        return []
    return [struct.unpack_from("<I", data, STEPS_AT + i * step_bytes)[0] for i in range(most)]


def _text(data: bytes) -> str:
    return data.partition(b"\0")[0].decode("utf-8", "replace")
