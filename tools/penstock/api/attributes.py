"""attributes.py: the attributes of a file, group or dataset as a mapping."""

import enum
from collections.abc import Iterator, MutableMapping
from typing import Any

import numpy as np

from penstock.api.elements import dtype_of, rectangular, texts_of, type_of, utf8
from penstock.api.exceptions import NotThere
from penstock.base.nearest import instead

MAX_RANK = 8


def encode(name: str, value: Any) -> tuple[str, list[int], bytes]:
    """VALUE as type, shape and bytes: of True 1, of a member of an Enum its value."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"an attribute's name is a str, not {name!r}")
    if isinstance(value, str):
        data = utf8(value, name) or b"\0"
        return f"text[{len(data)}]", [], data
    array = rectangular(value.value if isinstance(value, enum.Enum) else value, name)
    if array.dtype.kind == "b":
        array = array.view("i1")
    elif array.dtype == np.float16:
        array = array.astype("f4")
    if array.dtype.kind == "U" or (
        array.dtype.kind == "O" and array.size and all(isinstance(v, str) for v in array.flat)
    ):
        array = texts_of(array, name)
    if array.dtype.kind == "S" and array.dtype.itemsize == 0:
        array = array.astype("S1")
    if array.ndim > MAX_RANK:
        raise ValueError(f"attribute '{name}' has {array.ndim} dimensions: 0 to {MAX_RANK} can be stored")
    word = type_of(array.dtype, name)
    native = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    return word, list(array.shape), native.tobytes()


def decode(word: str, shape: list[int], data: bytes) -> Any:
    """Texts as str, arrays of texts as lists, numbers as numpy has them."""
    array = np.frombuffer(data, dtype=dtype_of(word)).reshape(shape)
    if array.dtype.kind == "S":
        texts = np.array([text.decode("utf-8", "surrogateescape") for text in array.flat], dtype=object)
        return texts.reshape(shape).tolist()
    return array.copy() if shape else array[()]


class Attributes(MutableMapping[str, Any]):
    """What is in the file, and what was set since. Setting is local and becomes true at the commit, on all ranks."""

    def __init__(self, file: Any, pending: dict[str, Any], name: str, is_new: bool = False) -> None:
        self._file, self._pending, self._object, self._new = file, pending, name, is_new

    def _all(self) -> dict[str, Any]:
        if self._new:
            return dict(self._pending)
        there = {name: decode(word, shape, data) for name, word, shape, data in self._file.attributes(self._object)}
        return there | self._pending

    def __getitem__(self, name: str) -> Any:
        try:
            return self._all()[name]
        except KeyError:
            raise NotThere(f"'{self._object or '/'}' has no attribute '{name}'{instead(str(name), self)}") from None

    def __setitem__(self, name: str, value: Any) -> None:
        self._set(name, encode(name, value))

    def _set(self, name: str, encoded: tuple[str, list[int], bytes]) -> None:
        self._file.set_attribute(self._object, name, *encoded)
        self._pending[name] = decode(*encoded)

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"attribute '{name}' cannot be removed: write a new file without it")

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return repr(self._all())
