"""group.py: a group of a file: its datasets by the names that they have in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from penstock.api.attributes import Attributes
from penstock.api.dataset import Dataset


class OpenFile(Protocol):
    """What a group needs of its file."""

    def __getitem__(self, name: str) -> Dataset: ...
    def __setitem__(self, name: str, value: Any) -> None: ...
    def __delitem__(self, name: str) -> None: ...
    def __iter__(self) -> Iterator[str]: ...
    def attributes(self, name: str) -> Attributes: ...
    def create_dataset(self, name: str, *args: Any, **kwargs: Any) -> Dataset: ...
    def create_group(self, name: str) -> Group: ...


class Group(Mapping[str, Dataset]):
    """What is in group NAME of FILE. All that it does, the file does."""

    def __init__(self, file: OpenFile, name: str) -> None:
        self._file, self.name = file, name

    def _path(self, name: str) -> str:
        return f"{self.name}/{name}" if self.name else name

    def __getitem__(self, name: str) -> Dataset:
        return self._file[self._path(name)]

    def __setitem__(self, name: str, value: Any) -> None:
        """Local. As of a file."""
        self._file[self._path(name)] = value

    def __delitem__(self, name: str) -> None:
        del self._file[self._path(name)]

    def __iter__(self) -> Iterator[str]:
        begin = self._path("")
        return (name.removeprefix(begin) for name in self._file if name.startswith(begin))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def create_dataset(self, name: str, *args: Any, **kwargs: Any) -> Dataset:
        """Local. As of a file."""
        return self._file.create_dataset(self._path(name), *args, **kwargs)

    def create_group(self, name: str) -> Group:
        """Local. As of a file."""
        return self._file.create_group(self._path(name))

    @property
    def attrs(self) -> Attributes:
        return self._file.attributes(self.name)

    def __repr__(self) -> str:
        return f"<penstock group '{self.name}'>"
