"""database.py: the catalogue in SQLite: brought up to date by size and time of each file, and searched."""

import contextlib
import os
import re
import sqlite3
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.base.errors import UserError
from penstock.base.links import followed
from penstock.base.printable import valid_utf8
from penstock.files.catalogue import search
from penstock.files.catalogue.contents import Contents, kind_of
from penstock.files.catalogue.worker import Reader

NAME = ".penstock-catalogue.sqlite"
VERSION = 1
BUSY_SECONDS = 60.0
BATCH = 64
PART = re.compile(r"\.g[0-9a-f]{16}\.")  # a file of a set beside its master
TABLES = """
CREATE TABLE files (id INTEGER PRIMARY KEY, root TEXT NOT NULL, path TEXT NOT NULL, bytes INTEGER NOT NULL,
  modified INTEGER NOT NULL, format TEXT NOT NULL, error TEXT, UNIQUE (root, path));
CREATE TABLE datasets (file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE, name TEXT NOT NULL, type TEXT NOT NULL,
  shape TEXT NOT NULL);
CREATE TABLE attributes (file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE, object TEXT NOT NULL,
  name TEXT NOT NULL, text TEXT NOT NULL, number REAL);
CREATE INDEX datasets_of ON datasets (file);
CREATE INDEX attributes_of ON attributes (file);
CREATE INDEX attributes_named ON attributes (name);
"""


@dataclass
class Changes:
    """What an update found."""

    read: int = 0
    known: int = 0
    gone: int = 0
    unsearched: dict[str, str] = field(default_factory=dict)  # folders, and why


@dataclass
class Row:
    """A file that was found. MATCHED: the attributes that the search was about."""

    path: str
    format: str
    bytes: int
    modified: int
    error: str | None
    datasets: list[dict[str, Any]] = field(default_factory=list)
    attributes: list[dict[str, Any]] = field(default_factory=list)
    matched: list[dict[str, Any]] = field(default_factory=list)


