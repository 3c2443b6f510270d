"""netcdf.py: the header of classic netCDF files (CDF-1, CDF-2, CDF-5), whose grammar is one page."""

import re
import struct
from pathlib import Path

from penstock.files.catalogue.contents import (
    MOST_OBJECTS,
    Attribute,
    Contents,
    Dataset,
    UnreadableError,
    Value,
    type_name,
    value_of,
)

MOST_HEADER_BYTES = 256 << 20
TYPES = {1: "i1", 2: "S1", 3: ">i2", 4: ">i4", 5: ">f4", 6: ">f8", 7: "u1", 8: ">u2", 9: ">u4", 10: ">i8", 11: ">u8"}
LETTERS = {1: "b", 3: "h", 4: "i", 5: "f", 6: "d", 7: "B", 8: "H", 9: "I", 10: "q", 11: "Q"}
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}
DIMENSIONS, VARIABLES, ATTRIBUTES = 10, 11, 12
MOST_VALUES = 1000  # of an attribute


class _Header:
    """The bytes, and where reading is."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.version = data[3]
        self._at = 4

    def read_bytes(self, count: int) -> bytes:
        if count < 0 or count > len(self._data) - self._at:
            raise UnreadableError("its header ends before it should")
        piece = self._data[self._at : self._at + count]
        self._at += count
        return piece

    def word(self) -> int:
        return int.from_bytes(self.read_bytes(4), "big")

    def count(self) -> int:
        """A number whose width depends on the version."""
        return int.from_bytes(self.read_bytes(8 if self.version == 5 else 4), "big")

    def padded(self, count: int) -> bytes:
        piece = self.read_bytes(count)
        self.read_bytes(-count % 4)
        return piece

    def name(self) -> str:
        return self.padded(self.count()).rstrip(b"\0").decode("utf-8", "backslashreplace")

    def length_of(self, tag: int) -> int:
        """The length of a list that begins with TAG, or is absent."""
        found, length = self.word(), self.count()
        if (found != tag and (found or length)) or length > MOST_OBJECTS:
            raise UnreadableError("its header is none")
        return length


def read(path: Path) -> Contents:
    with path.open("rb") as file:
        header = _Header(file.read(MOST_HEADER_BYTES))
    records = header.count()
    dimensions = [(header.name(), header.count()) for _ in range(header.length_of(DIMENSIONS))]
    contents = Contents("netcdf")
    of_file = _attributes(header)
    ours = any(name == "_penstock" for name, _ in of_file)
    contents.attributes += [_global(name, value, ours) for name, value in of_file if name != "_penstock"]
    for _ in range(header.length_of(VARIABLES)):
        name = _plain(header.name()) if ours else header.name()
        numbers = [header.count() for _ in range(header.count())]
        if any(number >= len(dimensions) for number in numbers):
            raise UnreadableError("a variable has a dimension that is not there")
        attributes = _attributes(header)
        kind = header.word()
        header.count()  # its size
        header.read_bytes(4 if header.version == 1 else 8)  # where it begins
        if kind not in TYPES:
            raise UnreadableError(f"type {kind} is none of netCDF's")
        if ours and (name.startswith("_penstock/") or name == "_penstock"):
            continue
        shape = [dimensions[number][1] or records for number in numbers]
        contents.datasets.append(Dataset(name, type_name(TYPES[kind]), shape))
        for attribute, value in attributes:
            if not (ours and attribute == "_penstock"):
                contents.attributes.append(Attribute(name, _plain(attribute) if ours else attribute, value))
    return contents


def _attributes(header: _Header) -> list[tuple[str, Value]]:
    found = []
    for _ in range(header.length_of(ATTRIBUTES)):
        name, kind, count = header.name(), header.word(), header.count()
        if kind not in SIZES:
            raise UnreadableError(f"type {kind} is none of netCDF's")
        data = header.padded(count * SIZES[kind])
        if kind == 2:
            found.append((name, value_of(data.decode("utf-8", "backslashreplace"))))
        else:
            few = min(count, MOST_VALUES)
            values = list(struct.unpack(f">{few}{LETTERS[kind]}", data[: few * SIZES[kind]]))
            found.append((name, value_of(values)))
    return found


def _global(name: str, value: Value, ours: bool) -> Attribute:
    """Returns global attribute NAME. In our files, what precedes its last "__" is a group (docs/formats/netcdf.md)."""
    group, found, rest = name.rpartition("__") if ours else ("", "", name)
    return Attribute(_plain(group), _plain(rest), value) if found and group and rest else Attribute("", name, value)


def _plain(name: str) -> str:
    """The name that the file's stands for."""
    name = name[1:] if name.startswith("_%") else name
    text = re.sub("__", "/", name)
    raw = re.sub(rb"%([0-9A-F]{2})", lambda found: bytes([int(found[1], 16)]), text.encode())
    return raw.decode("utf-8", "backslashreplace")
