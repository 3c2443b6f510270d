"""exceptions.py: what the library raises: one class for each kind of remedy, and Python's own too."""

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

from penstock.base.printable import printable


class Error(Exception):
    """Something failed in penstock; the message says what, where, and what to do."""

    def __str__(self) -> str:
        return printable(super().__str__())


class Invalid(Error, ValueError):
    """An argument that cannot be."""


class NotFound(Error, FileNotFoundError):
    """No such file, folder, dataset or attribute."""


class NotThere(NotFound, KeyError):
    """No such dataset or attribute in a file that is there.

    The message may be a function: finding the nearest of many names is slow, and most KeyErrors are only caught.
    """

    def __init__(self, message: str | Callable[[], str]) -> None:
        self._message = message

    def __str__(self) -> str:
        if not isinstance(self._message, str):
            self._message = self._message()
        return printable(self._message)

    @property
    def args(self) -> tuple[Any, ...]:  # type: ignore[override]
        return (str(self),)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args


class Exists(Error, FileExistsError):
    """Something is in the way."""


class Denied(Error, PermissionError):
    """Permissions, or a read-only file system."""


class NoSpace(Error, OSError):
    """Disk or quota full."""


class IOFailed(Error, OSError):
    """The file system failed."""


class Mismatch(Error, ValueError):
    """Ranks, or caller and file, disagree on a definition."""


class Overlap(Error, ValueError):
    """An element was put more than once."""


class Incomplete(Error, ValueError):
    """An element was put by nobody."""


class Unsupported(Error, NotImplementedError):
    """This build, format or file system cannot do it."""


class OutOfMemory(Error, MemoryError):
    """A memory limit was reached."""


class Damaged(Error, OSError):
    """The bytes in a file are not what a writer left there."""


class Timeout(Error, TimeoutError):
    """No progress within the limit."""


class InDoubt(Error):
    """It cannot be known whether the commit happened."""


class Elsewhere(Error):
    """Another rank failed."""


class Internal(Error, RuntimeError):
    """A fault of penstock."""


class BadIndex(Invalid, IndexError):
    """An IndexError of any rank in a collective call."""


class BadType(Invalid, TypeError):
    """A TypeError of any rank in a collective call."""


def own(error: Exception) -> Exception:
    """ERROR of this rank in a collective call, as a penstock.Error like those of the other ranks."""
    for cause, kind in ((IndexError, BadIndex), (TypeError, BadType), (ValueError, Invalid)):
        if isinstance(error, cause) and not isinstance(error, Error):
            return kind(str(error))
    return error


def told(rank: int, error: Exception) -> str:
    """What the other ranks are told of an ERROR that RANK found out by itself."""
    return f"rank {rank}: {type(error).__name__}: {error}"


def heard(error: Error) -> Error:
    """ERROR as it is raised on this rank: what another found out is caught by the same `except` here."""
    for kind, cause in ((BadIndex, "IndexError"), (BadType, "TypeError")):
        if isinstance(error, Invalid) and re.search(rf"\brank \d+: {cause}: ", str(error)):
            return kind(str(error))
    return error


# In the order of penstock_status, from 1 on.
BY_CODE: tuple[type[Error], ...] = (
    Invalid,
    NotFound,
    Exists,
    Denied,
    NoSpace,
    IOFailed,
    Mismatch,
    Overlap,
    Incomplete,
    Unsupported,
    OutOfMemory,
    Damaged,
    Timeout,
    InDoubt,
    Elsewhere,
    Internal,
)


def register(extension: ModuleType) -> None:
    """Has EXTENSION raise these classes."""
    for code, kind in enumerate(BY_CODE, 1):
        extension.raise_as(code, kind)
