"""many.py: a folder of logs: which jobs lose most, with which libraries and patterns, and where the bytes go."""

import multiprocessing
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from penstock.base.errors import UserError
from penstock.diagnose.diagnosis import Diagnosis, diagnose
from penstock.diagnose.facts import Facts, Use
from penstock.jobs.any_job import RUN, read_job

T = TypeVar("T")

SCHEMA = "penstock.doctor.many/1"
LIBRARIES = {
    "H5D": "HDF5", "PNETCDF_VAR": "PnetCDF", "MPI-IO": "MPI-IO", "POSIX": "POSIX", "STDIO": "stdio",
}  # fmt: skip
STREAM_BYTES = 1 << 16  # of a library: less is a program's messages
KILLED = "a process that read logs was killed, for want of memory perhaps"
NO_LOGS = "no Darshan logs (*.darshan), traces or profiles in it"
CHUNK = 8  # logs handed to a process at once


@dataclass(frozen=True)
class Summary:
    """What is kept of one log."""

    source: str
    program: str = ""
    job_id: str = ""
    ranks: int = 0
    seconds: float = 0.0
    core_hours: float = 0.0
    io_share: float = 0.0
    io_core_hours: float = 0.0
    lost_core_hours: float = 0.0
    rule: str = ""
    severity: str = ""
    title: str = ""
    verdict: str = ""
    read_bytes: int = 0
    written_bytes: int = 0
    libraries: dict[str, tuple[float, int, int]] = field(default_factory=dict)  # core-hours in it; bytes read, written
    pattern: str = ""
    areas: dict[str, tuple[int, int]] = field(default_factory=dict)  # by mount: bytes read, written
    error: str = ""


@dataclass
class Used:
    """Jobs that use something, the core-hours of their I/O, their bytes."""

    jobs: int = 0
    core_hours: float = 0.0
    read_bytes: int = 0
    written_bytes: int = 0


def logs_in(folder: Path) -> list[Path]:
    """Darshan's logs, and folders of runs that were traced or profiled."""
    found: set[Path] = set()
    for path in folder.rglob("*"):
        if path.suffix in (".darshan", ".darshan_partial"):
            found |= {path} if path.is_file() else set()
        elif path.suffix in RUN and path.name.startswith("rank"):
            found.add(path.parent)
    return sorted(found)


def each_of(
    paths: Sequence[Path], processes: int | None, make: Callable[[Path], T], seen: Callable[[], None]
) -> Iterator[T]:
    """What MAKE makes of each, by several processes at once, in the order of PATHS. SEEN is called after each.

    UserError where the system killed one of the processes.
    """
    count = min(processes or len(os.sched_getaffinity(0)), len(paths)) or 1
    with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("fork")) as pool:
        try:
            for one in pool.map(make, paths, chunksize=CHUNK):
                seen()
                yield one
        except BrokenProcessPool:
            raise UserError(f"{KILLED}: --processes 1 takes less of it", status=1) from None


def look_at(paths: Sequence[Path], processes: int | None, seen: Callable[[], None]) -> Iterator[Summary]:
    return each_of(paths, processes, summary, seen)


def summary(path: Path) -> Summary:
    try:
        return summary_of(path, diagnose(read_job(path)))
    except Exception as error:  # one log of thousands
        return Summary(str(path), error=why(error, path))


def why(error: Exception, path: Path) -> str:
    """Why PATH could not be looked at, as a part of a line."""
    if isinstance(error, UserError):
        return str(error).removeprefix(f"{path}: ")
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"a fault of penstock doctor, please report it: {type(error).__name__}: {error}"


def summary_of(path: Path, found: Diagnosis) -> Summary:
    job, facts = found.job, found.facts
    first = found.first or next(iter(found.worth), None) if found.is_io else None
    return Summary(
        source=str(path),
        program=job.program,
        job_id=job.job_id,
        ranks=job.ranks,
        seconds=job.seconds,
        core_hours=job.core_hours,
        io_share=facts.outermost.share,
        io_core_hours=found.core_hours,
        lost_core_hours=found.lost_core_hours if found.is_io else 0.0,
        rule=first.rule if first else "",
        severity=first.severity if first else "",
        title=first.title if first else "",
        verdict=found.verdict,
        read_bytes=facts.outermost.read_bytes,
        written_bytes=facts.outermost.written_bytes,
        libraries={
            LIBRARIES[one.module]: (job.core_hours * one.mean_share, one.read_bytes, one.written_bytes)
            for one in facts.layers
            if one.module in LIBRARIES and one.read_bytes + one.written_bytes > STREAM_BYTES
        },
        pattern=_pattern(facts),
        areas=_areas(facts),
    )


