"""record.py: samples into an SQLite file, whose tables docs/formats/monitor.md describes; old ones are removed."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from penstock.base.errors import UserError, must_be_there
from penstock.base.printable import valid_utf8
from penstock.operate.monitor.file_systems import FileSystem
from penstock.operate.monitor.jobs import Job
from penstock.operate.monitor.sample import Sample

VERSION = 1
APPLICATION = 0x50454E4D  # "PENM"
BUSY_SECONDS = 2.0
DAY = 86400.0
PRUNE_SECONDS = 600.0
PAUSE_SECONDS = 60.0
BATCH = ("slurm", "pbs", "lsf", "flux", "sge")
TABLES = """
CREATE TABLE nodes (id INTEGER PRIMARY KEY, host TEXT NOT NULL UNIQUE);
CREATE TABLE subjects (id INTEGER PRIMARY KEY, node INTEGER NOT NULL REFERENCES nodes, kind TEXT NOT NULL,
  name TEXT NOT NULL, type TEXT NOT NULL, source TEXT NOT NULL, UNIQUE (node, kind, name));
CREATE TABLE samples (time REAL NOT NULL, seconds REAL NOT NULL, subject INTEGER NOT NULL REFERENCES subjects,
  read REAL, write REAL, reads REAL, writes REAL, metadata REAL, used REAL);
CREATE TABLE jobs (id INTEGER PRIMARY KEY, node INTEGER NOT NULL REFERENCES nodes, name TEXT NOT NULL,
  program TEXT NOT NULL, command TEXT NOT NULL, user TEXT NOT NULL, ranks INTEGER, first REAL NOT NULL,
  last REAL NOT NULL, commits INTEGER NOT NULL);
CREATE TABLE job_samples (time REAL NOT NULL, seconds REAL NOT NULL, job INTEGER NOT NULL REFERENCES jobs,
  phase TEXT, read REAL, write REAL, output TEXT, progress REAL);