class Catalogue:
    """One of the folder ROOT. In a database that lies elsewhere there may be others."""

    def __init__(self, root: Path, database: Path | None) -> None:
        self.root = followed(root)
        self.database = database or self.root / NAME
        self._key = valid_utf8(str(self.root)) if database else ""
        try:
            self._sql = sqlite3.connect(self.database, timeout=BUSY_SECONDS, isolation_level=None)
            self._sql.execute("PRAGMA foreign_keys = ON")
            with self._transaction():
                version = self._sql.execute("PRAGMA user_version").fetchone()[0]
                if version == 0:
                    if self._sql.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
                        raise sqlite3.DatabaseError("it is the database of something else")
                    for statement in TABLES.split(";"):
                        self._sql.execute(statement)
                    self._sql.execute(f"PRAGMA user_version = {VERSION:d}")
        except sqlite3.Error as error:
            remedy = "remove it" if database is None and "not a database" in str(error) else "name another"
            raise UserError(
                f"the catalogue '{self.database}' cannot be used: {error}: {remedy} with --database FILE", status=1
            ) from None
        if version not in (0, VERSION):
            what = "of another version of penstock: remove it" if database is None else "no catalogue of this penstock"
            raise UserError(f"the catalogue '{self.database}' is {what}, or name another with --database FILE", 1)

    def close(self) -> None:
        self._sql.close()

    def update(self) -> Changes:
        """Reads what is new or has changed, forgets what is gone."""
        rows = self._sql.execute("SELECT path, bytes, modified FROM files WHERE root = ?", [self._key])
        known = {path: (size, modified) for path, size, modified in rows}
        changes, seen, pending = Changes(), set(), []
        with Reader() as reader:
            for path, info in _walk(self.root, changes):
                name = valid_utf8(str(path.relative_to(self.root)))
                if known.get(name) == (info.st_size, info.st_mtime_ns):
                    seen.add(name)
                    changes.known += 1
                    continue
                found = _look(reader, path)
                if found is None:
                    continue
                seen.add(name)
                changes.read += 1
                pending.append((name, info, *found))
                if len(pending) == BATCH:
                    self._store(pending)
                    pending = []
        self._store(pending)
        gone = [name for name in known if name not in seen]
        changes.gone = len(gone)
        with self._transaction():
            self._sql.executemany("DELETE FROM files WHERE root = ? AND path = ?", [(self._key, name) for name in gone])
        return changes

    def find(self, conditions: list[search.Condition], names: list[str]) -> list[Row]:
        """Files of which every condition holds, with a dataset that matches every pattern of NAMES."""
        where: list[str] = ["files.root = ?"]
        bound: list[str | float] = [self._key]
        matches = [search.matching(condition) for condition in conditions]
        for test, values in matches:
            where.append(f"EXISTS (SELECT 1 FROM attributes WHERE attributes.file = files.id AND {test})")  # noqa: S608
            bound += values
        for name in names:
            where.append(
                "EXISTS (SELECT 1 FROM datasets WHERE datasets.file = files.id AND"
                " (datasets.name GLOB ? OR datasets.name GLOB '*/' || ?))"
            )
            bound += [name, name]
        tests = " AND ".join(where)  # texts of ours alone: values are bound
        columns = "id, path, format, bytes, modified, error"
        statement = f"SELECT {columns} FROM files WHERE {tests} ORDER BY path"  # noqa: S608
        return [self._row(file, matches, *rest) for file, *rest in self._sql.execute(statement, bound).fetchall()]

    def _row(self, file: int, matches: list[search.Sql], *rest: Any) -> Row:
        row = Row(*rest)
        for name, kind, shape in self._sql.execute("SELECT name, type, shape FROM datasets WHERE file = ?", [file]):
            row.datasets.append({"name": name, "type": kind, "shape": [int(n) for n in shape.split()]})
        select = "SELECT object, name, text, number FROM attributes WHERE file = ?"
        row.attributes = [_attribute(*one) for one in self._sql.execute(select, [file])]
        for test, values in matches:
            row.matched += [_attribute(*one) for one in self._sql.execute(f"{select} AND {test}", [file, *values])]
        return row

    def _store(self, found: list[tuple[str, os.stat_result, str, Contents | str]]) -> None:
        with self._transaction():
            for name, info, kind, contents in found:
                self._sql.execute("DELETE FROM files WHERE root = ? AND path = ?", [self._key, name])
                is_error = isinstance(contents, str)
                row = [self._key, name, info.st_size, info.st_mtime_ns]
                row += [
                    kind if isinstance(contents, str) else contents.format,
                    valid_utf8(str(contents)) if is_error else None,
                ]
                statement = "INSERT INTO files (root, path, bytes, modified, format, error) VALUES (?, ?, ?, ?, ?, ?)"
                file = self._sql.execute(statement, row).lastrowid
                if isinstance(contents, str):
                    continue
                self._sql.executemany(
                    "INSERT INTO datasets VALUES (?, ?, ?, ?)",
                    [(file, valid_utf8(d.name), d.type, " ".join(map(str, d.shape))) for d in contents.datasets],
                )
                self._sql.executemany(
                    "INSERT INTO attributes VALUES (?, ?, ?, ?, ?)",
                    [
                        (
                            file,
                            valid_utf8(a.object),
                            valid_utf8(a.name),
                            _text(a.value),
                            None if isinstance(a.value, str) else a.value,
                        )
                        for a in contents.attributes
                    ],
                )

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """Runs the `with` block as one transaction, all or nothing; waits for other writers."""
        self._sql.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._sql.execute("ROLLBACK")
            raise
        self._sql.execute("COMMIT")


def _walk(root: Path, changes: Changes) -> Iterator[tuple[Path, os.stat_result]]:
    """Regular files that may be published ones: neither hidden, nor parts of a set."""

    def passed_over(error: OSError) -> None:
        place = os.path.relpath(error.filename, root)
        changes.unsearched[valid_utf8(place)] = os.strerror(error.errno or 0)

    for folder, folders, names in os.walk(root, onerror=passed_over):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.startswith(".") or PART.search(name):
                continue
            path = Path(folder) / name
            try:
                info = path.lstat()
            except OSError:
                continue  # it went meanwhile
            if stat.S_ISREG(info.st_mode):
                yield path, info


def _look(reader: Reader, path: Path) -> tuple[str, Contents | str] | None:
    try:
        kind = kind_of(path)
    except OSError as error:
        return "unknown", os.strerror(error.errno or 0)
    return (kind, reader.read(path, kind)) if kind else None


def _attribute(owner: str, name: str, text: str, number: float | None) -> dict[str, Any]:
    return {"object": owner, "name": name, "value": text if number is None else number}


def _text(value: str | float) -> str:
    return valid_utf8(value) if isinstance(value, str) else f"{value:.17g}"
