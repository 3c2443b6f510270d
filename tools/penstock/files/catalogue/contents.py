"""contents.py: what a file says of itself: attributes, and the names, types and shapes of its datasets."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
HEAD_BYTES = 512
MOST_TEXT = 4096  # of a value in the catalogue, and numbers of a list
MOST_OBJECTS = 100_000
SERIES, INDEX = "penstock.series/1", "penstock.index/1"

Value = str | float


@dataclass
class Dataset:
    name: str
    type: str
    shape: list[int]


@dataclass
class Attribute:
    """OBJECT is "" for the file, else a group or dataset. VALUE: a text, a number, or a list as text."""

    object: str
    name: str
    value: Value


@dataclass
class Contents:
    format: str
    datasets: list[Dataset] = field(default_factory=list)
    attributes: list[Attribute] = field(default_factory=list)


class UnreadableError(Exception):
    """Why a file that looks like one of ours cannot be read."""


def kind_of(path: Path) -> str:
    """The format that the first bytes speak of; "" for none of ours. No library looks at the file."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        if head.startswith(HDF5_MAGIC):
            return "hdf5"
        if head[:3] == b"CDF" and head[3:4] in (b"\x01", b"\x02", b"\x05"):
            return "netcdf"
        if head.startswith(b"{"):
            return "series" if SERIES.encode() in head else "index" if INDEX.encode() in head else ""
        at = 512  # HDF5 with a user block
        while at <= 1 << 20:
            file.seek(at)
            if file.read(8) == HDF5_MAGIC:
                return "hdf5"
            at *= 2
    return ""


def type_name(dtype: Any) -> str:
    """As NumPy calls it, in any byte order: float64."""
    import numpy

    found = numpy.dtype(dtype)
    return found.name if found.kind in "iufcb" else str(found)


def value_of(value: Any) -> Value:
    """A number, or a text of bounded length."""
    if isinstance(value, bool | int | float):
        return float(value)
    if isinstance(value, list) and len(value) == 1:
        return value_of(value[0])
    if isinstance(value, list):
        return _cut(", ".join(str(one) for one in value[:MOST_TEXT]))
    return _cut(str(value))


def _cut(text: str) -> str:
    text = text.replace("\0", "")
    return text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + "..."
