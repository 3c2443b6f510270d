"""request.py: what a picture is asked to show, and the words of the command line for it."""

import re
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from penstock.base.errors import UserError

PROJECTIONS = ("max", "mean", "sum")
_INDEX_LETTERS = "ijklmnop"  # of the last dimension, the one before it, ...
_AXIS_LETTERS = "xyz"
_SLICE = re.compile(r"\s*([^=\s]+)\s*=\s*(\S+)\s*")


@dataclass(frozen=True)
class Request:
    """What to draw: the rest is chosen."""

    slices: dict[str, float] = field(default_factory=dict)  # by name of the axis (a place) or its index letter
    project: str | None = None
    axis: str | None = None
    level: int | None = None
    size: int = 1000  # pixels of the longer side


@dataclass
class Picture:
    """What is drawn: VALUES over one or two axes, the slowest first."""

    values: NDArray[np.float64]
    axes: list[str]  # labels with units, slowest first
    bounds: list[tuple[float, float]]  # of the cells' outer sides
    title: str
    label: str
    notes: list[str] = field(default_factory=list)
    places: NDArray[np.float64] | None = None  # of a line whose values are not evenly spaced


def slices_of(words: list[str]) -> dict[str, float]:
    """ "z=0.5" and "k=12" as names and numbers."""
    found = {}
    for word in words:
        match = _SLICE.fullmatch(word)
        try:
            found[match[1] if match else ""] = float(match[2]) if match else np.nan
        except ValueError:
            match = None
        if match is None or not np.isfinite(found[match[1]]):
            raise UserError(f"--slice '{word}' is neither a place (z=0.5) nor an index (k=12)")
    return found


def limits_of(word: str | None) -> tuple[float | None, float | None]:
    """ "1e-3:10", where either may be missing."""
    if word is None:
        return None, None
    try:
        low, high = [float(part) if part else None for part in word.split(":")]
    except ValueError:
        raise UserError(f"--range '{word}' is not two numbers with a colon between them, such as 1e-3:10") from None
    if low is not None and high is not None and not low < high:
        raise UserError(f"--range '{word}': {low} is not below {high}")
    return low, high


def axis_names(rank: int, named: list[str] | None = None) -> list[str]:
    """x for the last dimension, y and z before it, then numbers from the slowest: unless they are named."""
    if named and len(named) == rank and len(set(named)) == rank:
        return named
    return [_AXIS_LETTERS[rank - 1 - i] if rank - 1 - i < len(_AXIS_LETTERS) else f"d{i}" for i in range(rank)]


def index_letters(rank: int) -> list[str]:
    return [_INDEX_LETTERS[rank - 1 - i] for i in range(rank)]
