"""dataset.py: a dataset of a file: read by slicing, changed by assigning to slices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from penstock.api.attributes import Attributes
from penstock.api.elements import dtype_of, fitting, marked, meant, restored, storable, widened
from penstock.api.exceptions import Error, Invalid
from penstock.api.put import dimensions
from penstock.api.selection import Array, Selection, select

Info = tuple[str, tuple[int, ...], bool]  # the type, the shape, and whether it may grow
Request = tuple[str, str, Any, Array]  # the name of a dataset, its type, which part of it, into what


class OpenFile(Protocol):
    """What a dataset needs of its file."""

    _library: Any
    _open: Any
    _created: dict[str, Info]

    def __iter__(self) -> Iterator[str]: ...
    def attributes(self, name: str) -> Attributes: ...
    def _there(self) -> dict[str, Info]: ...
    def _read(self, ask: Callable[[], Request]) -> Array: ...
    def _later(self, fill: Callable[[], None]) -> None: ...


class Dataset:
    """A dataset of a file. Reading is collective: every rank of a parallel file reads, each whatever part it likes."""

    def __init__(self, file: OpenFile, name: str, dtype: np.dtype[Any] | None = None) -> None:
        self._file, self.name, self._wider = file, name, dtype

    def _info(self) -> tuple[str, tuple[int, ...], bool]:
        found = self._file._there().get(self.name) or self._file._created.get(self.name)
        if found is None:
            raise Invalid(f"'{self.name}' can be read, and parts of it changed, after the commit that puts it")
        return found

    @property
    def shape(self) -> tuple[int, ...]:
        return self._info()[1]

    @property
    def stored(self) -> np.dtype[Any]:
        """The dtype of its elements in the file, of which others may be meant: bool, float16 and str."""
        return dtype_of(self._info()[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._wider or meant(self._info()[0], self.attrs)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def is_unlimited(self) -> bool:
        return self._info()[2]

    @property
    def dims(self) -> tuple[str, ...]:
        """The names of the dimensions; () where they have none. Setting them is local, and true at the commit.

        Coordinates of a dimension have its name.
        """
        of = self._file._open.dimensions
        return tuple(of(self.name)) or ((self.name,) if any(self.name in of(each) for each in self._file) else ())

    @dims.setter
    def dims(self, names: Sequence[str] | str) -> None:
        self._file._open.set_dimensions(self.name, dimensions(names))

    @property
    def attrs(self) -> Attributes:
        return self._file.attributes(self.name)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"'{self.name}' is a single value, which has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        try:
            word, shape, _ = self._info()
        except Error:
            return f"<penstock dataset '{self.name}', not committed>"
        return f"<penstock dataset '{self.name}' {word} {shape}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError(f"'{self.name}' lies in a file: an array of it is a copy")
        return np.asarray(self[...], dtype=dtype)

    def __iter__(self) -> Iterator[Any]:
        return iter(self[...])

    # --- reading

    def astype(self, dtype: Any) -> Dataset:
        """Local. The dataset as one whose elements are read as DTYPE, which holds each of them without loss."""
        return Dataset(self._file, self.name, widened(dtype, self.dtype, self.name))

    def __getitem__(self, key: Any) -> Any:
        """Collective. What numpy would give: an array, or a single value where all indices are whole numbers."""
        return self._read(key, outer=False)

    def outer(self, *keys: Any) -> Any:
        """Collective. As slicing, but each dimension may have a list of indices of its own."""
        return self._read(keys, outer=True)

    def read(self, key: Any = Ellipsis, *, dtype: Any = None) -> Any:
        """Collective. As slicing; with DTYPE wider elements than those of the dataset (docs/precision.md)."""
        return self._read(key, outer=False, dtype=dtype)

    def read_into(self, out: Array, key: Any = Ellipsis, *, dtype: Any = None) -> None:
        """Collective. Reads [KEY] into OUT, which may be part of a larger array: strides are heeded.

        OUT has the dtype of the dataset, or the wider one that DTYPE says.
        """
        got: list[Array] = []

        def ask() -> Request:
            selection = self._plain(key)
            self._check_out(out, selection, widened(dtype, self.dtype, self.name))
            got.append(out if out.dtype == self.stored else np.empty(out.shape, self.stored))
            return self._request(selection, got[0])

        self._file._read(ask)
        if got[0] is not out:
            out[...] = restored(got[0], out.dtype)

    def get(self, key: Any = Ellipsis, *, dtype: Any = None) -> Array:
        """Local. An array that is filled when the file's commit (or close) returns: one exchange for all gets."""
        selection = self._plain(key)
        out = np.empty(selection.result_shape, widened(dtype, self.dtype, self.name))
        got = out if out.dtype == self.stored else np.empty(out.shape, self.stored)
        self._file._open.get(*self._request(selection, got))
        if got is not out:
            self._file._later(lambda: np.copyto(out, restored(got, out.dtype)))
        return out

    def _plain(self, key: Any) -> Selection:
        selection = select(key, self.shape)
        if not selection.plain:
            raise TypeError("only slices without a step and whole numbers can be read into an array of yours")
        return selection

    def _check_out(self, out: Array, selection: Selection, wanted: np.dtype[Any]) -> None:
        if not isinstance(out, np.ndarray):
            raise TypeError(f"read_into fills a numpy array, not a {type(out).__name__}")
        if out.dtype != wanted:
            raise TypeError(
                f"'{self.name}' has elements of {self.dtype}, the array of {out.dtype}: they must be the same, or "
                "dtype= says into which wider ones they are read"
            )
        if out.shape != selection.result_shape:
            raise ValueError(f"the array has shape {out.shape}, what is read into it {selection.result_shape}")
        if any(stride <= 0 or stride % out.itemsize for stride in out.strides):
            raise ValueError("strides of the array must be positive multiples of its elements")
        if not out.flags.writeable:
            raise ValueError("the array is read-only")

    def _request(self, selection: Selection, out: Array) -> Request:
        word, shape, _ = self._info()
        part = self._file._library.block(shape, selection.starts, selection.counts)
        kept = [np.newaxis if isinstance(axis.pick, int) else slice(None) for axis in selection.axes]
        return self.name, word, part, out[tuple(kept)] if kept else out

    def _read(self, key: Any, *, outer: bool, dtype: Any = None) -> Any:
        asked: list[tuple[Selection, np.dtype[Any]]] = []

        def ask() -> Request:
            word, shape, _ = self._info()
            selection = select(key, shape, outer=outer)
            asked.append((selection, widened(dtype, self.dtype, self.name)))
            packed = np.empty(selection.packed_shape, dtype_of(word))
            library = self._file._library
            if selection.one_box:
                part = library.block(shape, selection.starts, selection.counts)
            else:
                part = library.boxes(shape, *selection.boxes())
            return self.name, word, part, packed

        packed = self._file._read(ask)
        [(selection, wanted)] = asked
        result = restored(selection.unpack(packed), wanted)
        return result[()] if isinstance(result, np.ndarray) and not result.ndim else result

    # --- changing

    def __setitem__(self, key: Any, value: Any) -> None:
        """Local. A put of VALUE, which is copied, to [KEY]: true at the commit. Ranks put different elements."""
        word, shape, _ = self._info()
        data, _ = storable(fitting(value, self.dtype, self.stored, self.name), self.name)
        try:
            pieces = select(key, shape).pieces(data)
        except ValueError as error:
            raise ValueError(f"'{self.name}': {error}") from None
        library, starts = self._file._library, [start for start, _ in pieces]
        if len(pieces) == 1:
            together, _ = storable(pieces[0][1], self.name)
            part = library.block(shape, starts[0], list(together.shape))
        else:
            together = np.concatenate([each.reshape(-1) for _, each in pieces] or [np.empty(0, data.dtype)])
            part = library.boxes(shape, starts, [list(each.shape) for _, each in pieces])
        self._file._open.put(self.name, word, part, together, False, marked(self.dtype))
