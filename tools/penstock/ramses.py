"""ramses.py: the cells of a RAMSES output that `penstock import ramses` made one file of."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import penstock
from penstock.api.file import File

Table = dict[str, NDArray[Any]]

_NOT_OF_CELLS = ("position", "domain", "refined", "cpu_map")
_AXES = "xyz"


def leaf_cells(
    path: str | os.PathLike[str],
    variables: Sequence[str] | None = None,
    *,
    level: int | None = None,
    box: Sequence[tuple[float, float]] | None = None,
    cgs: bool = False,
) -> Table:
    """The leaf cells of the snapshot at PATH as one table: arrays of one length, by name.

    `x`, `y`, `z` (as many as there are dimensions) are centres and `size` the length of a side, in the code's units;
    `level`, `domain` (that owns the grid) and `process` (that computes the cell) are integers; then VARIABLES, or all.

    LEVEL: cells of that level stand for those that are refined further, as if it were the finest.
    BOX: only cells whose centre lies in [low, high) along each axis.
    CGS: variables that have `to_cgs`, centres and sizes, in CGS units.

    Local, on one process; it needs memory for the cells that it returns and for one level's. Raises penstock.NotFound
    where PATH is no such snapshot or has no such variable.
    """
    with penstock.open(path) as file:
        levels = _levels(file)
        if not levels:
            raise penstock.NotFound(
                f"'{os.fspath(path)}' has no levels of a RAMSES output: 'penstock import ramses' makes them"
            )
        there = _variables(file, levels)
        wanted = list(there if variables is None else variables)
        for name in wanted:
            if name not in there:
                raise penstock.NotFound(f"'{os.fspath(path)}' has no variable '{name}'; it has {', '.join(there)}")
        finest = levels[-1] if level is None else level
        if finest < levels[0]:
            raise penstock.NotFound(
                f"'{os.fspath(path)}' has no level up to {finest}; it has levels {levels[0]} to {levels[-1]}"
            )
        dimensions = file[f"level_{levels[0]:02}/position"].shape[1]
        if box is not None and len(box) != dimensions:
            raise penstock.Invalid(f"the box has {len(box)} axes, '{os.fspath(path)}' {dimensions}")
        parts = [_cells(file, each, wanted, each == finest, box, cgs) for each in levels if each <= finest]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _box(file: File) -> tuple[NDArray[np.int64], int]:
    """Where the box begins, in coarse cells along each axis, and how many of them are boxlen along x."""
    if "box_start" in file.attrs:
        return np.asarray(file.attrs["box_start"]), int(np.asarray(file.attrs["box_cells"])[0])
    coarse = np.asarray(file.attrs["coarse_cells"])  # imports of before
    return coarse // 2, 1


def _levels(file: File) -> list[int]:
    found = {name.split("/")[0] for name in file if name.startswith("level_")}
    return sorted(int(name.removeprefix("level_")) for name in found if name.removeprefix("level_").isdigit())


def _variables(file: File, levels: Iterable[int]) -> list[str]:
    first = f"level_{next(iter(levels)):02}/"
    names = [name.removeprefix(first) for name in file if name.startswith(first)]
    return [name for name in names if name not in _NOT_OF_CELLS]


def _cells(
    file: File,
    level: int,
    variables: Iterable[str],
    finest: bool,
    box: Sequence[tuple[float, float]] | None,
    cgs: bool,
) -> Table:
    group = f"level_{level:02}/"
    grids = np.asarray(file[group + "position"][...])
    refined = np.asarray(file[group + "refined"][...]).astype(bool)
    dimensions = grids.shape[1]
    start, across = _box(file)
    scale = float(np.asarray(file.attrs["boxlen"])) / across
    size = scale * 0.5**level
    keep = np.ones_like(refined) if finest else ~refined
    table: Table = {}
    for axis in range(dimensions):
        # The last index of a grid's cells is x.
        shape = [1] * (dimensions + 1)
        shape[dimensions - axis] = 2
        offset = np.array([-0.5, 0.5]).reshape(shape) * size
        centre = ((grids[:, axis] - start[axis]) * scale).reshape((-1,) + (1,) * dimensions) + offset
        table[_AXES[axis]] = np.broadcast_to(centre, refined.shape)
        if box is not None:
            low, high = box[axis]
            keep = keep & (centre >= low) & (centre < high)
    domain = np.asarray(file[group + "domain"][...]).reshape((-1,) + (1,) * dimensions)
    cells = {name: values[keep] for name, values in table.items()}
    count = len(cells["x"])
    length = float(np.asarray(file.attrs["unit_l"])) if cgs else 1.0
    cells = {name: values * length for name, values in cells.items()}
    cells["size"] = np.full(count, size * length)
    cells["level"] = np.full(count, level, np.int32)
    cells["domain"] = np.broadcast_to(domain, refined.shape)[keep]
    cells["process"] = np.asarray(file[group + "cpu_map"][...])[keep]
    for name in variables:
        dataset = file[group + name]
        values = np.asarray(dataset[...])[keep]
        if cgs and "to_cgs" in dataset.attrs:
            values = values * float(np.asarray(dataset.attrs["to_cgs"]))
        cells[name] = values
    return cells
