"""reading.py: all counters of a node at one moment."""

import time
from dataclasses import dataclass, field
from pathlib import Path

from penstock.operate.monitor import gpfs
from penstock.operate.monitor.counters import lines_of
from penstock.operate.monitor.devices import Device, read_devices
from penstock.operate.monitor.lustre import Lustre, read_lustre
from penstock.operate.monitor.members import Member, Members, fill
from penstock.operate.monitor.mounts import Mount, read_mounts
from penstock.operate.monitor.nfs import NfsMount, read_nfs
from penstock.operate.monitor.processes import Processes, read_processes
from penstock.operate.monitor.queries import Answer, Queries

ANSWER_SECONDS = 0.5  # that a reading waits for what may hang
GPFS_KEY = "gpfs"


@dataclass
class Reading:
    """All counters of a node. AT: seconds of a monotonic clock; CLOCK: seconds since 1970."""

    at: float
    clock: float
    mounts: list[Mount] = field(default_factory=list)
    devices: dict[str, Device] = field(default_factory=dict)
    nfs: dict[str, NfsMount] = field(default_factory=dict)
    lustre: Lustre = field(default_factory=Lustre)
    gpfs: dict[str, dict[str, int]] = field(default_factory=dict)
    processes: Processes = field(default_factory=Processes)
    members: list[Member] = field(default_factory=list)  # processes of penstock's jobs
    space: dict[str, Answer] = field(default_factory=dict)  # by place: as statvfs
    dirty_bytes: int | None = None  # written by programs, not yet on its way
    writeback_bytes: int | None = None
    troubles: list[str] = field(default_factory=list)


def read_node(root: Path, queries: Queries, members: Members) -> Reading:
    """Returns all counters of the node. QUERIES answer with older values where something hangs."""
    reading = Reading(time.monotonic(), time.time())
    reading.mounts = read_mounts(root)
    reading.devices = read_devices(root)
    reading.nfs = read_nfs(root)
    reading.lustre = read_lustre(root)
    if reading.lustre.trouble and any(mount.type == "lustre" for mount in reading.mounts):
        reading.troubles.append(reading.lustre.trouble)
    reading.processes = read_processes(root)
    _add_memory(root, reading)
    reading.members = members.find(root, reading.processes, queries)
    _ask(root, reading, queries)
    fill(reading.members, queries)
    return reading


def _add_memory(root: Path, reading: Reading) -> None:
    found = {name: rest.split() for name, _, rest in (line.partition(":") for line in lines_of(root / "proc/meminfo"))}
    kib = {name: int(words[0]) * 1024 for name, words in found.items() if words and words[0].isdigit()}
    reading.dirty_bytes, reading.writeback_bytes = kib.get("Dirty"), kib.get("Writeback")


def _ask(root: Path, reading: Reading, queries: Queries) -> None:
    for mount in reading.mounts:
        queries.ask(f"space {mount.point}", "space", str(root / mount.point.lstrip("/")))
    program = gpfs.command(root) if any(mount.type == "gpfs" for mount in reading.mounts) else None
    if program is not None:
        queries.ask(GPFS_KEY, "program", [program, gpfs.REQUEST])
    queries.wait(ANSWER_SECONDS)
    for mount in reading.mounts:
        reading.space[mount.point] = queries.answer(f"space {mount.point}")
    if program is not None:
        answer = queries.answer(GPFS_KEY)
        reading.gpfs = gpfs.parse(answer.value or "")
        if answer.error:
            reading.troubles.append(f"GPFS's mmpmon: {answer.error}")
        elif answer.waiting:
            reading.troubles.append(f"GPFS's mmpmon has not answered for {answer.waiting:.0f} s")
