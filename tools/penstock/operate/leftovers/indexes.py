"""indexes.py: which generations the published files of a folder name: parts of those belong to somebody."""

import os
import re
import stat
import struct
from collections.abc import Iterable
from pathlib import Path

from penstock.files.catalogue.contents import HDF5_MAGIC
from penstock.files.container import HEADER_BYTES, MAGIC

SIDECAR = b"penstock.index"
HEAD_BYTES = 512


class Indexes:
    """The published files among NAMES in FOLDER, read once; NAMES are those that may be indexes."""

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        self.unreadable: list[str] = []  # HDF5 files that may name parts, and why that is not known
        self._masters: list[bytes] = []  # JSON texts
        self._heads: list[bytes] = []  # of containers
        for name in names:
            self._read(folder / name)

    def name(self, generation: str) -> bool:
        """Whether one of them names GENERATION, as its own or as the one that it replaced."""
        text, number = generation.encode(), struct.pack("<Q", int(generation, 16))
        return any(text in master for master in self._masters) or any(number in head for head in self._heads)

    def name_parity(self, generation: str, rest: str) -> bool:
        """Whether one of them has the parity file NAME.gGENERATION.REST, or has replaced that generation."""
        own = re.compile(rb'"generation":\s*"%s"' % generation.encode())
        file = f'.g{generation}.{rest}"'.encode()
        return any(
            file in master or own.search(master) is None for master in self._masters if generation.encode() in master
        )

    def _read(self, path: Path) -> None:
        try:
            if not stat.S_ISREG(path.lstat().st_mode):
                return
            with path.open("rb") as file:
                head = file.read(HEAD_BYTES)
                if head.startswith(MAGIC):
                    self._heads.append(head[:HEADER_BYTES])
                elif head.startswith(HDF5_MAGIC):
                    self._read_hdf5(path)
                elif SIDECAR in head:
                    self._masters.append(head + file.read())
        except OSError as error:
            self.unreadable.append(f"'{path.name}' cannot be read: {os.strerror(error.errno or 0)}")

    def _read_hdf5(self, path: Path) -> None:
        try:
            import h5py
        except ImportError:
            self.unreadable.append(f"h5py, which would read '{path.name}', is not installed")
            return
        try:
            with h5py.File(path, "r", locking=False) as file:
                if "_penstock/index" in file:
                    self._masters.append(bytes(file["_penstock/index"][()]))
        except Exception as error:  # of a library, about a file that anybody may have written
            self.unreadable.append(f"'{path.name}' cannot be read: {error}".splitlines()[0])
