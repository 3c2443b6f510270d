"""plane.py: a slice or projection of any dataset, of which only what is drawn is read."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.api.dataset import Dataset
from penstock.api.file import File
from penstock.base.errors import UserError
from penstock.files.view.request import Picture, Request, axis_names, index_letters

SLAB_BYTES = 64 << 20


@dataclass
class _Axes:
    """The dimensions of a dataset, slowest first."""

    shape: tuple[int, ...]
    names: list[str]
    letters: list[str]
    origin: list[float]
    spacing: list[float]

    def find(self, word: str, option: str) -> int:
        for words in (self.names, self.letters):
            if word in words:
                return words.index(word)
        if word.isdigit() and int(word) < len(self.shape):
            return int(word)
        raise UserError(
            f"{option}: the dataset has no axis '{word}'; it has {', '.join(self.names)} "
            f"(by place) and {', '.join(self.letters)} (by index)"
        )

    def index(self, word: str, value: float) -> tuple[int, int]:
        """The dimension that WORD names, and the index there."""
        at = self.find(word, "--slice")
        if word in self.letters and word not in self.names:
            index = value
            if index != int(index):
                raise UserError(
                    f"--slice {word}={value:g}: an index is a whole number; {self.names[at]}= takes a place"
                )
        else:
            index = float(np.floor((value - self.origin[at]) / self.spacing[at] + 0.5))
        if not 0 <= index < self.shape[at]:
            last = self.origin[at] + (self.shape[at] - 1) * self.spacing[at]
            raise UserError(
                f"--slice {word}={value:g} is outside: {self.letters[at]} goes from 0 to {self.shape[at] - 1}, "
                f"{self.names[at]} from {self.origin[at]:g} to {last:g}"
            )
        return at, int(index)


def choose(file: File, path: str) -> str:
    """The first dataset that makes a picture: with most dimensions up to three."""
    drawable = [name for name in file if _drawable(file[name])]
    if not drawable:
        raise UserError(f"{path} has no array of numbers")
    return max(drawable, key=lambda name: min(file[name].ndim, 3) - (file[name].ndim > 3))


def read(file: File, path: str, name: str, request: Request) -> Picture:
    dataset = file[name]
    if dataset.dtype.kind not in "biufc":
        raise UserError(f"{path}: '{name}' has elements of {dataset.dtype}, which are no numbers")
    if dataset.ndim == 0:
        raise UserError(f"{path}: '{name}' is a single value, {dataset[()]}: there is nothing to draw")
    if dataset.size == 0:
        raise UserError(f"{path}: '{name}' has the shape {dataset.shape}: it has no elements to draw")
    if request.level is not None:
        raise UserError(f"--level: '{name}' is a single array; levels are those of imported snapshots")
    axes = _axes(file, dataset)
    fixed = dict(axes.index(word, value) for word, value in request.slices.items())
    along = _projected(axes, request, fixed)
    chosen = [] if along is None else [along]
    for at, extent in enumerate(axes.shape):  # the slowest that nobody asked for, in their middle
        if len(axes.shape) - len(fixed) - len(chosen) > 2 and at not in fixed and at not in chosen:
            fixed[at] = extent // 2
    if request.axis is not None and along is None and axes.find(request.axis, "--axis") not in fixed:
        raise UserError(
            f"--axis {request.axis}: the dataset is drawn whole along it; --slice or --project may leave it out"
        )
    drawn = [at for at in range(len(axes.shape)) if at not in fixed and at not in chosen]
    if not drawn:
        raise UserError(f"{path}: '{name}': nothing is left to draw: every axis is sliced or projected")
    steps = {at: max(1, axes.shape[at] // (2 * request.size)) for at in drawn}
    values = _values(dataset, axes.shape, fixed, along, steps, request)
    return _picture(file, dataset, axes, fixed, along, steps, values, request)


def _projected(axes: _Axes, request: Request, fixed: dict[int, int]) -> int | None:
    """Also puts into FIXED the middle of the axis that is sliced by default."""
    rank = len(axes.shape)
    at = axes.find(request.axis, "--axis") if request.axis is not None else None
    if request.project is None:
        if at is not None and rank > 2 and at not in fixed:
            fixed[at] = axes.shape[at] // 2
        return None
    if at is None:
        at = next((each for each in range(rank) if each not in fixed), None)
    if at is None or at in fixed:
        raise UserError("--project: the axis is sliced already")
    return at


def _values(
    dataset: Dataset,
    shape: tuple[int, ...],
    fixed: dict[int, int],
    along: int | None,
    steps: dict[int, int],
    request: Request,
) -> NDArray[np.float64]:
    key: list[Any] = [fixed[at] if at in fixed else slice(None, None, steps.get(at, 1)) for at in range(len(shape))]
    if along is None:
        return _real(dataset[tuple(key)])
    row = dataset.dtype.itemsize
    for at, step in steps.items():
        row *= -(-shape[at] // step)
    rows = max(1, SLAB_BYTES // row)
    place = sum(1 for at in range(along) if at not in fixed)
    total: NDArray[np.float64] | None = None
    for first in range(0, shape[along], rows):
        key[along] = slice(first, min(first + rows, shape[along]))
        slab = _real(dataset[tuple(key)])
        part = slab.max(axis=place) if request.project == "max" else slab.sum(axis=place)
        if total is not None:
            part = np.maximum(total, part) if request.project == "max" else total + part
        total = part
    assert total is not None
    return total / shape[along] if request.project == "mean" else total


def _real(values: Any) -> NDArray[np.float64]:
    values = np.asarray(values)
    return np.asarray(np.abs(values) if values.dtype.kind == "c" else values, dtype=np.float64)


def _picture(
    file: File,
    dataset: Dataset,
    axes: _Axes,
    fixed: dict[int, int],
    along: int | None,
    steps: dict[int, int],
    values: NDArray[np.float64],
    request: Request,
) -> Picture:
    unit = text_of(dataset.attrs.get("units"))
    length = text_of(dataset.attrs.get("units_of_axes", file.attrs.get("units_of_axes")))
    where = [
        f"{axes.names[at]} = {axes.origin[at] + index * axes.spacing[at]:g} "
        f"({axes.letters[at]} = {index} of {axes.shape[at]})"
        for at, index in sorted(fixed.items())
    ]
    if along is not None:
        where.append(f"{request.project} along {axes.names[along]}")
    notes = [
        f"every {step}th element of {axes.shape[at]} along {axes.names[at]} is drawn"
        for at, step in steps.items()
        if step > 1
    ]
    bounds: list[tuple[float, float]] = []
    for at, step in steps.items():
        low = axes.origin[at] - axes.spacing[at] / 2
        bounds.append((low, low + values.shape[len(bounds)] * step * axes.spacing[at]))
    named = f"|{dataset.name}|" if dataset.dtype.kind == "c" else dataset.name
    return Picture(
        values,
        [f"{axes.names[at]} ({length})" if length else axes.names[at] for at in steps],
        bounds,
        ", ".join(where),
        f"{named} ({unit})" if unit else named,
        notes,
    )


def _axes(file: File, dataset: Dataset) -> _Axes:
    rank = dataset.ndim
    named = dataset.attrs.get("dimensions")
    words = [text_of(each) for each in np.atleast_1d(named)] if named is not None else None
    numbers = {}
    for key, default in (("origin", 0.0), ("spacing", 1.0)):
        given = dataset.attrs.get(key, file.attrs.get(key))
        values = np.atleast_1d(np.asarray(given)) if given is not None else np.empty(0)
        fits = values.shape == (rank,) and values.dtype.kind in "iuf" and np.isfinite(values).all()
        numbers[key] = [float(value) for value in values] if fits else [default] * rank
    numbers["spacing"] = [each if each != 0 else 1.0 for each in numbers["spacing"]]
    return _Axes(dataset.shape, axis_names(rank, words), index_letters(rank), numbers["origin"], numbers["spacing"])


def _drawable(dataset: Dataset) -> bool:
    return dataset.dtype.kind in "biufc" and dataset.ndim > 0 and dataset.size > 1


def text_of(value: Any) -> str:
    if value is None:
        return ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
