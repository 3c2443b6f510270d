"""wisdom.py: the file in which measured and simulated plans are kept ("penstock.wisdom/1", docs/wisdom.md)."""

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from penstock.base.errors import UserError
from penstock.base.replaceable import must_be_replaceable

SCHEMA = "penstock.wisdom/1"
SETTING = "PENSTOCK_WISDOM"
Problem = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """RATIO is the time of PLAN over that of the default plan, in the same repetitions, with its 95 % interval."""

    problem: Problem
    plan: str  # a transport and its parameters
    ratio: float
    low: float | None
    high: float | None
    measured: str  # "2026-11-27"
    seconds: float  # median
    repetitions: int
    budget_seconds: float | None
    expires: str | None = None
    simulated: str | None = None  # on the machine of this name, instead of measured; for any MPI library


def files() -> list[Path]:
    """Those that the library reads, of which the first ones count most."""
    given = os.environ.get(SETTING, "")
    if given:
        return [Path(name) for name in given.split(":") if name and given != "none"]
    base = os.environ.get("XDG_CONFIG_HOME", "")
    config = Path(base) if base.startswith("/") else Path.home() / ".config"
    return [config / "penstock" / "wisdom.json", Path("/etc/penstock/wisdom.json")]


def file_of_user() -> Path:
    """Where new wisdom goes."""
    found = files()
    if not found:
        raise UserError(f"{SETTING}={os.environ[SETTING]}: unset it, or name the file with --wisdom")
    return found[0]


def read(path: Path) -> list[dict[str, Any]]:
    """The entries of the file PATH, none if there is no file; a UserError if it is no file of wisdom."""
    return _content(path)["entries"]


def machines(path: Path) -> list[dict[str, Any]]:
    """The machines of the file PATH: docs/wisdom.md."""
    return _content(path)["machines"]


def _content(path: Path) -> dict[str, list[dict[str, Any]]]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"entries": [], "machines": []}
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise UserError(f"{path} is no file of wisdom (JSON): move it away, or name another file") from None
    found = content.get("schema") if isinstance(content, dict) else None
    if found == SCHEMA:
        lists = {"entries": content.get("entries"), "machines": content.get("machines", [])}
        if all(isinstance(one, list) and all(isinstance(part, dict) for part in one) for one in lists.values()):
            return lists
        raise UserError(f"{path}: its entries or machines are no lists of objects: move it away, or name another file")
    raise UserError(f"{path}: its schema is {found!r}, not {SCHEMA!r}: move it away, or name another file")


def alike(one: Problem, other: Problem) -> bool:
    """Whether they differ in sizes alone, and in these by a tenth at most."""

    def same(a: Any, b: Any) -> bool:
        sizes = all(isinstance(value, int) and not isinstance(value, bool) for value in (a, b))
        return bool(abs(a - b) <= 0.1 * max(a, b)) if sizes else bool(a == b)

    return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)


@contextlib.contextmanager
def using(path: Path) -> Iterator[None]:
    """Programs started meanwhile have the wisdom of PATH alone."""
    before = os.environ.get(SETTING)
    os.environ[SETTING] = str(path)
    try:
        yield
    finally:
        if before is None:
            del os.environ[SETTING]
        else:
            os.environ[SETTING] = before


def must_be_writable(path: Path) -> None:
    """Finds out before minutes of measuring that keep() would fail."""
    must_be_replaceable(path)
    read(path)
    with _changing(path):
        pass


def keep(path: Path, entries: list[Entry]) -> None:
    """Adds ENTRIES to the file PATH; each takes the place of one for an equal problem. What has expired goes.

    Any number of processes may do so at once: a lock makes them take turns, and readers see a whole file.
    """
    problems = [entry.problem for entry in entries]
    today = date.today().isoformat()

    def add(content: dict[str, list[dict[str, Any]]]) -> None:
        kept = [
            entry
            for entry in content["entries"]
            if entry.get("problem") not in problems and str(entry.get("expires") or today) >= today
        ]
        content["entries"] = [asdict(entry) for entry in entries] + kept

    _change(path, add)


def keep_machine(path: Path, machine: dict[str, Any]) -> None:
    """The same for MACHINE, in place of what was probed before with as many ranks."""
    of = ("filesystem", "mpi", "ranks")

    def add(content: dict[str, list[dict[str, Any]]]) -> None:
        others = [one for one in content["machines"] if any(one.get(name) != machine[name] for name in of)]
        content["machines"] = [machine, *others]

    _change(path, add)


def _change(path: Path, change: Callable[[dict[str, list[dict[str, Any]]]], None]) -> None:
    with _changing(path) as real:
        content = _content(real)
        change(content)
        partial = real.with_name(f".{real.name}.{os.getpid()}.partial")
        try:
            text = json.dumps({"schema": SCHEMA, **content}, indent=1, allow_nan=False)
            partial.write_text(text + "\n", encoding="utf-8")
            if real.exists():
                shutil.copymode(real, partial)
            partial.replace(real)
        finally:
            partial.unlink(missing_ok=True)


@contextlib.contextmanager
def _changing(path: Path) -> Iterator[Path]:
    """Locks PATH, and yields the file that it is, behind all links."""
    must_be_replaceable(path)
    real = path.resolve()
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        with _locked(real):
            yield real
    except OSError as error:
        raise UserError(f"{error.filename or path}: {error.strerror}") from None


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    # Beside the file, which is replaced and so cannot carry the lock itself. It stays: removing it would race.
    with path.with_name(f".{path.name}.lock").open("a") as lock:
        with contextlib.suppress(OSError):  # some file systems have no locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
