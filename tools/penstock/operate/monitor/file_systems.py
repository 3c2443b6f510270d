"""file_systems.py: rates and space of each mounted file system, from who counts for it: its device or its client."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.operate.monitor import gpfs
from penstock.operate.monitor.counters import moved_all
from penstock.operate.monitor.devices import Device, DeviceRates
from penstock.operate.monitor.mounts import NFS, Mount

if TYPE_CHECKING:
    from penstock.operate.monitor.reading import Reading

Differences = dict[str, int]
FROM_DEVICE = (
    "read_bytes_per_second",
    "write_bytes_per_second",
    "reads_per_second",
    "writes_per_second",
    "read_seconds",
    "write_seconds",
)


@dataclass
class FileSystem:
    """Rates and space of one file system over one interval. FIGURES: who counts them; None where nobody does."""

    mount: str
    others: list[str]
    type: str
    source: str
    read_only: bool
    figures: str | None = None
    read_bytes_per_second: float | None = None
    write_bytes_per_second: float | None = None
    reads_per_second: float | None = None
    writes_per_second: float | None = None
    metadata_per_second: float | None = None
    read_seconds: float | None = None  # mean of a request
    write_seconds: float | None = None
    asked_read_bytes_per_second: float | None = None  # by programs, before caches, where that is counted
    asked_write_bytes_per_second: float | None = None
    retransmissions_per_second: float | None = None
    timeouts_per_second: float | None = None
    targets: dict[str, dict[str, float | None]] = field(default_factory=dict)  # of Lustre
    total_bytes: int | None = None
    available_bytes: int | None = None
    used: float | None = None  # part, as df has it
    files: int | None = None
    files_free: int | None = None
    space_waiting_seconds: float = 0.0  # an answer is overdue: a hung server
    space_error: str | None = None


def file_systems(before: "Reading", now: "Reading", devices: dict[str, DeviceRates]) -> list[FileSystem]:
    """Returns the file systems mounted at reading NOW, with their rates since reading BEFORE."""
    seconds = now.at - before.at
    found = []
    for mount in now.mounts:
        one = FileSystem(mount.point, mount.others, mount.type, mount.source, mount.read_only)
        if seconds > 0:
            _add_rates(one, mount, before, now, seconds, devices)
        _add_space(one, now)
        found.append(one)
    return found


def device_of(mount: Mount, devices: dict[str, Device]) -> Device | None:
    """The block device, or partition, that MOUNT lies on."""
    name = mount.source.removeprefix("/dev/").removeprefix("mapper/")
    for device in devices.values():
        if device.numbers == mount.device:
            return device
    if not mount.source.startswith("/dev/"):
        return None
    return next((device for device in devices.values() if name in (device.name, device.title)), None)


def _add_rates(
    one: FileSystem, mount: Mount, before: "Reading", now: "Reading", seconds: float, devices: dict[str, DeviceRates]
) -> None:
    if mount.type in NFS:
        places = [mount.point, *mount.others]
        later = next((now.nfs[place] for place in places if place in now.nfs), None)
        earlier = next((before.nfs[place] for place in places if place in before.nfs), None)
        if later is not None:
            one.figures = f"NFS{' ' + later.version if later.version else ''}"
            _add_nfs(one, _moved(earlier.counters if earlier else None, later.counters), seconds)
    elif mount.type == "lustre":
        name = mount.lustre_name
        if name in now.lustre.file_systems:
            one.figures = "Lustre's client"
            _add_lustre(one, _moved(before.lustre.file_systems.get(name), now.lustre.file_systems[name]), seconds)
            one.targets = _targets(name, before, now, seconds)
    elif mount.type == "gpfs":
        name = mount.source.rpartition("/")[2]
        if name in now.gpfs:
            one.figures = "GPFS's client"
            _add_gpfs(one, _moved(before.gpfs.get(name), now.gpfs[name]), seconds)
    elif (device := device_of(mount, now.devices)) is not None and device.name in devices:
        rates = devices[device.name]
        one.figures = f"device {device.title or device.name}"
        for name in FROM_DEVICE:
            setattr(one, name, getattr(rates, name))


def _moved(before: dict[str, int] | None, now: dict[str, int]) -> Differences | None:
    return None if before is None else moved_all(before, now)


def _add_nfs(one: FileSystem, d: Differences | None, seconds: float) -> None:
    if not d:
        return
    one.read_bytes_per_second = _rate(d.get("server_read"), seconds)
    one.write_bytes_per_second = _rate(d.get("server_write"), seconds)
    one.asked_read_bytes_per_second = _rate(d.get("asked_read", 0) + d.get("direct_read", 0), seconds)
    one.asked_write_bytes_per_second = _rate(d.get("asked_write", 0) + d.get("direct_write", 0), seconds)
    one.reads_per_second = _rate(d.get("READ.calls"), seconds)
    one.writes_per_second = _rate(d.get("WRITE.calls"), seconds)
    moves = d.get("READ.calls", 0) + d.get("WRITE.calls", 0)
    if "all.calls" in d:
        one.metadata_per_second = _rate(d["all.calls"] - moves, seconds)
        one.retransmissions_per_second = _rate(max(0, d.get("all.transmissions", 0) - d["all.calls"]), seconds)
        one.timeouts_per_second = _rate(d.get("all.timeouts"), seconds)
    one.read_seconds = _mean(d.get("READ.rtt_ms"), d.get("READ.calls"), 1e3)
    one.write_seconds = _mean(d.get("WRITE.rtt_ms"), d.get("WRITE.calls"), 1e3)


def _add_lustre(one: FileSystem, d: Differences | None, seconds: float) -> None:
    if d is None:
        return
    # a line appears with the first call of its kind: without it there was none
    one.read_bytes_per_second = d.get("read_bytes.sum", 0) / seconds
    one.write_bytes_per_second = d.get("write_bytes.sum", 0) / seconds
    one.reads_per_second = d.get("read_bytes", 0) / seconds
    one.writes_per_second = d.get("write_bytes", 0) / seconds
    one.metadata_per_second = d.get("metadata", 0) / seconds
    one.read_seconds = _mean(d.get("read.sum"), d.get("read"), 1e6)
    one.write_seconds = _mean(d.get("write.sum"), d.get("write"), 1e6)


def _targets(name: str, before: "Reading", now: "Reading", seconds: float) -> dict[str, dict[str, float | None]]:
    found = {}
    for (system, target), counters in sorted(now.lustre.targets.items()):
        d = _moved(before.lustre.targets.get((system, target)), counters) if system == name else None
        if d is None:
            continue
        found[target] = {
            "read_bytes_per_second": d.get("read_bytes.sum", 0) / seconds,
            "write_bytes_per_second": d.get("write_bytes.sum", 0) / seconds,
            "read_seconds": _mean(d.get("ost_read.sum"), d.get("ost_read"), 1e6),
            "write_seconds": _mean(d.get("ost_write.sum"), d.get("ost_write"), 1e6),
        }
    return found


def _add_gpfs(one: FileSystem, d: Differences | None, seconds: float) -> None:
    if d is None:
        return
    one.read_bytes_per_second = _rate(d.get("read_bytes"), seconds)
    one.write_bytes_per_second = _rate(d.get("write_bytes"), seconds)
    one.reads_per_second, one.writes_per_second = _rate(d.get("reads"), seconds), _rate(d.get("writes"), seconds)
    one.metadata_per_second = sum(d.get(n, 0) for n in gpfs.METADATA) / seconds


def _add_space(one: FileSystem, now: "Reading") -> None:
    answer = now.space.get(one.mount)
    if answer is None:
        return
    one.space_waiting_seconds, one.space_error = answer.waiting, answer.error
    if answer.value is None:
        return
    total, free, available, files, files_free = answer.value
    one.total_bytes, one.available_bytes, one.files, one.files_free = total, available, files, files_free
    used = total - free
    one.used = used / (used + available) if used + available else None


def _rate(difference: int | None, seconds: float) -> float | None:
    return None if difference is None else difference / seconds


def _mean(total: int | None, count: int | None, scale: float) -> float | None:
    return total / scale / count if count and total is not None else None
