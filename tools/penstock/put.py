"""put.py: an array together with which part of a dataset it is: what is assigned to f["name"]."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

Shape = Sequence[int]
_Made = tuple[Any, "np.ndarray[Any, np.dtype[Any]]"]


@dataclass(frozen=True)
class Part:
    """This rank's part of a dataset: DATA, its place, and attributes of the dataset."""

    data: Any
    make: Callable[[ModuleType, "np.ndarray[Any, np.dtype[Any]]"], _Made]
    attributes: dict[str, Any] = field(default_factory=dict)


def _numbers(values: Shape | int, what: str) -> list[int]:
    if isinstance(values, (int, np.integer)):
        values = (int(values),)
    try:
        numbers = [int(value.__index__()) for value in values]
    except (TypeError, AttributeError) as error:
        raise TypeError(f"{what} must be whole numbers, not {values!r}") from error
    for number in numbers:
        if not -(2**63) <= number < 2**63:
            raise ValueError(f"{what} has {number}, which is no number of 64 bits")
    return numbers


def block(data: Any, shape: Shape | int, start: Shape | int, **attributes: Any) -> Part:
    """One box: DATA lies at START in a dataset of SHAPE. A rank that has nothing passes an empty array."""
    whole, at = _numbers(shape, "shape"), _numbers(start, "start")

    def make(library: ModuleType, array: "np.ndarray[Any, np.dtype[Any]]") -> _Made:
        if array.ndim != len(whole):
            raise ValueError(
                f"the array has {array.ndim} dimensions, shape={tuple(whole)} has {len(whole)}: they must be as many"
            )
        return library.block(whole, at, list(array.shape)), array

    return Part(data, make, attributes)


def boxes(
    data: Sequence[Any], shape: Shape | int, starts: Sequence[Shape | int], *, dtype: Any = None, **attributes: Any
) -> Part:
    """Any number of boxes, none included: each array of DATA lies at its own of STARTS.

    All have one dtype: DTYPE, which ranks that may have no box must say.
    """
    whole = _numbers(shape, "shape")
    corners = [_numbers(start, "starts") for start in starts]
    arrays = [np.asarray(array, dtype) for array in data]
    if not arrays and dtype is None and not isinstance(data, np.ndarray):
        raise TypeError("a list of no boxes has no dtype, and must have that of the other ranks: say dtype=")
    if len(arrays) != len(corners):
        raise ValueError(f"{len(arrays)} arrays and {len(corners)} starts: each box has one of both")
    if len({array.dtype for array in arrays}) > 1:
        raise TypeError(f"boxes of several dtypes: {', '.join(sorted({str(array.dtype) for array in arrays}))}")
    counts = [list(array.shape) for array in arrays]
    together = (
        np.concatenate([array.reshape(-1) for array in arrays]) if arrays else np.asarray(data, dtype).reshape(-1)
    )

    def make(library: ModuleType, array: "np.ndarray[Any, np.dtype[Any]]") -> _Made:
        return library.boxes(whole, corners, counts), array

    return Part(together, make, attributes)


def runs(data: Any, shape: Shape | int, offsets: Sequence[int], lengths: Sequence[int], **attributes: Any) -> Part:
    """Runs of the row-major sequence of SHAPE: LENGTHS elements from OFFSETS on, which DATA holds one after another."""
    whole = _numbers(shape, "shape")
    firsts, counts = _numbers(offsets, "offsets"), _numbers(lengths, "lengths")
    if len(firsts) != len(counts):
        raise ValueError(f"{len(firsts)} offsets and {len(counts)} lengths: each run has one of both")
    pairs = list(zip(firsts, counts, strict=True))

    def make(library: ModuleType, array: "np.ndarray[Any, np.dtype[Any]]") -> _Made:
        return library.runs(whole, pairs), np.ascontiguousarray(array)

    return Part(data, make, attributes)


def ragged(rows: Any, **attributes: Any) -> Part:
    """A list of which each rank has any number of ROWS, 0 included; the dataset is all of them, rank after rank."""

    def make(library: ModuleType, array: "np.ndarray[Any, np.dtype[Any]]") -> _Made:
        if array.ndim == 0:
            raise ValueError("ragged takes an array of rows, not a single number")
        return library.ragged(array.shape[0], list(array.shape[1:])), array

    return Part(rows, make, attributes)


def per_rank(row: Any, **attributes: Any) -> Part:
    """One ROW of each rank: the dataset has as many as there are ranks."""

    def make(library: ModuleType, array: "np.ndarray[Any, np.dtype[Any]]") -> _Made:
        return library.per_rank(list(array.shape)), array.reshape((1, *array.shape))

    return Part(row, make, attributes)


def replicated(data: Any, **attributes: Any) -> Part:
    """The whole dataset, the same on every rank: checked, and written once."""

    def make(library: ModuleType, array: "np.ndarray[Any, np.dtype[Any]]") -> _Made:
        return library.replicated(list(array.shape)), array

    return Part(data, make, attributes)