CREATE INDEX jobs_named ON jobs (node, name);
CREATE INDEX samples_by_subject ON samples (subject, time);
CREATE INDEX samples_by_time ON samples (time);
CREATE INDEX job_samples_by_job ON job_samples (job, time);
CREATE INDEX job_samples_by_time ON job_samples (time);
"""


class Record:
    """A file that samples are added to. LOST: samples that had no room; TROUBLE: why the last one was not taken."""

    def __init__(self, path: Path, keep_days: float) -> None:
        self.path = path
        self.lost = 0
        self.trouble: str | None = None
        self._keep = keep_days * DAY
        self._pruned = 0.0
        self._sql = open_record(path, writable=True)

    def __enter__(self) -> "Record":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._sql.close()

    def add(self, sample: Sample) -> None:
        """All of it or nothing: on a full disk the monitor goes on, and tries again with the next one."""
        try:
            with transaction(self._sql):
                self._add(sample)
            self.trouble = None
        except sqlite3.Error as error:
            self.lost += 1
            self.trouble = f"'{self.path}': {error}: {self.lost} sample{'s' if self.lost > 1 else ''} not recorded"
            return
        if abs(sample.clock - self._pruned) >= PRUNE_SECONDS:
            self._pruned = sample.clock
            with contextlib.suppress(sqlite3.Error):
                self._prune(sample.clock - self._keep)

    def _add(self, sample: Sample) -> None:
        node = self._id("nodes", {"host": sample.host})
        every = FileSystem("", [], "", "", False)
        every.read_bytes_per_second = sample.node.read_bytes_per_second
        every.write_bytes_per_second = sample.node.write_bytes_per_second
        for kind, one in [("node", every), *(("file_system", one) for one in sample.file_systems)]:
            subject = self._id("subjects", {"node": node, "kind": kind, "name": valid_utf8(one.mount)}, _about(one))
            rates = (one.read_bytes_per_second, one.write_bytes_per_second, one.reads_per_second, one.writes_per_second)
            row = (sample.clock, sample.seconds, subject, *rates, one.metadata_per_second, one.used)
            self._sql.execute("INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        for job in sample.jobs:
            self._add_job(node, sample, job)

    def _add_job(self, node: int, sample: Sample, job: Job) -> None:
        number = self._job_id(node, sample, job)
        update = "UPDATE jobs SET last = ?, commits = max(commits, ?), ranks = coalesce(?, ranks) WHERE id = ?"
        self._sql.execute(update, (sample.clock, job.commits, job.ranks, number))
        output = job.outputs[0] if job.outputs else None
        rates = (job.phase, job.read_bytes_per_second, job.write_bytes_per_second)
        what = (valid_utf8(output.path), output.progress) if output else (None, None)
        row = (sample.clock, sample.seconds, number, *rates, *what)
        self._sql.execute("INSERT INTO job_samples VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def _job_id(self, node: int, sample: Sample, job: Job) -> int:
        """Numbers that no scheduler gave are given again: after a pause they mean another job."""
        key: dict[str, str | int | float | None]
        key = {"node": node, "name": valid_utf8(job.id), "program": valid_utf8(job.program)}
        query = "SELECT id, last FROM jobs WHERE node = ? AND name = ? AND program = ? ORDER BY last DESC LIMIT 1"
        found = self._sql.execute(query, list(key.values())).fetchone()
        is_batch = job.id.partition("-")[0] in BATCH
        if found is not None and (is_batch or sample.clock - sample.seconds - found[1] < PAUSE_SECONDS):
            return int(found[0])
        about = {"command": valid_utf8(job.command), "user": valid_utf8(job.user), "ranks": job.ranks}
        times = {"first": sample.clock - sample.seconds, "last": sample.clock, "commits": 0}
        return self._insert("jobs", key | about | times)

    def _id(
        self, table: str, key: dict[str, str | int], more: dict[str, str | int | float | None] | None = None
    ) -> int:
        where = " AND ".join(f"{name} = ?" for name in key)
        found = self._sql.execute(f"SELECT id FROM {table} WHERE {where}", list(key.values())).fetchone()  # noqa: S608
        if found is not None:
            return int(found[0])
        return self._insert(table, key | (more or {}))

    def _insert(self, table: str, row: Mapping[str, str | int | float | None]) -> int:
        marks = ", ".join("?" for _ in row)
        statement = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"  # noqa: S608
        return int(self._sql.execute(statement, list(row.values())).lastrowid or 0)

    def _prune(self, before: float) -> None:
        with transaction(self._sql):
            self._sql.execute("DELETE FROM samples WHERE time < ?", [before])
            self._sql.execute("DELETE FROM job_samples WHERE time < ?", [before])
            self._sql.execute("DELETE FROM jobs WHERE last < ?", [before])
        self._sql.execute("PRAGMA incremental_vacuum").fetchall()


def open_record(path: Path, writable: bool) -> sqlite3.Connection:
    """Opens the record at PATH. If WRITABLE, creates it where there is none. Raises UserError if it is no record, was
    written by a newer penstock, or holds nothing to read.
    """
    if not writable:
        must_be_there(path)
        if not path.is_file():
            raise UserError(f"'{path}': it is not a regular file")
    try:
        sql = _connect(path, writable)
        version, application = (
            sql.execute(f"PRAGMA {name}").fetchone()[0] for name in ("user_version", "application_id")
        )
        tables = sql.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if tables and application != APPLICATION:
            raise UserError(f"'{path}' is the database of something else: name another file")
        if version > VERSION:
            raise UserError(
                f"'{path}' was recorded by a newer penstock (its tables are of version {version}, known here is "
                f"{VERSION}): update this one, or name another file"
            )
        if writable and not tables:
            _make(sql)
        elif not tables:
            raise UserError(f"'{path}' is empty: nothing was recorded in it")
    except sqlite3.Error as error:
        remedy = "is it penstock's?" if "not a database" in str(error) else "name another file, or free the place"
        raise UserError(f"'{path}' cannot be {'recorded to' if writable else 'read'}: {error}: {remedy}", 1) from None
    return sql


def _connect(path: Path, writable: bool) -> sqlite3.Connection:
    """To read what another user recorded, where no lock can be made beside it, it is taken as nobody writing it."""
    place = f"file:{quote(os.fsencode(path.absolute()))}"
    for mode in ("rwc",) if writable else ("ro", "ro&immutable=1"):
        sql = sqlite3.connect(f"{place}?mode={mode}", timeout=BUSY_SECONDS, isolation_level=None, uri=True)
        try:
            sql.execute("PRAGMA foreign_keys = ON")
            sql.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except sqlite3.OperationalError:
            sql.close()
            if mode.startswith("rwc") or "immutable" in mode:
                raise
        else:
            return sql
    raise AssertionError


def _make(sql: sqlite3.Connection) -> None:
    sql.execute("PRAGMA auto_vacuum = INCREMENTAL")
    sql.execute("PRAGMA journal_mode = WAL")
    with transaction(sql):
        for statement in TABLES.split(";"):
            sql.execute(statement)
        sql.execute(f"PRAGMA application_id = {APPLICATION:d}")
        sql.execute(f"PRAGMA user_version = {VERSION:d}")


@contextlib.contextmanager
def transaction(sql: sqlite3.Connection) -> Iterator[None]:
    """Runs the `with` block as one transaction, all or nothing; waits for another writer."""
    sql.execute("BEGIN IMMEDIATE")
    try:
        yield
        sql.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            sql.execute("ROLLBACK")
        raise


def _about(one: FileSystem) -> dict[str, str | int | float | None]:
    return {"type": one.type, "source": valid_utf8(one.source)}
