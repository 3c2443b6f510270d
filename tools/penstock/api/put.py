"""put.py: an array together with which part of a dataset it is: what is assigned to f["name"]."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from penstock.api.elements import MARKS, given, type_of

Shape = Sequence[int]
_Made = tuple[Any, "np.ndarray[Any, np.dtype[Any]]"]


@dataclass(frozen=True)
class Part:
    """This rank's part of a dataset: DATA, its place, and attributes of the dataset, or how it is stored: OPTIONS."""

    data: Any
    make: Callable[[ModuleType, "np.ndarray[Any, np.dtype[Any]]"], _Made]
    attributes: dict[str, Any] = field(default_factory=dict)
    dims: tuple[str, ...] = ()  # the names of the dataset's dimensions
    rank: int | None = None  # how many it has, where that is not how many the array has
    is_whole: bool = False  # the array is the dataset, the same on all ranks


def numbers(values: Any, what: str) -> list[int]:
    """VALUES as whole numbers, a single one as a list of it."""
    if isinstance(values, (int, np.integer)):
        values = (int(values),)
    try:
        whole = [int(value.__index__()) for value in values]
    except (TypeError, AttributeError) as error:
        raise TypeError(f"{what} must be whole numbers, not {values!r}") from error
    for number in whole:
        if not -(2**63) <= number < 2**63:
            raise ValueError(f"{what} has {number}, which is no number of 64 bits")
    return whole


def dimensions(names: Sequence[str] | str) -> tuple[str, ...]:
    """NAMES of dimensions, slowest first; one may stand alone."""
    listed = (names,) if isinstance(names, str) else tuple(names)
    for name in listed:
        if not isinstance(name, str):
            raise TypeError(f"dims={names!r}: names of dimensions are str, slowest first")
    return listed


# How a dataset is stored: arguments of a part that are no attributes of it.
OPTIONS = ("dtype", "keep_bits", "scale", "offset", "compression", "level", "max_error", "max_relative_error")
_CODECS = {"gzip": "deflate", "zlib": "deflate"}  # of h5py and xarray


def options_text(options: dict[str, Any], name: str) -> str:
    """OPTIONS of dataset NAME as the library reads them."""
    words = {"type" if key == "dtype" else key: value for key, value in options.items() if value is not None}
    if "type" in words:
        words["type"] = type_of(np.dtype(words["type"]), name)
    if "compression" in words:
        words["compression"] = _CODECS.get(words["compression"], words["compression"])
    return ",".join(f"{key}={value}" for key, value in words.items())


def codec_options(said: Mapping[Any, Any], kind: str, encodes: bool) -> dict[str, Any]:
    """What xarray's encoding SAID of elements of dtype KIND says of rounding, and of codecs if ENCODES."""
    options: dict[str, Any] = {}
    if said.get("quantize_mode") == "BitRound" and kind == "f":
        options["keep_bits"] = said.get("significant_digits")
    codec = said.get("compression") or next((word for word in ("zlib", "zstd") if said.get(word)), None)
    if encodes and codec:
        level = said.get("complevel", said.get("compression_opts"))
        options |= {"compression": codec, "level": level if isinstance(level, int) else None}
    return options


def encoding_options(data: Any, encodes: bool) -> dict[str, Any]:
    """What the encoding of DATA, where it is a DataArray of xarray, says of how it is stored; of codecs if ENCODES."""
    xarray = sys.modules.get("xarray")
    if xarray is None or not isinstance(data, xarray.DataArray):
        return {}
    said = data.encoding
    options = codec_options(said, data.dtype.kind, encodes)
    options |= {"scale": said.get("scale_factor"), "offset": said.get("add_offset")}
    if "dtype" in said and np.dtype(said["dtype"]).kind in "iufc" and data.dtype.kind in "iufc":
        options["dtype"] = said["dtype"]
    return {key: value for key, value in options.items() if value is not None}


