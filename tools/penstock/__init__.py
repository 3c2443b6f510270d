"""penstock: parallel arrays into one portable file, and back; and the tools around the library."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.api.dataset import Dataset
    from penstock.api.exceptions import (
        Damaged,
        Denied,
        Elsewhere,
        Error,
        Exists,
        Incomplete,
        InDoubt,
        Internal,
        Invalid,
        IOFailed,
        Mismatch,
        NoSpace,
        NotFound,
        NotThere,
        OutOfMemory,
        Overlap,
        Timeout,
        Unsupported,
    )
    from penstock.api.file import File
    from penstock.api.group import Group
    from penstock.api.opening import clone, create, open, open_latest, reopen  # noqa: A004  penstock.open
    from penstock.api.put import Part, block, boxes, per_rank, ragged, replicated, runs
    from penstock.api.steps import Series, Step, open_series, series
    from penstock.api.stream import StreamReader, StreamWriter, create_stream, open_stream
    from penstock.api.whole import copy, repair, seal, set_timeout, verify, when_waiting

__version__ = "0.1.0"

# The module of penstock.api that has each name; it is imported when the name is first used, since this takes time.
_HOMES = {
    "exceptions": "Error Invalid NotFound NotThere Exists Denied NoSpace IOFailed Mismatch Overlap Incomplete "
    "Unsupported OutOfMemory Damaged Timeout InDoubt Elsewhere Internal",
    "dataset": "Dataset",
    "group": "Group",
    "file": "File",
    "opening": "create open open_latest reopen clone",
    "put": "Part block boxes runs ragged per_rank replicated",
    "steps": "Series Step series open_series",
    "stream": "StreamReader StreamWriter create_stream open_stream",
    "whole": "copy verify repair seal set_timeout when_waiting",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Damaged",
    "Dataset",
    "Denied",
    "Elsewhere",
    "Error",
    "Exists",
    "File",
    "Group",
    "IOFailed",
    "InDoubt",
    "Incomplete",
    "Internal",
    "Invalid",
    "Mismatch",
    "NoSpace",
    "NotFound",
    "NotThere",
    "OutOfMemory",
    "Overlap",
    "Part",
    "Series",
    "Step",
    "StreamReader",
    "StreamWriter",
    "Timeout",
    "Unsupported",
    "block",
    "boxes",
    "clone",
    "copy",
    "create",
    "create_stream",
    "open",
    "open_latest",
    "open_series",
    "open_stream",
    "per_rank",
    "ragged",
    "reopen",
    "repair",
    "replicated",
    "runs",
    "seal",
    "series",
    "set_timeout",
    "verify",
    "when_waiting",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # whoever checks types shall find wrong names

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module 'penstock' has no attribute '{name}'")
        value = getattr(import_module(f"penstock.api.{_HOME[name]}"), name)
        globals()[name] = value
        return value
