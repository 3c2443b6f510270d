"""survey.py: finds what is left over in a folder and decides what of it may go; nothing is removed here."""

import os
import re
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.base import mounts, words
from penstock.operate.leftovers import jobs, names
from penstock.operate.leftovers.indexes import Indexes
from penstock.operate.leftovers.names import Life, Owner, PartialName

PART = re.compile(r"(?P<stem>.+)\.g(?P<generation>[0-9a-f]{16})\.(?P<rest>.+)", re.DOTALL)
PARITY = re.compile(r"(?:(?P<maker>[0-9a-f]{16})\.)?parity")  # with its maker where seal made it of an older generation
EXTENSIONS = ("h5", "nc", "raw", "pstream", "parity")
MEMORY = re.compile(r"penstock-[0-9a-f]{16}")  # of the ranks of a node, as an earlier version called it
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  where that was
LATE_SECONDS = 600  # by which a server's listing may be behind, with a margin
ASIDE = ".old"  # added to a partial file's name where a file system cannot exchange names


@dataclass(frozen=True)
class Rules:
    """What the user says about makers who cannot be asked."""

    older_than: float | None = None  # seconds
    dead_hosts: frozenset[str] = frozenset()  # as they stand in names


@dataclass
class LeftOver:
    """Something that is no file of anybody's, with its verdict."""

    folder: Path
    name: str  # of the partial file; "" where only parts are left
    target: str  # whose it is, as far as the name tells
    owner: Owner | None
    parts: list[str] = field(default_factory=list)  # of the same generation
    bytes: int = 0
    removable: bool = False
    why: str = ""

    def files(self) -> list[str]:
        """The partial file last: as long as it is there, the parts are known to be its."""
        return [*self.parts, *([self.name] if self.name else [])]

    def as_json(self) -> dict[str, Any]:
        owner = self.owner
        return {
            "folder": str(self.folder),
            "name": self.name,
            "target": self.target,
            "parts": self.parts,
            "bytes": self.bytes,
            "owner": None if owner is None else vars(owner),
            "why": self.why,
        }


def survey(folder: Path, target: str | None, rules: Rules) -> list[LeftOver]:
    """What is left over in FOLDER, or of TARGET in it; what live processes are writing is listed too, as to be kept."""
    parts: dict[str, list[str]] = {}
    for name in _names(folder):
        if (part := PART.fullmatch(name)) and names.parse(name) is None:
            parity = PARITY.fullmatch(part["rest"])
            parts.setdefault((parity and parity["maker"]) or part["generation"], []).append(name)
    # A set's partial file is made before its parts, and its index is published before that goes. So what is no part of
    # anything is found by looking for parts first, for partial files next and into the published files last.
    listed = _names(folder)
    partials = [partial for partial in map(names.parse, listed) if partial is not None]
    found = [_of_partial(folder, listed, partial, rules) for partial in partials]
    claimed = {partial.token for partial in partials}
    doubtful = [*(set(parts) - claimed), *(p.token for p, left in zip(partials, found, strict=True) if left.removable)]
    indexes = Indexes(folder, _may_be_indexes(listed)) if any(g in parts for g in doubtful) else None
    if indexes is not None:
        for partial, left in zip(partials, found, strict=True):
            if left.removable and not partial.rest:
                _add_parts(left, parts.get(partial.token, []), indexes)
        for generation in sorted(set(parts) - claimed):
            unnamed = [name for name in parts[generation] if not _is_named(name, indexes)]
            if unnamed and all(name.endswith(EXTENSIONS) for name in unnamed):
                found.append(_of_parts(folder, unnamed, listed, indexes, rules))
    if folder == SHARED_MEMORY:
        found += [_of_memory(folder, name, rules) for name in listed if MEMORY.fullmatch(name)]
    for left in found:
        left.bytes = sum(_size(folder / name) for name in left.files())
    return [left for left in found if target is None or _is_of(left, target)]


def _of_partial(folder: Path, listed: list[str], partial: PartialName, rules: Rules) -> LeftOver:
    # What ROMIO made for itself has a dot more.
    name = partial.name if partial.name in listed else f".{partial.name}"
    left = LeftOver(folder, name, partial.base, partial.owner)
    set_aside = partial.rest == ASIDE or f"{partial.name}{ASIDE}" in listed
    if set_aside and partial.base not in listed:
        left.why = (
            f"'{partial.base}' was being replaced when its writer ended and is absent: this is its "
            f"{'previous' if partial.rest else 'new'} content, rename the one you want"
        )
    else:
        left.removable, left.why = _judge(partial.owner, _age(folder, [name]), rules)
    return left


