"""members.py: the processes here that use penstock, found by the page that each keeps, or by its open partial files."""

import contextlib
import functools
import os
import pwd
from dataclasses import dataclass, field
from pathlib import Path

from penstock.operate.leftovers import names
from penstock.operate.monitor.processes import Process, Processes
from penstock.operate.monitor.queries import Queries
from penstock.operate.monitor.status_page import NAME, Page, read_page

SCANS_AT_FIRST = 3  # of a new process's open files, one a reading; later every:
SCAN_EVERY = 10
OURS = "penstock-"  # names of programs
FILES = ("environ", "cmdline")  # of which the worker is asked: a process that hangs may hold them
RANK = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")
RANKS_HERE = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")
NODES = ("SLURM_STEP_NUM_NODES",)
RANKS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")


@dataclass
class Member:
    """A process of a job, at one reading."""

    process: Process
    page: Page | None
    partials: list[str]  # paths of files that become others, where there is no page
    user: str
    environment: dict[str, str] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)

    def number(self, variables: tuple[str, ...]) -> int | None:
        values = (self.environment.get(name, "") for name in variables)
        return next((int(value) for value in values if value.isdigit()), None)

    @property
    def rank(self) -> int | None:
        return self.number(RANK)

    @property
    def ranks_here(self) -> int:
        """The number of ranks of its program on this node, as its launcher tells; 0 if none does."""
        here = self.number(RANKS_HERE)
        alone = self.number(NODES) == 1
        return here or (self.ranks or 0 if alone else 0)

    @property
    def ranks(self) -> int | None:
        return self.number(RANKS)


@dataclass
class _Seen:
    scans: int = 0
    page: Path | None = None
    partials: list[str] = field(default_factory=list)


class Members:
    """Remembers who was looked at, since looking at the open files of all processes takes time."""

    def __init__(self) -> None:
        self._seen: dict[tuple[int, int], _Seen] = {}
        self._readings = 0

    def find(self, root: Path, processes: Processes, queries: Queries) -> list[Member]:
        """What must be asked for, the environment and the command, comes with fill()."""
        self._readings += 1
        for pid, start in self._seen.keys() - processes.by_identity.keys():
            for file in FILES:
                queries.forget(_key(file, pid, start))
        self._seen = {identity: self._seen.get(identity, _Seen()) for identity in processes.by_identity}
        found = []
        for identity, process in processes.by_identity.items():
            seen = self._seen[identity]
            folder = root / "proc" / str(process.pid)
            page = read_page(seen.page, process.pid) if seen.page is not None else None
            if page is None and process.counters is not None and self._is_due(process, seen):
                seen.scans += 1
                seen.page, seen.partials = _open_files(folder, process.pid)
                page = read_page(seen.page, process.pid) if seen.page is not None else None
            if page is None and not seen.partials and not process.name.startswith(OURS):
                continue
            found.append(Member(process, page, seen.partials, _user(folder)))
            for file in FILES:
                if queries.answer(_key(file, *identity)).value is None:
                    queries.ask(_key(file, *identity), "read", str(folder / file))
        return found

    def _is_due(self, process: Process, seen: _Seen) -> bool:
        if seen.scans < SCANS_AT_FIRST or seen.partials:
            return True
        return (self._readings + process.pid) % SCAN_EVERY == 0


def fill(found: list[Member], queries: Queries) -> None:
    """Sets the environment and the command of each member FOUND, from the answers that the worker gave meanwhile."""
    for member in found:
        words = str(queries.answer(_key("environ", *member.process.identity)).value or "").split("\0")
        member.environment = dict(word.partition("=")[::2] for word in words if "=" in word)
        member.command = (
            str(queries.answer(_key("cmdline", *member.process.identity)).value or "").rstrip("\0").split("\0")
        )


def _key(file: str, pid: int, start: int) -> str:
    return f"{file} {pid} {start}"


def _open_files(folder: Path, pid: int) -> tuple[Path | None, list[str]]:
    """The page, and partial files that this process has open."""
    partials = []
    try:
        entries = sorted((folder / "fd").iterdir())
    except OSError:
        return None, []
    page = None
    for entry in entries:
        with contextlib.suppress(OSError):
            target = str(entry.readlink())  # never followed: it may lie on a file system that hangs
            if NAME in target:
                page = entry if read_page(entry, pid) is not None else page
            elif names.parse(os.path.basename(target)) is not None:  # noqa: PTH119
                partials.append(target)
    return page, sorted(set(partials))


def _user(folder: Path) -> str:
    try:
        number = folder.stat().st_uid
    except OSError:
        return ""
    return _user_name(number)


@functools.cache
def _user_name(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
