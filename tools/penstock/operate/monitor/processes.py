"""processes.py: what processes read and wrote, as far as the system tells us, from /proc/PID/io and /proc/PID/stat."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from penstock.operate.monitor.counters import moved_all

KERNEL_THREAD = 0x00200000  # of the flags in /proc/PID/stat
NAMES = frozenset({"rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes"})


@dataclass(frozen=True)
class Process:
    """COUNTERS: of it and of the children it waited for; none where it is not ours to see."""

    pid: int
    start: int  # clock ticks since the machine's start
    parent: int
    name: str
    counters: dict[str, int] | None = None

    @property
    def identity(self) -> tuple[int, int]:
        return self.pid, self.start


@dataclass
class Processes:
    """Those that were there at one reading."""

    by_identity: dict[tuple[int, int], Process] = field(default_factory=dict)
    refused: int = 0  # whose counters are not ours to see


@dataclass(frozen=True)
class ProcessRates:
    """Rates of one process over one interval: bytes that its calls moved, and those to or from a device."""

    pid: int
    name: str
    asked_read_bytes_per_second: float
    asked_write_bytes_per_second: float
    read_bytes_per_second: float
    write_bytes_per_second: float
    calls_per_second: float


def read_processes(root: Path) -> Processes:
    """All but threads of the kernel."""
    found = Processes()
    for pid in pids(root):
        process = read_process(root, pid)
        if process is not None:
            found.by_identity[process.identity] = process
            found.refused += process.counters is None
    return found


def pids(root: Path) -> list[int]:
    """Returns the ids of all processes that this user may see."""
    try:
        return sorted(int(path.name) for path in (root / "proc").iterdir() if path.name.isdigit())
    except OSError:
        return []


def read_process(root: Path, pid: int) -> Process | None:
    """None where it is gone, or a thread of the kernel."""
    folder = root / "proc" / str(pid)
    try:
        line = (folder / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    name, fields = line[line.find("(") + 1 : line.rfind(")")], line[line.rfind(")") + 1 :].split()
    if len(fields) < 20 or int(fields[6]) & KERNEL_THREAD:
        return None
    try:
        counters = parse_io((folder / "io").read_text(encoding="ascii"))
    except (FileNotFoundError, ProcessLookupError):
        return None
    except OSError:
        counters = None
    return Process(pid, int(fields[19]), int(fields[1]), name, counters)


def parse_io(text: str) -> dict[str, int]:
    """/proc/PID/io."""
    pairs = (line.partition(":") for line in text.splitlines())
    return {name: int(value) for name, _, value in pairs if name in NAMES and value.strip().isdigit()}


def rates(before: Processes, now: Processes, seconds: float) -> list[ProcessRates]:
    """Returns the rates of all processes that moved any bytes in SECONDS between both readings, busiest first."""
    from_children = _handed_up(before, now)
    found = []
    for identity, process in now.by_identity.items():
        earlier = before.by_identity.get(identity)
        if process.counters is None or seconds <= 0:
            continue
        # what is new had read and written nothing when it was not there
        start = earlier.counters if earlier is not None and earlier.counters else dict.fromkeys(process.counters, 0)
        d = moved_all(start, process.counters)
        if d is None:
            continue
        children = from_children.get(process.pid, {})
        d = {name: max(0, value - children.get(name, 0)) for name, value in d.items()}
        if d["rchar"] or d["wchar"] or d["read_bytes"] or d["write_bytes"]:
            found.append(
                ProcessRates(
                    process.pid,
                    process.name,
                    d["rchar"] / seconds,
                    d["wchar"] / seconds,
                    d["read_bytes"] / seconds,
                    d["write_bytes"] / seconds,
                    (d["syscr"] + d["syscw"]) / seconds,
                )
            )
    return sorted(found, key=_weight, reverse=True)


def _weight(one: ProcessRates) -> tuple[float, float, int]:
    on_device = one.read_bytes_per_second + one.write_bytes_per_second
    return max(on_device, one.asked_read_bytes_per_second + one.asked_write_bytes_per_second), on_device, -one.pid


def _handed_up(before: Processes, now: Processes) -> dict[int, dict[str, int]]:
    """Returns the last counters of ended children, keyed by parent: the kernel adds them to the parent that waits."""
    handed: dict[int, dict[str, int]] = {}
    for process in _gone(before, now):
        total = handed.setdefault(process.parent, {})
        for name, value in (process.counters or {}).items():
            total[name] = total.get(name, 0) + value
    return handed


def _gone(before: Processes, now: Processes) -> Iterator[Process]:
    return (process for identity, process in before.by_identity.items() if identity not in now.by_identity)
