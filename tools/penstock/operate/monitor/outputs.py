"""outputs.py: files that jobs are writing or reading now: how far they are, and how long the rest will take."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.operate.leftovers import names
from penstock.operate.monitor.members import Member
from penstock.operate.monitor.status_page import Step

ALMOST = 0.02  # seconds within which a step was seen from its beginning, or interval
LEAST_SECONDS = 0.05  # of a step, before its rate says anything
LATE_SECONDS = 10.0  # of a step, before a rank that is not in it is named


@dataclass
class Output:
    """PROGRESS: 0 to 1; ESTIMATED: bytes are those that the system counted, since the library does not.

    WAITS_FOR: ranks here that have not come to it, though others have been in it for a while.
    """

    path: str
    operation: str
    plan: str
    commit: int | None
    ranks_here: int
    ranks: int | None
    elapsed_seconds: float | None
    done_bytes: int | None
    total_bytes: int | None
    bytes_per_second: float | None = None
    progress: float | None = None
    left_seconds: float | None = None
    estimated: bool = False
    waits_for: list[int] = field(default_factory=list)


@dataclass
class _Known:
    """What the system had counted for the processes of a step when it was first seen."""

    first_seen: float
    bytes: dict[tuple[int, int], int]
    last_seen: float


class Outputs:
    """Remembers when each was first seen, for those of which the library does not know how far they are."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], _Known] = {}

    def of(self, members: list[Member], at: float, interval: float) -> list[Output]:
        """Those of one job, at AT of the monotonic clock."""
        self._known = {key: one for key, one in self._known.items() if at - one.last_seen < 10 * max(1.0, interval)}
        together: dict[tuple[str, int, str], list[tuple[Member, Step]]] = {}
        for member in members:
            for step in member.page.steps if member.page else []:
                together.setdefault((step.path, step.token, step.operation), []).append((member, step))
        servers = [member for member in members if member.page and member.page.is_server]
        here = sum(1 for member in members if member.page) - len(servers)
        here = max([here, *(member.ranks_here for member in members)])  # some may not have been found yet
        found = []
        for who in together.values():
            one = self._of_steps(who, servers, here, at, interval)
            one.waits_for = _late(who, members, one.elapsed_seconds or 0.0)
            found.append(one)
        return found + _of_partials(members, {one.path for one in found})

    def _of_steps(
        self, who: list[tuple[Member, Step]], servers: list[Member], here: int, at: float, interval: float
    ) -> Output:
        steps = [step for _, step in who]
        first = min(steps, key=lambda step: step.rank)
        start = min(step.start for step in steps)
        mine, total = sum(step.mine for step in steps), max(step.total for step in steps)
        if here < first.ranks and mine:
            total = min(total or mine, mine)  # of a job on several nodes, the part of this one
        one = Output(
            first.path,
            first.operation,
            first.plan,
            first.commit,
            len(steps),
            first.ranks,
            max(0.0, at - start),
            sum(step.done for step in steps),
            total or mine or None,
        )
        if not one.done_bytes:
            self._estimate(one, [*(member for member, _ in who), *servers], first, start, at, interval)
        _look_ahead(one)
        return one

    def _estimate(
        self, one: Output, members: list[Member], step: Step, start: float, at: float, interval: float
    ) -> None:
        """Estimates the bytes done from what these processes moved to or from storage since the step was first seen.
        Leaves them unknown if the step began more than an interval earlier.
        """
        counted = {m.process.identity: _counted(m, step.operation) for m in members}
        known = self._known.setdefault((one.path, step.token), _Known(at, counted, at))
        known.last_seen = at
        if known.first_seen - start > interval + ALMOST:
            one.done_bytes = None  # some of it was moved before anybody looked
            return
        moved = sum(max(0, value - known.bytes.get(identity, value)) for identity, value in counted.items())
        one.done_bytes, one.estimated = moved, True


def _late(who: list[tuple[Member, Step]], members: list[Member], seconds: float) -> list[int]:
    """Only where the ranks of the file are those of the job."""
    if seconds < LATE_SECONDS or any(m.rank != step.rank or m.ranks != step.ranks for m, step in who):
        return []
    here = {m.rank for m in members if m.page and not m.page.is_server and m.rank is not None}
    return sorted(here - {step.rank for _, step in who})


def _counted(member: Member, operation: str) -> int:
    """Returns the bytes that a process has moved: by its own account if it is an I/O server, else those that the kernel
    counts to or from storage.
    """
    writes = operation == "write"
    if member.page is not None and member.page.is_server:
        return member.page.written if writes else member.page.read
    return (member.process.counters or {}).get("write_bytes" if writes else "read_bytes", 0)


def _look_ahead(one: Output) -> None:
    if one.done_bytes is None or one.elapsed_seconds is None:
        return
    if one.total_bytes:
        one.progress = min(1.0, one.done_bytes / one.total_bytes)
    if one.elapsed_seconds < LEAST_SECONDS or not one.done_bytes:
        return
    one.bytes_per_second = one.done_bytes / one.elapsed_seconds
    if one.total_bytes and one.done_bytes < one.total_bytes:
        one.left_seconds = (one.total_bytes - one.done_bytes) / one.bytes_per_second


def _of_partials(members: list[Member], known: set[str]) -> list[Output]:
    """Returns the files that processes without a status page are writing; nothing else is known of them."""
    found: dict[str, Output] = {}
    for member in members:
        for path in member.partials if member.page is None else []:
            partial: Any = names.parse(Path(path).name)
            target = str(Path(path).with_name(partial.base))
            if target in known:
                continue
            one = found.setdefault(target, Output(target, "write", "", None, 0, None, None, None, None))
            one.ranks_here += 1
    return list(found.values())