def _of_memory(folder: Path, name: str, rules: Rules) -> LeftOver:
    left = LeftOver(folder, name, name, None)
    left.removable, left.why = _judge(None, _age(folder, [name]), rules)
    return left


def _is_named(name: str, indexes: Indexes) -> bool:
    """Whether a published file has NAME, a part or a parity file."""
    part = PART.fullmatch(name)
    if part is None:
        return False
    if PARITY.fullmatch(part["rest"]):
        return indexes.name_parity(part["generation"], part["rest"])
    return indexes.name(part["generation"])


def _add_parts(left: LeftOver, parts: list[str], indexes: Indexes) -> None:
    """Those of a partial file that may go, unless a published file has them: its writer ended while publishing."""
    parts = [name for name in parts if not _is_named(name, indexes)]
    if not parts:
        return
    if _named_by_hdf5(parts) and indexes.unreadable:
        left.removable, left.why = False, f"perhaps its parts are in use: {indexes.unreadable[0]}"
    left.parts = parts


def _of_parts(folder: Path, parts: list[str], listed: list[str], indexes: Indexes, rules: Rules) -> LeftOver:
    """Parts of a generation that neither a published file nor a partial one names."""
    found = PART.fullmatch(parts[0])
    stem = found["stem"] if found else ""
    left = LeftOver(folder, "", stem, None, parts)
    age = _age(folder, parts)
    if _named_by_hdf5(parts) and indexes.unreadable:
        left.why = f"perhaps these parts are in use: {indexes.unreadable[0]}"
    elif rules.older_than is not None and age >= rules.older_than:
        left.removable, left.why = True, f"no index names them, and they are {words.duration(age)} old"
    elif stem not in listed and f"{stem}.json" not in listed:
        left.why = f"no index of '{stem}' is here: if it was moved, these are its data, else --older-than removes them"
    elif not mounts.is_local(folder) and age < LATE_SECONDS:
        left.why = "no index names them, but they are new, and a server's folder may be seen late"
    else:
        left.removable, left.why = True, "no index names them any more"
    return left


def _judge(owner: Owner | None, age: float, rules: Rules) -> tuple[bool, str]:
    """Whether what OWNER made may go, and why."""
    if owner is not None:
        life = owner.life()
        if life is Life.unknown:
            return _judge_distant(owner, age, rules)
        return life is Life.dead, f"{owner} {'has ended' if life is Life.dead else 'is writing it'}"
    if rules.older_than is not None and age >= rules.older_than:
        return True, f"{words.duration(age)} old; its name does not say who made it"
    return False, "its name does not say who made it, as an earlier version's: --older-than removes it"


def _judge_distant(owner: Owner, age: float, rules: Rules) -> tuple[bool, str]:
    """The same of a process that cannot be looked for here; what the user says is believed except of a live job."""
    state = jobs.state(owner.job)
    if state is not None:
        return state == "gone", f"{owner}, which is {'gone' if state == 'gone' else f'{state}: it may be writing'}"
    if owner.host in rules.dead_hosts:
        return True, f"{owner}, which you say is dead"
    if rules.older_than is not None and age >= rules.older_than:
        return True, f"{words.duration(age)} old, by {owner}"
    return False, f"{owner} cannot be asked from here: --host-is-dead {owner.host} or --older-than removes it"


def _named_by_hdf5(parts: list[str]) -> bool:
    return any(name.endswith((".h5", ".parity")) for name in parts)


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _may_be_indexes(listed: Iterable[str]) -> list[str]:
    return [name for name in listed if PART.fullmatch(name) is None and names.parse(name) is None]


def _is_of(left: LeftOver, target: str) -> bool:
    published = {target, f"{target}.json"}
    if partial := names.parse(left.name):
        return any(partial.is_of(name) for name in published)
    return left.target in published | {target.removesuffix(".json")}


def _age(folder: Path, files: list[str]) -> float:
    """Seconds since any of them was written to."""
    newest = 0.0
    for name in files:
        for path in _with_contents(folder / name):
            try:
                newest = max(newest, path.lstat().st_mtime)
            except OSError:
                continue
    return max(0.0, time.time() - newest)


def _size(path: Path) -> int:
    total = 0
    for one in _with_contents(path):
        try:
            status = one.lstat()
        except OSError:
            continue
        total += status.st_size if stat.S_ISREG(status.st_mode) else 0
    return total


def _with_contents(path: Path) -> Iterable[Path]:
    yield path
    if path.is_dir() and not path.is_symlink():
        for folder, _, files in os.walk(path):
            yield from (Path(folder) / name for name in files)
