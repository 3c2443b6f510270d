"""whole.py: what is done to a whole file at once: copy, verify, repair, seal; and settings of waits."""

from __future__ import annotations

import atexit
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.api import native
from penstock.base.nearest import named_arguments

if TYPE_CHECKING:
    from mpi4py import MPI

    from penstock.api.file import Path


@named_arguments
def copy(source: Path, target: Path, comm: MPI.Comm | None = None, plan: str | None = None) -> None:
    """Collective. A new file TARGET with all that is in SOURCE: one file of a set, or another format."""
    native.collective(comm, "copy", source=source, target=target, plan=plan)


def verify(path: Path, comm: MPI.Comm | None = None) -> None:
    """Collective. Compares all data with their checksums; raises Damaged where they differ."""
    native.collective(comm, "verify", path=path)


def repair(path: Path, comm: MPI.Comm | None = None) -> str:
    """Collective. Makes the one lost file of a set with parity again; returns its name, '' where nothing was lost."""
    return str(native.collective(comm, "repair", path=path)[2])


def seal(path: Path, comm: MPI.Comm | None = None, force: bool = False) -> bool:
    """Collective. Makes new checksums for a file that was changed on purpose; returns whether any were needed."""
    return bool(native.collective(comm, "seal", bool(force), path=path)[2])


def set_timeout(seconds: float) -> None:
    """Local. For how long waits for other ranks may see nothing move; 0: no limit."""
    native.set_everywhere("set_timeout", native.seconds_of(seconds))


def when_waiting(function: Callable[[str, float], object] | None, seconds: float = 10) -> None:
    """Local. Calls FUNCTION while this rank waits, when nothing has moved for SECONDS; None turns this off.

    It gets what the rank waits for, as a text, and the seconds without movement; again after twice that time, and so
    on. It must not use penstock. All ranks set one, since ranks ask each other where they wait.
    """
    if function is not None and not callable(function):
        raise TypeError(f"function is of type {type(function).__name__}: it must be a function, or None")
    native.set_everywhere("when_waiting", function, native.seconds_of(seconds))
    _silent_at_the_end()


@functools.cache
def _silent_at_the_end() -> None:
    """Threads of the library may still wait at exit, when Python is gone."""
    atexit.register(when_waiting, None)
