"""sample.py: what a node did over one interval, from its readings at both ends; and that as JSON."""

import socket
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from penstock.operate.monitor import devices, processes
from penstock.operate.monitor.devices import DeviceRates
from penstock.operate.monitor.file_systems import FileSystem, file_systems
from penstock.operate.monitor.jobs import Job, jobs
from penstock.operate.monitor.outputs import Outputs
from penstock.operate.monitor.processes import ProcessRates
from penstock.operate.monitor.reading import Reading

SCHEMA = "penstock.monitor/1"
NOT_DISKS = ("loop", "zram", "ram")  # they lie on another file system, or on none


@dataclass
class Node:
    """Sums: of disks, and of file systems that other machines serve."""

    read_bytes_per_second: float = 0.0
    write_bytes_per_second: float = 0.0
    dirty_bytes: int | None = None
    writeback_bytes: int | None = None


@dataclass
class Sample:
    """CLOCK: its end, since 1970. Rates are null where an interval is unknown: of what is new, or began again."""

    host: str
    clock: float
    seconds: float
    node: Node
    file_systems: list[FileSystem]
    devices: list[DeviceRates]
    jobs: list[Job]
    processes: list[ProcessRates]
    processes_seen: int
    processes_refused: int
    gone: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)


def between(before: Reading, now: Reading, outputs: Outputs) -> Sample:
    seconds = now.at - before.at
    all_devices = {
        name: devices.rates(before.devices.get(name), device, seconds) for name, device in now.devices.items()
    }
    systems = file_systems(before, now, all_devices)
    shown = [rates for name, rates in all_devices.items() if now.devices[name].partition_of not in now.devices]
    return Sample(
        socket.gethostname(),
        now.clock,
        seconds,
        _node(now, systems, shown),
        systems,
        shown,
        jobs(before.members, now.members, now.at, seconds, outputs),
        processes.rates(before.processes, now.processes, seconds),
        len(now.processes.by_identity),
        now.processes.refused,
        _gone(before, now),
        [*now.troubles],
    )


def to_record(sample: Sample) -> dict[str, Any]:
    """Schema penstock.monitor/1 (docs/monitor.md)."""
    content = asdict(sample)
    clock = content.pop("clock")
    host = content.pop("host")
    seconds = content.pop("seconds")
    time = datetime.fromtimestamp(clock, UTC).isoformat(timespec="milliseconds")
    return {"schema": SCHEMA, "host": host, "time": time, "interval_seconds": seconds, **content}


def _node(now: Reading, systems: list[FileSystem], shown: list[DeviceRates]) -> Node:
    node = Node(dirty_bytes=now.dirty_bytes, writeback_bytes=now.writeback_bytes)
    disks = [rates for rates in shown if not rates.below and not rates.name.startswith(NOT_DISKS)]
    served = [one for one in systems if one.figures and not one.figures.startswith("device ")]
    counted: list[DeviceRates | FileSystem] = [*disks, *served]
    for one in counted:
        node.read_bytes_per_second += one.read_bytes_per_second or 0.0
        node.write_bytes_per_second += one.write_bytes_per_second or 0.0
    return node


def _gone(before: Reading, now: Reading) -> list[str]:
    there = {mount.point for mount in now.mounts}
    return [f"device {name}" for name in before.devices if name not in now.devices] + [
        mount.point for mount in before.mounts if mount.point not in there
    ]
