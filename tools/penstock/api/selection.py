"""selection.py: which boxes of a dataset a numpy index means, and how what they hold becomes the array asked for."""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
# Where every 4th element is wanted or more, what is between is read and dropped; sparser ones are boxes each.
_DENSE = 4


@dataclass(frozen=True)
class Axis:
    """One dimension: COUNT elements from START on are fetched, or those of INDICES; PICK leaves what was asked for."""

    start: int
    count: int
    indices: tuple[int, ...] | None
    pick: Any  # slice, array or, for an integer, 0

    @property
    def wanted(self) -> Array:
        """The indices that were asked for."""
        if self.indices is not None:
            return np.array(self.indices, dtype=np.int64)
        fetched = np.arange(self.start, self.start + self.count)
        return fetched if isinstance(self.pick, int) else np.asarray(fetched[self.pick])


@dataclass(frozen=True)
class Selection:
    """An index of a dataset, all dimensions."""

    axes: tuple[Axis, ...]

    @property
    def one_box(self) -> bool:
        return all(axis.indices is None for axis in self.axes)

    @property
    def plain(self) -> bool:
        """One box, of which everything was asked for."""
        return self.one_box and all(isinstance(axis.pick, int) or axis.pick == slice(None) for axis in self.axes)

    @property
    def starts(self) -> list[int]:
        return [axis.start for axis in self.axes]

    @property
    def counts(self) -> list[int]:
        return [axis.count for axis in self.axes]

    @property
    def result_shape(self) -> tuple[int, ...]:
        """Returns the shape of the array that a plain selection yields."""
        return tuple(axis.count for axis in self.axes if not isinstance(axis.pick, int))

    def boxes(self) -> tuple[list[list[int]], list[list[int]]]:
        """Starts and counts of the boxes, in the order in which `packed_shape` holds them."""
        choices = [axis.indices if axis.indices is not None else (axis.start,) for axis in self.axes]
        starts = [list(corner) for corner in product(*choices)]
        counts = [1 if axis.indices is not None else axis.count for axis in self.axes]
        return starts, [counts] * len(starts)

    @property
    def packed_shape(self) -> list[int]:
        apart = [len(axis.indices) for axis in self.axes if axis.indices is not None]
        return apart + [axis.count for axis in self.axes if axis.indices is None]

    def unpack(self, data: Array) -> Array:
        """What was asked for, of DATA of `packed_shape`."""
        apart = [d for d, axis in enumerate(self.axes) if axis.indices is not None]
        together = [d for d, axis in enumerate(self.axes) if axis.indices is None]
        array = data.transpose(np.argsort(apart + together)) if self.axes else data
        for d in reversed(range(len(self.axes))):
            pick = self.axes[d].pick
            if isinstance(pick, int) or not (isinstance(pick, slice) and pick == slice(None)):
                array = array[(slice(None),) * d + (pick,)]
        return array

    def pieces(self, values: Array) -> list[tuple[list[int], Array]]:
        """The boxes that are asked for, each with its corner and what VALUES, which may be broadcast, has for it."""
        wanted = [axis.wanted for axis in self.axes]
        lengths = [len(each) for each in wanted]
        kept = tuple(n for n, axis in zip(lengths, self.axes, strict=True) if not isinstance(axis.pick, int))
        try:
            whole = np.broadcast_to(values, kept).reshape(lengths)
        except ValueError:
            raise ValueError(f"an array of shape {values.shape} does not fit elements of shape {kept}") from None
        return [
            ([int(each[at.start]) for each, at in zip(wanted, run, strict=True)], whole[run])
            for run in product(*map(_runs, wanted))
        ]


def _runs(indices: Array) -> list[slice]:
    """Where INDICES follow each other."""
    if not len(indices):
        return []
    ends = [*(np.flatnonzero(np.diff(indices) != 1) + 1).tolist(), len(indices)]
    return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]


def _axis(key: Any, extent: int, dimension: int) -> Axis:
    if isinstance(key, slice):
        chosen = range(*key.indices(extent))
        if len(chosen) <= 1 or chosen.step == 1:
            return Axis(chosen.start if chosen else 0, len(chosen), None, slice(None))
        return _spread(np.arange(chosen.start, chosen.stop, chosen.step))
    if isinstance(key, (bool, np.bool_)):
        raise TypeError("True and False are no indices of a dataset: use whole numbers, slices or ...")
    if isinstance(key, (int, np.integer)) or (isinstance(key, np.ndarray) and key.ndim == 0 and key.dtype.kind in "iu"):
        at = int(key)
        if not -extent <= at < extent:
            raise IndexError(f"index {at} is out of bounds for dimension {dimension}, which has {extent} elements")
        return Axis(at % extent, 1, None, 0)
    indices = np.asarray(key)
    if indices.ndim != 1 or (indices.size and indices.dtype.kind not in "iu"):
        raise TypeError(f"index {key!r} of dimension {dimension}: use whole numbers, slices, one list, or ...")
    indices = indices.astype(np.int64)
    if indices.size and (indices.min() < -extent or indices.max() >= extent):
        raise IndexError(
            f"an index of the list is out of bounds for dimension {dimension}, which has {extent} elements"
        )
    return _spread(np.where(indices < 0, indices + extent, indices))


def _spread(indices: Array) -> Axis:
    if indices.size == 0:
        return Axis(0, 0, None, slice(None))
    first, last = int(indices.min()), int(indices.max())
    span = last - first + 1
    if span <= _DENSE * indices.size:
        return Axis(first, span, None, indices - first)
    return Axis(first, indices.size, tuple(indices.tolist()), slice(None))


def select(key: Any, shape: tuple[int, ...], *, outer: bool = False) -> Selection:
    """The selection of index KEY in an array of SHAPE. With OUTER each dimension may have a list."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(each is None for each in keys):
        raise TypeError("newaxis is no index of a dataset: read first, then add the dimension")
    dots = [i for i, each in enumerate(keys) if each is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index has one '...' at most")
    given = len(keys) - len(dots)
    if given > len(shape):
        raise IndexError(f"{given} indices for a dataset of {len(shape)} dimensions")
    rest: list[Any] = [slice(None)] * (len(shape) - given)
    at = dots[0] if dots else len(keys)
    keys = keys[:at] + rest + keys[at + len(dots) :]
    lists = [each for each in keys if not isinstance(each, (slice, int, np.integer)) and np.ndim(each) > 0]
    if len(lists) > 1 and not outer:
        raise TypeError("more than one list of indices: read by one of them, then by the other")
    return Selection(tuple(_axis(each, extent, d) for d, (each, extent) in enumerate(zip(keys, shape, strict=True))))
