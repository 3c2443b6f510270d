"""devices.py: block devices from /proc/diskstats; what is a partition of which, and what lies on what."""

import re
from dataclasses import dataclass
from pathlib import Path

from penstock.operate.monitor.counters import integers, lines_of, moved_all, text_of

SECTOR = 512  # whatever the device's own is
# In the order of the kernel's Documentation/admin-guide/iostats.rst; older kernels have the first 11, then 15.
WORDS = (
    "reads reads_merged read_sectors read_ms writes writes_merged write_sectors write_ms in_flight busy_ms queue_ms "
    "discards discards_merged discard_sectors discard_ms flushes flush_ms"
)
FIELDS = WORDS.split()
LEAST_FIELDS = 11
MILLISECONDS = frozenset(name for name in FIELDS if name.endswith("_ms"))  # of 32 bits, whatever the machine's
PARTITION = re.compile(r"(?:(?:sd|hd|vd|xvd)[a-z]+|(?:nvme\d+n\d+|mmcblk\d+|loop\d+|nbd\d+|zram\d+|md\d+)p)\d+")


@dataclass(frozen=True)
class Device:
    """Counters since the machine's start."""

    name: str
    numbers: str  # "254:0"
    title: str  # of a device-mapper device, what its volume is called
    below: tuple[str, ...]  # devices that it lies on: their bytes are its bytes
    counters: dict[str, int]
    in_flight: int
    partition_of: str | None = None


@dataclass(frozen=True)
class DeviceRates:
    """The rates of one block device over one interval."""

    name: str
    title: str
    below: tuple[str, ...]
    in_flight: int
    read_bytes_per_second: float | None = None
    write_bytes_per_second: float | None = None
    reads_per_second: float | None = None
    writes_per_second: float | None = None
    utilisation: float | None = None  # part of the time in which anything was under way
    queue: float | None = None  # mean number under way
    read_seconds: float | None = None  # mean of a request, waiting included
    write_seconds: float | None = None
    flushes_per_second: float | None = None


def read_devices(root: Path) -> dict[str, Device]:
    """Returns all block devices, partitions too, that have moved any bytes since boot, keyed by name."""
    found = {}
    for line in lines_of(root / "proc/diskstats"):
        words = line.split()
        values = integers(words[3:])
        if len(values) < LEAST_FIELDS or not any(values):
            continue
        name = words[2]
        counters = dict(zip(FIELDS, values, strict=False))
        in_flight = counters.pop("in_flight")
        numbers = f"{words[0]}:{words[1]}"
        whole = _whole(root, name)
        found[name] = Device(name, numbers, _title(root, name), _below(root, name), counters, in_flight, whole)
    return found


def rates(before: Device | None, now: Device, seconds: float) -> DeviceRates:
    """None for all where NOW is new, or began again."""
    names = (now.name, now.title, now.below, now.in_flight)
    if before is None or before.numbers != now.numbers or seconds <= 0:
        return DeviceRates(*names)
    d = moved_all(before.counters, now.counters, MILLISECONDS)
    if d is None:
        return DeviceRates(*names)
    return DeviceRates(
        *names,
        d["read_sectors"] * SECTOR / seconds,
        d["write_sectors"] * SECTOR / seconds,
        d["reads"] / seconds,
        d["writes"] / seconds,
        min(1.0, d["busy_ms"] / 1e3 / seconds),
        d["queue_ms"] / 1e3 / seconds,
        d["read_ms"] / 1e3 / d["reads"] if d["reads"] else None,
        d["write_ms"] / 1e3 / d["writes"] if d["writes"] else None,
        d["flushes"] / seconds if "flushes" in d else None,
    )


def _whole(root: Path, name: str) -> str | None:
    """The disk that NAME is a partition of."""
    folder = root / "sys/class/block" / name
    if folder.exists():
        return folder.resolve().parent.name if (folder / "partition").exists() else None
    if PARTITION.fullmatch(name) is None:
        return None
    disk = name.rstrip("0123456789")
    return disk.removesuffix("p") if re.search(r"\dp$", disk) else disk


def _below(root: Path, name: str) -> tuple[str, ...]:
    try:
        return tuple(sorted(path.name for path in (root / "sys/class/block" / name / "slaves").iterdir()))
    except OSError:
        return ()


def _title(root: Path, name: str) -> str:
    if not name.startswith("dm-"):
        return ""
    try:
        return text_of(root / "sys/class/block" / name / "dm/name").strip()
    except OSError:
        return ""
