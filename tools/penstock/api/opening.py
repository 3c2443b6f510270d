"""opening.py: what opens files: penstock.create, open, open_latest, reopen and clone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

from penstock.api import exceptions, native
from penstock.api.file import File, Path
from penstock.base.nearest import named_arguments

if TYPE_CHECKING:
    from mpi4py import MPI


def _file(how: str, path: Path, comm: Any, plan: str | None, writable: bool) -> File:
    library, ranks, opened = native.collective(comm, how, path=path, plan=plan)
    return File(library, opened, ranks, writable)


def _no_file(wrong: Exception, comm: Any) -> NoReturn:
    """Collective. Raises WRONG, and has the other ranks, if they are opening a file, raise too."""
    _, ranks = native.ranks(comm)
    if ranks.size > 1:
        native.told(wrong, native.ranks(comm)[0].open, ranks, "", "")
    raise exceptions.own(wrong)


@named_arguments
def create(path: Path, comm: MPI.Comm | None = None, plan: str | None = None) -> File:
    """Collective. A new file; under PATH there is nothing, or the old file, until the commit."""
    return _file("create", path, comm, plan, True)


@overload
def open(path: Path, comm: MPI.Comm | None = None, plan: str | None = None) -> File: ...  # noqa: A001  penstock.open
@overload
def open(  # noqa: A001
    path: Path, mode: Literal["r", "r+"], comm: MPI.Comm | None = None, plan: str | None = None
) -> File: ...
@named_arguments  # type: ignore[misc]  # the second argument has two names
def open(path: Path, mode: Any = None, comm: Any = None, plan: str | None = None) -> File:  # noqa: A001
    """Collective. To read; the format is recognised. Mode "r" means the same, "r+" what reopen does."""
    if not isinstance(mode, str):  # open(path, comm, plan)
        if mode is not None or isinstance(comm, str):
            comm, plan = mode, comm if plan is None else plan
        mode = "r"
    if mode == "r+":
        return reopen(path, comm, plan)
    if mode == "r":
        return _file("open", path, comm, plan, False)
    how = "penstock.create(path, comm) makes a new file" if mode in ("w", "x", "w-") else 'there are "r" and "r+"'
    return _no_file(TypeError(f"penstock.open has no mode '{mode}': {how}"), comm)


@named_arguments
def open_latest(pattern: Path, comm: MPI.Comm | None = None, plan: str | None = None) -> File:
    """Collective. To read: of the files that match PATTERN the newest that is whole."""
    return _file("open_latest", pattern, comm, plan, False)


@named_arguments
def reopen(path: Path, comm: MPI.Comm | None = None, plan: str | None = None) -> File:
    """Collective. To read, change, add and grow. Reading by slicing is a commit: it publishes what was put before."""
    return _file("reopen", path, comm, plan, True)


@named_arguments
def clone(template: Path, path: Path, comm: MPI.Comm | None = None, plan: str | None = None) -> File:
    """Collective. A new file at PATH that begins with all that is in TEMPLATE, which is not touched."""
    library, ranks, opened = native.collective(comm, "clone", template=template, path=path, plan=plan)
    return File(library, opened, ranks, True)
