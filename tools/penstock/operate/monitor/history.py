"""history.py: last, average and maximum of what was recorded, by node, file system and job, of one file or several."""

import contextlib
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from penstock.base.errors import UserError
from penstock.base.links import followed
from penstock.operate.monitor.record import open_record

SCHEMA = "penstock.monitor.history/1"
FIGURES = ("read", "write", "metadata", "used")


@dataclass
class Figure:
    """Last, average and maximum of one rate. AVERAGE weights by length; intervals without a value do not count."""

    last: float | None = None
    last_time: float = 0.0
    total: float = 0.0
    seconds: float = 0.0
    maximum: float | None = None
    maximum_time: float = 0.0

    @property
    def average(self) -> float | None:
        return self.total / self.seconds if self.seconds else None

    def add(self, value: float | None, seconds: float, time: float) -> None:
        if value is None:
            return
        self.total += value * seconds
        self.seconds += seconds
        if time >= self.last_time:
            self.last, self.last_time = value, time
        if self.maximum is None or value > self.maximum:
            self.maximum, self.maximum_time = value, time

    def as_json(self) -> dict[str, Any]:
        when = text_of(self.maximum_time) if self.maximum is not None else None
        return {"last": self.last, "average": self.average, "maximum": self.maximum, "maximum_time": when}


@dataclass
class Subject:
    """A node (NAME is "" then), or a file system of one."""

    host: str
    name: str
    type: str = ""
    source: str = ""
    first: float = 0.0
    last: float = 0.0
    intervals: int = 0
    figures: dict[str, Figure] = field(default_factory=lambda: {name: Figure() for name in FIGURES})

    def add(self, time: float, seconds: float, values: Iterable[float | None]) -> None:
        for figure, value in zip(self.figures.values(), values, strict=True):
            figure.add(value, seconds, time)
        self.first = min(self.first or time - seconds, time - seconds)
        self.last = max(self.last, time)
        self.intervals += 1


@dataclass
class JobHistory:
    """One job on one node; PHASES: part of its recorded time."""

    host: str
    id: str
    program: str
    command: str
    user: str
    ranks: int | None
    first: float
    last: float
    commits: int
    read: Figure = field(default_factory=Figure)
    write: Figure = field(default_factory=Figure)
    phases: dict[str, float] = field(default_factory=dict)
    outputs: list[str] = field(default_factory=list)
    meanwhile: list[Subject] = field(default_factory=list)  # file systems of its node while it ran, where asked for


@dataclass
class History:
    nodes: list[Subject] = field(default_factory=list)
    file_systems: list[Subject] = field(default_factory=list)
    jobs: list[JobHistory] = field(default_factory=list)


def read_history(paths: list[Path], job: str | None) -> History:
    """Reads the records in PATHS: all of them or, with JOB, that job alone and what the file systems did meanwhile.
    Raises UserError if no record has it.
    """
    subjects: dict[tuple[str, str, str], Subject] = {}
    history = History()
    for path in {followed(path): path for path in paths}.values():
        try:
            with contextlib.closing(open_record(path, writable=False)) as sql:
                _add_subjects(sql, subjects)
                history.jobs += _jobs(sql, job)
        except sqlite3.Error as error:
            raise UserError(f"'{path}' cannot be read: {error}", 1) from None
    for (_, kind, _), subject in sorted(subjects.items()):
        (history.nodes if kind == "node" else history.file_systems).append(subject)
    if job is not None and not history.jobs:
        raise UserError(
            f"no job '{job}' was recorded in {', '.join(map(str, paths))}: --history without --job lists them"
        )
    history.jobs.sort(key=lambda one: (one.first, one.id, one.host))
    return history


def _add_subjects(
    sql: sqlite3.Connection,
    subjects: dict[tuple[str, str, str], Subject],
    within: tuple[str, float, float] | None = None,
) -> None:
    query = """SELECT host, kind, name, type, source, time, seconds, read, write, metadata, used
        FROM samples JOIN subjects ON subject = subjects.id JOIN nodes ON node = nodes.id"""
    bound: tuple[str | float, ...] = ()
    if within is not None:
        query += " WHERE host = ? AND time > ? AND time - seconds < ?"
        bound = within
    for host, kind, name, type_, source, time, seconds, *values in sql.execute(query, bound):
        one = subjects.setdefault((host, kind, name), Subject(host, name, type_, source))
        one.add(time, seconds, values)


def _jobs(sql: sqlite3.Connection, wanted: str | None) -> list[JobHistory]:
    query = """SELECT jobs.id, host, name, program, command, user, ranks, first, last, commits
        FROM jobs JOIN nodes ON node = nodes.id"""
    rows = sql.execute(query + (" WHERE name = ?" if wanted else ""), [wanted] if wanted else []).fetchall()
    found = []
    for number, *about in rows:
        one = JobHistory(*about)
        spent: dict[str, float] = {}
        samples = "SELECT time, seconds, phase, read, write, output FROM job_samples WHERE job = ? ORDER BY time"
        for time, seconds, phase, read, write, output in sql.execute(samples, [number]):
            one.read.add(read, seconds, time)
            one.write.add(write, seconds, time)
            spent[phase or "unknown"] = spent.get(phase or "unknown", 0.0) + seconds
            if output is not None and output not in one.outputs:
                one.outputs.append(output)
        total = sum(spent.values())
        one.phases = {phase: seconds / total for phase, seconds in sorted(spent.items(), key=lambda p: -p[1]) if total}
        if wanted:
            around: dict[tuple[str, str, str], Subject] = {}
            _add_subjects(sql, around, (one.host, one.first, one.last))
            one.meanwhile = [subject for (_, kind, _), subject in sorted(around.items()) if kind == "file_system"]
        found.append(one)
    return found


def to_record(history: History, paths: list[Path]) -> dict[str, Any]:
    """Schema penstock.monitor.history/1 (docs/monitor.md)."""
    return {
        "schema": SCHEMA,
        "files": [str(path) for path in paths],
        "nodes": [_subject(one) for one in history.nodes],
        "file_systems": [_subject(one) for one in history.file_systems],
        "jobs": [_job(one) for one in history.jobs],
    }


def text_of(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds")


def _subject(one: Subject) -> dict[str, Any]:
    what = {"mount": one.name, "type": one.type, "source": one.source} if one.name else {}
    times = {"from": text_of(one.first), "to": text_of(one.last), "intervals": one.intervals}
    return {"host": one.host, **what, **times, **{name: figure.as_json() for name, figure in one.figures.items()}}


def _job(one: JobHistory) -> dict[str, Any]:
    return {
        "id": one.id,
        "host": one.host,
        "program": one.program,
        "command": one.command,
        "user": one.user,
        "ranks": one.ranks,
        "from": text_of(one.first),
        "to": text_of(one.last),
        "commits": one.commits,
        "read": one.read.as_json() | {"bytes": one.read.total},
        "write": one.write.as_json() | {"bytes": one.write.total},
        "phases": one.phases,
        "outputs": one.outputs,
        "file_systems": [_subject(subject) for subject in one.meanwhile],
    }
