"""nfs.py: what the NFS client counted for each mount, from /proc/self/mountstats."""

from dataclasses import dataclass, field
from pathlib import Path

from penstock.base.mounts import unescaped
from penstock.operate.monitor.counters import integers, lines_of
from penstock.operate.monitor.mounts import NFS

# Of an operation's line; "errors" only since version 1.1 of the statistics.
OPERATION = ("calls", "transmissions", "timeouts", "sent", "received", "queue_ms", "rtt_ms", "execute_ms", "errors")
BYTES = ("asked_read", "asked_write", "direct_read", "direct_write", "server_read", "server_write")
LEAST_NUMBERS = 8
OWN = ("STATFS", "FSSTAT")  # what the monitor itself asks for


@dataclass
class NfsMount:
    """COUNTERS: bytes by the names of BYTES, and of operations "READ.calls", "READ.rtt_ms", "all.calls", .."""

    point: str
    source: str
    version: str = ""  # of the protocol, as the options have it
    counters: dict[str, int] = field(default_factory=dict)


def read_nfs(root: Path) -> dict[str, NfsMount]:
    """Returns the counters of each NFS mount, keyed by mount point."""
    found: dict[str, NfsMount] = {}
    current: NfsMount | None = None
    for line in lines_of(root / "proc/self/mountstats"):
        if line.startswith("device "):
            current = _begun(line)
            if current is not None:
                found[current.point] = current
        elif current is not None:
            _add(current, line.strip())
    return found


def _begun(line: str) -> NfsMount | None:
    source, _, rest = line.removeprefix("device ").partition(" mounted on ")
    point, _, kind = rest.rpartition(" with fstype ")
    if kind.split(" ")[0] not in NFS:
        return None
    return NfsMount(unescaped(point), unescaped(source))


def _add(mount: NfsMount, line: str) -> None:
    name, colon, rest = line.partition(":")
    if not colon:
        return
    if name == "opts":
        options = dict(option.partition("=")[::2] for option in rest.strip().split(","))
        mount.version = options.get("vers", "")
        return
    numbers = integers(rest.split())
    if name == "bytes":
        mount.counters.update(zip(BYTES, numbers, strict=False))
    elif name.isupper() and len(numbers) >= LEAST_NUMBERS:
        for what, number in zip(OPERATION, numbers, strict=False):
            if name in ("READ", "WRITE", "COMMIT"):
                mount.counters[f"{name}.{what}"] = number
            if name not in OWN:
                mount.counters[f"all.{what}"] = mount.counters.get(f"all.{what}", 0) + number
