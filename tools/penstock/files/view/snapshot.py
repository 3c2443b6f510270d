"""snapshot.py: a slice or projection of an imported RAMSES output at all levels, by its leaf cells."""

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from penstock import ramses
from penstock.api.file import File
from penstock.base.errors import UserError
from penstock.files.view.plane import text_of
from penstock.files.view.request import Picture, Request

_AXES = "xyz"
_OF_LEVEL = re.compile(r"level_(\d+)/(.+)")


def variables(file: File) -> list[str]:
    """Those of a snapshot with levels, density first; none where FILE is no such snapshot."""
    position = next((name for name in file if name.startswith("level_") and name.endswith("/position")), None)
    if position is None:
        return []
    group = position.removesuffix("position")
    found = [name.removeprefix(group) for name in file if name.startswith(group)]
    found = [name for name in found if name not in ("position", "refined", "cpu_map", "domain")]
    return sorted(found, key=lambda name: (name != "density", name))


def at_level(path: str, there: list[str], name: str, request: Request) -> tuple[str, Request]:
    """`level_05/density` as `density` down to level 5; other names as they are.

    Rows of grids are in no order that makes a picture.
    """
    match = _OF_LEVEL.fullmatch(name)
    if match is None:
        return name, request
    level, variable = int(match[1]), match[2]
    if variable not in there:
        draw = ", ".join(there[:6])
        raise UserError(f"{path}: '{name}' has a row for each grid, in no order that makes a picture: draw {draw}")
    if request.level not in (None, level):
        raise UserError(f"'{name}' is of level {level}: leave out --level {request.level}, or draw '{variable}'")
    return variable, replace(request, level=level)


def read(file: File, path: str, name: str, request: Request) -> Picture:
    cells = ramses.leaf_cells(path, [name], level=request.level)
    if len(cells["size"]) == 0:
        raise UserError(f"{path}: no level up to {request.level} has cells")
    rank = sum(axis in cells for axis in _AXES)
    ends = [float((cells[axis] + cells["size"] / 2).max()) for axis in _AXES[:rank]]
    label = _label(file, name)
    if rank == 1:
        if request.slices or request.project or request.axis:
            raise UserError(f"{path} has one dimension, which is drawn whole: no --slice, --project or --axis")
        order = np.argsort(cells["x"])
        places = np.asarray(cells["x"][order], np.float64)
        return Picture(cells[name][order], ["x (code units)"], [(0, ends[0])], _levels(cells), label, places=places)
    depth, place = _third(request, rank, ends)
    if depth is not None and request.project is None:
        half = cells["size"] / 2
        inside = (cells[_AXES[depth]] - half <= place) & (place < cells[_AXES[depth]] + half)
        cells = {key: values[inside] for key, values in cells.items()}
    drawn = [axis for axis in range(rank - 1, -1, -1) if axis != depth]
    values = _raster(cells, name, drawn, ends, request)
    where = "" if depth is None else f"{_AXES[depth]} = {place:g}, "
    if depth is not None and request.project is not None:
        where = f"{request.project} along {_AXES[depth]}, "
        if request.project == "sum":
            label += " × length"
    return Picture(
        values,
        [f"{_AXES[axis]} (code units)" for axis in drawn],
        [(0, ends[axis]) for axis in drawn],
        where + _levels(cells),
        label,
    )


def _levels(cells: dict[str, NDArray[np.generic]]) -> str:
    levels = np.asarray(cells["level"])
    low, high = int(levels.min()), int(levels.max())
    return f"levels {low} to {high}" if high > low else f"level {low}"


def _label(file: File, name: str) -> str:
    group = next(each for each in file if each.startswith("level_") and each.endswith("/" + name))
    unit = text_of(file[group].attrs.get("units"))
    return f"{name} ({unit or 'code units'})"


def _third(request: Request, rank: int, ends: list[float]) -> tuple[int | None, float]:
    """The axis that is no side of the picture, and where on it."""
    wanted = [*request.slices, *([request.axis] if request.axis is not None else [])]
    for word in wanted:
        if word not in list(_AXES[:rank]):
            raise UserError(f"a snapshot with levels is cut at a place along {', '.join(_AXES[:rank])}, not '{word}'")
    if rank == 2:
        if wanted or request.project:
            raise UserError("this snapshot is two-dimensional and drawn whole: leave out --slice, --project and --axis")
        return None, 0.0
    if len(set(wanted)) > 1 or (request.slices and request.project):
        raise UserError("a snapshot with levels is cut or projected along one axis")
    depth = _AXES.index(wanted[0]) if wanted else 2
    # The middle lies between cells: the ones beyond it.
    place = request.slices.get(_AXES[depth], ends[depth] / 2)
    if not 0 <= place <= ends[depth]:
        raise UserError(f"--slice {_AXES[depth]}={place:g} is outside the box, which goes from 0 to {ends[depth]:g}")
    return depth, min(place, float(np.nextafter(ends[depth], 0)))


def _raster(
    cells: dict[str, NDArray[np.generic]], name: str, drawn: list[int], ends: list[float], request: Request
) -> NDArray[np.float64]:
    """Each level on a grid of its own cells, or of pixels where these are larger; then all on that of pixels."""
    high = int(np.asarray(cells["level"]).max())
    finest = min(high, max(1, int(request.size).bit_length() - 1))
    unit = float(np.asarray(cells["size"])[0]) * 2.0 ** int(np.asarray(cells["level"])[0])
    boxes = [max(1, round(ends[axis] / unit)) for axis in drawn]
    shape = tuple(box << finest for box in boxes)
    total, weight = np.zeros(shape), np.zeros(shape)
    largest = np.full(shape, -np.inf)
    for level in np.unique(np.asarray(cells["level"])):
        own = np.asarray(cells["level"]) == level
        grid = min(int(level), finest)
        sides = tuple(box << grid for box in boxes)
        width = unit / 2.0**grid
        index = [
            np.clip(np.floor(np.asarray(cells[_AXES[axis]], np.float64)[own] / width).astype(np.int64), 0, side - 1)
            for axis, side in zip(drawn, sides, strict=True)
        ]
        flat = np.ravel_multi_index(tuple(index), sides)
        values = np.asarray(cells[name], np.float64)[own]
        repeat = 1 << (finest - grid)
        if request.project == "max":
            native = np.full(sides[0] * sides[1], -np.inf)
            np.maximum.at(native, flat, values)
            largest = np.maximum(largest, native.reshape(sides).repeat(repeat, 0).repeat(repeat, 1))
            continue
        share = 0.25 ** (int(level) - grid)  # of a pixel that the cell covers
        thick = share * (np.asarray(cells["size"], np.float64)[own] if request.project else 1.0)
        for sums, weights in ((total, values * thick), (weight, np.broadcast_to(thick, values.shape))):
            native = np.bincount(flat, weights, sides[0] * sides[1]).reshape(sides)
            np.add(sums, native.repeat(repeat, 0).repeat(repeat, 1), out=sums)
    if request.project == "max":
        return np.where(np.isfinite(largest), largest, np.nan)
    if request.project == "sum":
        return np.where(weight > 0, total, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(total / weight)
