"""attributes.py: the attributes of a file, group or dataset as a mapping."""

import enum
from collections.abc import Iterator, MutableMapping
from typing import Any

import numpy as np

from penstock.api.elements import dtype_of, rectangular, texts_of, type_of, utf8
from penstock.api.exceptions import NotThere
from penstock.base.nearest import instead


def encode(name: str, value: Any) -> tuple[str, int | None, bytes]:
    """VALUE as type, number of elements (None: a scalar) and bytes: of True 1, of a member of an Enum its value."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"an attribute's name is a str, not {name!r}")
    if isinstance(value, str):
        data = utf8(value, name) or b"\0"
        return f"text[{len(data)}]", None, data
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
    if array.ndim > 1:
        raise TypeError(
            f"attribute '{name}' has {array.ndim} dimensions: attributes are single values or lists; make it a dataset"
        )
    word = type_of(array.dtype, name)
    native = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    return word, (None if array.ndim == 0 else array.size), native.tobytes()


def decode(word: str, shape: list[int], data: bytes) -> Any:
    """Texts as str, lists of texts as list[str], numbers as numpy has them."""
    array = np.frombuffer(data, dtype=dtype_of(word)).reshape(shape)
    if array.dtype.kind == "S":
        texts = [text.decode("utf-8", "surrogateescape") for text in array.flat]
        return texts if shape else texts[0]
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

    def _set(self, name: str, encoded: tuple[str, int | None, bytes]) -> None:
        word, count, data = encoded
        self._file.set_attribute(self._object, name, word, count, data)
        self._pending[name] = decode(word, [] if count is None else [count], data)

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"attribute '{name}' cannot be removed: write a new file without it")

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return repr(self._all())
