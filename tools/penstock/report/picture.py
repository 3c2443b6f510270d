"""picture.py: a 2-D dataset of an HDF5 file as a picture, by h5py and matplotlib: nothing of ours reads the file."""

import os
from pathlib import Path

import h5py
import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from penstock.errors import UserError
from penstock.report.save import save


def draw(path: Path, name: str | None, output: Path) -> str:
    """Draws dataset NAME of PATH, by default the first with two dimensions, into OUTPUT; returns the name."""
    try:
        with h5py.File(path, "r") as file:
            dataset = _find(file, path, name)
            values = np.asarray(dataset[...])
            units = _text(dataset.attrs.get("units"))
            facts = [f"{key} {_text(value)}" for key, value in file.attrs.items() if np.ndim(value) == 0]
            label = str(dataset.name).lstrip("/")
    except OSError as error:
        raise UserError(_unreadable(path, error)) from None

    mpl.rcParams["font.size"] = 10
    figure = Figure(figsize=(7.2, 6.0), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(values, origin="lower", cmap="inferno", interpolation="nearest")
    axes.set(xlabel="column", ylabel="row")
    axes.set_title(f"{label} in {path.name}", loc="left", fontsize=12)
    axes.text(1.0, 1.01, ", ".join(facts), transform=axes.transAxes, ha="right", va="bottom", fontsize=8, color="0.4")
    figure.colorbar(image, ax=axes, label=f"{label} ({units})" if units else label)
    try:
        save(figure, output, 120)
    except OSError as error:
        raise UserError(f"cannot write '{output}': {error.strerror or error}") from None
    except ValueError as error:
        raise UserError(f"{output}: {error}") from None
    return label


def _unreadable(path: Path, error: OSError) -> str:
    """What h5py says names addresses and times; this names the file and the cause."""
    if path.is_dir():
        return f"'{path}' is a folder, not a file"
    if error.errno:
        return f"cannot read '{path}': {os.strerror(error.errno)}"
    if "signature not found" in str(error):
        return f"'{path}' is no HDF5 file"
    return f"'{path}' is a damaged or truncated HDF5 file: {error}"


def _find(file: h5py.File, path: Path, name: str | None) -> h5py.Dataset:
    if name is not None:
        found = file.get(name)
        if not isinstance(found, h5py.Dataset):
            raise UserError(f"{path} has no dataset '{name}'")
        if found.ndim != 2 or found.dtype.kind not in "iuf":
            raise UserError(f"{path}: '{name}' is not a 2-D array of numbers, but {found.dtype} of shape {found.shape}")
        return found
    plane: list[h5py.Dataset] = []
    file.visititems(lambda _, node: plane.append(node) if _drawable(node) else None)
    if not plane:
        raise UserError(f"{path} has no 2-D array of numbers")
    return plane[0]


def _drawable(node: object) -> bool:
    return isinstance(node, h5py.Dataset) and node.ndim == 2 and node.dtype.kind in "iuf"


def _text(value: object) -> str:
    if isinstance(value, bytes | np.bytes_):
        return value.decode("utf-8", "replace")
    if isinstance(value, float | np.floating):
        return f"{float(value):.3g}"
    return "" if value is None else str(value)
