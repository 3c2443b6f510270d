"""jobs.py: penstock's jobs on this node: which processes belong together, what they do, and how far they are."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePath

from penstock.base.printable import printable
from penstock.operate.leftovers.names import SCHEDULERS
from penstock.operate.monitor.counters import moved_all
from penstock.operate.monitor.members import Member
from penstock.operate.monitor.outputs import Output, Outputs
from penstock.operate.monitor.status_page import PHASES

COMPUTE = "compute"  # no commit or read is under way
WAIT = "wait"  # one is, but this process has nothing to do in it now
BUSY = ("sync", "write", "read", "exchange", "pack", "commit", "define")  # the first of those that a process is in
COMMAND_MOST = 200


@dataclass
class Job:
    """PHASES: how many of its processes here are in each; PHASE: in which most are."""

    id: str
    program: str
    command: str
    user: str
    processes: int
    ranks: int | None
    phase: str | None
    phases: dict[str, int]
    read_bytes_per_second: float | None
    write_bytes_per_second: float | None
    commits: int
    idle_seconds: float | None  # since its last commit or read ended
    outputs: list[Output] = field(default_factory=list)
    pids: list[int] = field(default_factory=list)


def jobs(before: list[Member], now: list[Member], at: float, seconds: float, outputs: Outputs) -> list[Job]:
    """The busiest first."""
    together: dict[str, list[Member]] = {}
    by_pid = {member.process.pid: member for member in now}
    for member in now:
        together.setdefault(_id_of(member, by_pid), []).append(member)
    earlier = {member.process.identity: member for member in before}
    found = [_job(name, members, earlier, at, seconds, outputs) for name, members in together.items()]
    return sorted(
        found, key=lambda job: (-(job.write_bytes_per_second or 0) - (job.read_bytes_per_second or 0), job.id)
    )


def _id_of(member: Member, by_pid: dict[int, Member]) -> str:
    """As names of partial files have it where a scheduler or an MPI says so; else its processes tell."""
    for variable, kind in SCHEDULERS.items():
        if number := member.environment.get(variable):
            return f"{kind}-{number}"
    if "PMI_RANK" in member.environment:
        return f"mpi-{member.process.parent}"
    parent = by_pid.get(member.process.parent)
    if member.page is not None and member.page.is_server and parent is not None:
        return _id_of(parent, by_pid)
    return f"process-{member.process.pid}"


def _job(
    name: str,
    members: list[Member],
    earlier: dict[tuple[int, int], Member],
    at: float,
    seconds: float,
    outputs: Outputs,
) -> Job:
    programs = [member for member in members if not (member.page and member.page.is_server)] or members
    first = min(programs, key=lambda member: (member.rank or 0, member.process.pid))
    phases = Counter(phase for member in programs if (phase := _phase(member, earlier.get(member.process.identity))))
    ended = [member.page.ended for member in members if member.page and member.page.ended]
    is_busy = any(member.page and member.page.steps for member in members)
    command = printable(" ".join(first.command))
    return Job(
        name,
        PurePath(first.command[0]).name if first.command and first.command[0] else first.process.name,
        command if len(command) <= COMMAND_MOST else command[: COMMAND_MOST - 1] + "…",
        first.user,
        len(members),
        first.ranks or max((s.ranks for m in members if m.page for s in m.page.steps), default=None),
        phases.most_common(1)[0][0] if phases else None,
        dict(phases),
        _rate(members, earlier, seconds, "read_bytes", "rchar"),
        _rate(members, earlier, seconds, "write_bytes", "wchar"),
        max((member.page.commits for member in members if member.page), default=0),
        max(0.0, at - max(ended)) if ended and not is_busy else None,
        outputs.of(members, at, seconds),
        sorted(member.process.pid for member in members),
    )


def _phase(member: Member, before: Member | None) -> str | None:
    """The one that it is in; between two, that in which it spent most of the interval."""
    page = member.page
    if page is None:
        return "write" if member.partials else COMPUTE
    for phase in BUSY:
        if page.inside[phase]:
            return phase
    if not page.steps:
        return COMPUTE
    start = before.page.nanoseconds if before is not None and before.page is not None else dict.fromkeys(PHASES, 0)
    spent = {phase: page.nanoseconds[phase] - start[phase] for phase in PHASES}
    longest = max(PHASES, key=lambda phase: spent[phase])
    return longest if spent[longest] > 0 else WAIT


def _rate(
    members: list[Member], earlier: dict[tuple[int, int], Member], seconds: float, storage: str, calls: str
) -> float | None:
    """Returns the bytes per second that MEMBERS moved to or from storage, by the kernel's counter STORAGE or, if
    larger, by our library's count of CALLS: it also counts what stays in memory or passes through a server. None if
    nothing was counted.
    """
    if seconds <= 0:
        return None
    total, counted = 0, False
    for member in members:
        before = earlier.get(member.process.identity)
        if before is None or before.process.counters is None or member.process.counters is None:
            continue
        d = moved_all(before.process.counters, member.process.counters)
        if d is not None:
            counted = True
            total += max(d[storage], _by_library(before, member, calls))
    return total / seconds if counted else None


def _by_library(before: Member, now: Member, calls: str) -> int:
    if before.page is None or now.page is None:
        return 0
    return max(0, now.page.read - before.page.read if calls == "rchar" else now.page.written - before.page.written)
