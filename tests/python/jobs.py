"""jobs.py: runs of programs as Darshan would tell them, for the doctor's tests."""

import os
from pathlib import Path
from typing import Any

import pytest

from penstock.jobs.job import SHARED, Job, Module, Record

MIB = 1 << 20
GIB = 1 << 30
LOGS = Path(os.environ.get("PENSTOCK_DATA", Path(__file__).parents[3] / "shared" / "data")) / "darshan"
logs = pytest.mark.skipif(not LOGS.is_dir(), reason=f"no public Darshan logs in {LOGS}")
PREFIX = {"POSIX": "POSIX", "MPI-IO": "MPIIO", "STDIO": "STDIO"}


def record(module: str, path: str = "/scratch/out", rank: int = SHARED, **numbers: float) -> Record:
    """Numbers by Darshan's names without the module: BYTES_READ=3, F_READ_TIME=0.5."""
    prefix = PREFIX[module]
    counters = {f"{prefix}_{name}": int(value) for name, value in numbers.items() if not name.startswith("F_")}
    times = {f"{prefix}_{name}": float(value) for name, value in numbers.items() if name.startswith("F_")}
    return Record(path, rank, counters, times)


def shared(module: str, ranks: int, movers: int, path: str = "/scratch/out", **numbers: float) -> Record:
    """A record of all RANKS, of which MOVERS move all bytes, alike."""
    total = numbers.get("BYTES_READ", 0) + numbers.get("BYTES_WRITTEN", 0)
    each = total / movers
    variance = (movers * (each - total / ranks) ** 2 + (ranks - movers) * (total / ranks) ** 2) / ranks
    seconds = sum(numbers.get(f"F_{verb}_TIME", 0.0) for verb in ("READ", "WRITE", "META"))
    some = {
        "F_VARIANCE_RANK_BYTES": variance,
        "SLOWEST_RANK_BYTES": each,
        "F_SLOWEST_RANK_TIME": seconds / movers if module == "POSIX" else seconds / ranks,
    }
    return record(module, path, SHARED, **(some | numbers))


def job(*records: Record, ranks: int = 64, seconds: float = 100.0, **more: Any) -> Job:
    modules: dict[str, list[Record]] = {}
    for one in records:
        first = next(iter([*one.counters, *one.times]))
        name = next(module for module, prefix in PREFIX.items() if first.startswith(prefix))
        modules.setdefault(name, []).append(one)
    made = {name: Module(name, tuple(found)) for name, found in modules.items()}
    settings: dict[str, Any] = {"mounts": (("/scratch", "lustre"), ("/home", "nfs4"), ("/", "overlay"))}
    program = more.pop("program", "solver")
    return Job("made up", "darshan", program, ranks, seconds, 0.0, "1", made, **(settings | more))