def labels(data: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The names of dimensions that DATA has where it is a DataArray of xarray, and its attributes."""
    xarray = sys.modules.get("xarray")
    if xarray is None or not isinstance(data, xarray.DataArray):
        return (), {}
    unnamed = data.dims == tuple(f"dim_{i}" for i in range(data.ndim))
    attributes = {key: value for key, value in data.attrs.items() if key not in MARKS}
    return () if unnamed else dimensions(data.dims), attributes


def block(
    data: Any, shape: Shape | int, start: Shape | int, *, dims: Sequence[str] | str = (), **attributes: Any
) -> Part:
    """One box: DATA lies at START in a dataset of SHAPE. A rank that has nothing passes an empty array.

    DIMS are the names of the dimensions, slowest first, here as everywhere.
    """
    whole, at = numbers(shape, "shape"), numbers(start, "start")

    def make(library: ModuleType, array: "np.ndarray[Any, np.dtype[Any]]") -> _Made:
        if array.ndim != len(whole):
            raise ValueError(
                f"the array has {array.ndim} dimensions, shape={tuple(whole)} has {len(whole)}: they must be as many"
            )
        return library.block(whole, at, list(array.shape)), array

    return Part(data, make, attributes, dimensions(dims))


def boxes(
    data: Sequence[Any],
    shape: Shape | int,
    starts: Sequence[Shape | int],
    *,
    dtype: Any = None,
    dims: Sequence[str] | str = (),
    **attributes: Any,
) -> Part:
    """Any number of boxes, none included: each array of DATA lies at its own of STARTS.

    All have one dtype: DTYPE, which ranks that may have no box must say.
    """
    whole = numbers(shape, "shape")
    corners = [numbers(start, "starts") for start in starts]
    arrays = [given(array, "boxes", dtype) for array in data]
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

    return Part(together, make, attributes, dimensions(dims), len(whole))


def runs(
    data: Any,
    shape: Shape | int,
    offsets: Sequence[int],
    lengths: Sequence[int],
    *,
    dims: Sequence[str] | str = (),
    **attributes: Any,
) -> Part:
    """Runs of the row-major sequence of SHAPE: LENGTHS elements from OFFSETS on, which DATA holds one after another."""
    whole = numbers(shape, "shape")
    firsts, counts = numbers(offsets, "offsets"), numbers(lengths, "lengths")
    if len(firsts) != len(counts):
        raise ValueError(f"{len(firsts)} offsets and {len(counts)} lengths: each run has one of both")
    pairs = list(zip(firsts, counts, strict=True))

    def make(library: ModuleType, array: "np.ndarray[Any, np.dtype[Any]]") -> _Made:
        return library.runs(whole, pairs), np.ascontiguousarray(array)

    return Part(data, make, attributes, dimensions(dims), len(whole))


def ragged(rows: Any, *, dims: Sequence[str] | str = (), **attributes: Any) -> Part:
    """Each rank gives any number of ROWS, also none; the dataset has the rows of all ranks, rank after rank."""

    def make(library: ModuleType, array: "np.ndarray[Any, np.dtype[Any]]") -> _Made:
        if array.ndim == 0:
            raise ValueError("ragged takes an array of rows, not a single number")
        return library.ragged(array.shape[0], list(array.shape[1:])), array

    return Part(rows, make, attributes, dimensions(dims))


def per_rank(row: Any, *, dims: Sequence[str] | str = (), **attributes: Any) -> Part:
    """One ROW of each rank: the dataset has as many as there are ranks."""

    def make(library: ModuleType, array: "np.ndarray[Any, np.dtype[Any]]") -> _Made:
        return library.per_rank(list(array.shape)), array.reshape((1, *array.shape))

    return Part(row, make, attributes, dimensions(dims))


def replicated(data: Any, *, dims: Sequence[str] | str = (), **attributes: Any) -> Part:
    """The whole dataset, the same on every rank: checked, and written once."""

    def make(library: ModuleType, array: "np.ndarray[Any, np.dtype[Any]]") -> _Made:
        return library.replicated(list(array.shape)), array

    return Part(data, make, attributes, dimensions(dims), is_whole=True)
