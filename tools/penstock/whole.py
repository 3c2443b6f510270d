"""whole.py: what is done to a whole file at once: copy, verify, repair, seal; and the limit of waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import native
from penstock.nearest import named_arguments

if TYPE_CHECKING:
    from mpi4py import MPI

    from penstock.file import Path


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
    for module in native.loaded():
        module.set_timeout(seconds)
