"""lustre.py: what the Lustre client counted: of file systems (llite) and of their targets (osc)."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from penstock.operate.monitor.counters import integers, text_of

PLACES = ("proc/fs/lustre", "sys/kernel/debug/lustre", "sys/fs/lustre")
LINE = re.compile(r"(\w+)\s+(\d+) samples \[(\w+)\](.*)")
CALLS = ("regs", "reqs", "usec", "usecs")  # units of what is counted by calls, as versions have it
MOVES = ("read_bytes", "write_bytes", "brw_read", "brw_write", "read", "write", "osc_read", "osc_write", "statfs")
INSTANCE = re.compile(r"(.+)-[0-9a-f]{8,16}")  # scratch-ffff9a0c8b1d0800
TARGET = re.compile(r"(.+)-(OST[0-9a-f]{4})-osc(?:-\w+)?")


@dataclass
class Lustre:
    """Counters keyed by file system, and by file system and target. TROUBLE: why some are missing."""

    file_systems: dict[str, dict[str, int]] = field(default_factory=dict)
    targets: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)
    trouble: str | None = None


def read_lustre(root: Path) -> Lustre:
    """Several instances of one file system, mounted twice, are added up."""
    found = Lustre()
    for place in PLACES:
        try:
            _read_all(root / place, found)
        except PermissionError:
            found.trouble = f"Lustre's statistics are in /{place}, which only root may read"
        if found.file_systems:
            found.trouble = None
            break
    return found


def _read_all(folder: Path, found: Lustre) -> None:
    for path in _below(folder / "llite"):
        name = INSTANCE.fullmatch(path.name)
        _add(found.file_systems.setdefault(name[1] if name else path.name, {}), path / "stats")
    for path in _below(folder / "osc"):
        if (target := TARGET.fullmatch(path.name)) is not None:
            _add(found.targets.setdefault((target[1], target[2]), {}), path / "stats")


def _below(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if (path / "stats").exists())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _add(counters: dict[str, int], path: Path) -> None:
    for name, value in parse(text_of(path)).items():
        counters[name] = counters.get(name, 0) + value


def parse(text: str) -> dict[str, int]:
    """Samples of each line under its name, and sums, where it has any, as NAME.sum: bytes, or microseconds."""
    counters: dict[str, int] = {"metadata": 0}
    for line in text.splitlines():
        if (found := LINE.match(line)) is None:
            continue
        name, samples, unit, rest = found[1], int(found[2]), found[3], integers(found[4].split())
        counters[name] = samples
        if len(rest) >= 3:
            counters[f"{name}.sum"] = rest[2]
        if unit in CALLS and name not in MOVES:
            counters["metadata"] += samples
    return counters