def _pattern(facts: Facts) -> str:
    """How most bytes move."""
    moved: dict[str, float] = defaultdict(float)
    for use, is_mpi in ((facts.mpi, True), (facts.posix, False)):
        for i, path in enumerate(use.paths):
            if not is_mpi and facts.mpi.index(path) is not None:
                continue
            many = float(use.of("BYTES_READ")[i] + use.of("BYTES_WRITTEN")[i])
            if use.rank_count[i] <= 1:
                moved["one rank for each file"] += many
            elif is_mpi and use.collective[i]:
                moved["shared, collective"] += many
            else:
                moved["shared, independent"] += many
    if not any(moved.values()):
        return "nothing"
    best = max(moved, key=lambda kind: moved[kind])
    if best == "one rank for each file" and len({int(r) for r in facts.posix.rows.ranks if r >= 0}) <= 1:
        return "one rank alone"
    return best


def _areas(facts: Facts) -> dict[str, tuple[int, int]]:
    made: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    places: dict[str, str] = {}
    for use in (facts.posix, facts.stdio):
        read, written = _bytes(use)
        for i, path in enumerate(use.paths):
            folder = path.rsplit("/", 1)[0]
            if folder not in places:
                places[folder] = next(
                    (p for p, _ in facts.job.mounts if path.startswith(p.rstrip("/") + "/")), "elsewhere"
                )
            made[places[folder]][0] += int(read[i])
            made[places[folder]][1] += int(written[i])
    return {place: (read, written) for place, (read, written) in made.items() if read or written}


def _bytes(use: Use) -> tuple[Any, Any]:
    return use.of("BYTES_READ"), use.of("BYTES_WRITTEN")


def usage(found: Sequence[Summary], kinds: Callable[[Summary], Sequence[str]]) -> dict[str, Used]:
    """Sums up jobs, core-hours and bytes for each kind that KINDS returns, most core-hours first. A job of several
    kinds counts for each of them; a log that could not be read counts for none.
    """
    made: dict[str, Used] = defaultdict(Used)
    for one in found:
        for kind in kinds(one) if not one.error else ():
            used = made[kind]
            used.jobs += 1
            used.core_hours += one.io_core_hours
            used.read_bytes += one.read_bytes
            used.written_bytes += one.written_bytes
    return dict(sorted(made.items(), key=lambda item: -item[1].core_hours))


def libraries(found: Sequence[Summary]) -> dict[str, Used]:
    made: dict[str, Used] = defaultdict(Used)
    for one in found:
        for name, (hours, read, written) in one.libraries.items():
            used = made[name]
            used.jobs += 1
            used.core_hours += hours
            used.read_bytes += read
            used.written_bytes += written
    return dict(sorted(made.items(), key=lambda item: -item[1].core_hours))


def areas(found: Sequence[Summary]) -> dict[str, Used]:
    made: dict[str, Used] = defaultdict(Used)
    for one in found:
        for place, (read, written) in one.areas.items():
            used = made[place]
            used.jobs += 1
            used.read_bytes += read
            used.written_bytes += written
    return dict(sorted(made.items(), key=lambda item: -(item[1].read_bytes + item[1].written_bytes)))


def ranked(found: Sequence[Summary]) -> list[Summary]:
    return sorted((one for one in found if not one.error), key=lambda one: -one.lost_core_hours)


def to_record(folder: Path, found: Sequence[Summary]) -> dict[str, Any]:
    whole = [one for one in found if not one.error]
    return {
        "schema": SCHEMA,
        "folder": str(folder),
        "logs": len(found),
        "core_hours": sum(one.core_hours for one in whole),
        "io_core_hours": sum(one.io_core_hours for one in whole),
        "lost_core_hours": sum(one.lost_core_hours for one in whole),
        "jobs": [asdict(one) for one in ranked(found)],
        "libraries": {name: asdict(used) for name, used in libraries(found).items()},
        "patterns": {name: asdict(used) for name, used in usage(found, lambda one: (one.pattern,)).items()},
        "rules": {
            name: asdict(used) for name, used in usage(found, lambda one: (one.rule,) if one.rule else ()).items()
        },
        "areas": {name: asdict(used) for name, used in areas(found).items()},
        "unreadable": [{"source": one.source, "error": one.error} for one in found if one.error],
    }
