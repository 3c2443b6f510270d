"""draw.py: a picture with axes, units and a bar of colours, by matplotlib."""

from pathlib import Path

import numpy as np

from penstock.base.errors import UserError
from penstock.base.printable import printable
from penstock.files.view.request import Picture
from penstock.files.view.save import save


def draw(
    picture: Picture,
    name: str,
    target: Path,
    log: bool,
    limits: tuple[float | None, float | None],
    cmap: str,
    size: int,
) -> list[str]:
    """Writes TARGET; returns what should be said about it."""
    try:
        import matplotlib as mpl
        from matplotlib.colors import LogNorm, Normalize
        from matplotlib.figure import Figure
    except ImportError:
        raise UserError("pictures need matplotlib, which is not there: pip install matplotlib") from None
    if cmap not in mpl.colormaps:
        raise UserError(f"--cmap: matplotlib has no colours called '{cmap}'; viridis, inferno and RdBu_r are some")
    notes = list(picture.notes)
    values = np.ma.masked_invalid(picture.values)
    if log:
        values = np.ma.masked_where(~(picture.values > 0), values)
        if hidden := int(np.count_nonzero(np.isfinite(picture.values) & ~(picture.values > 0))):
            notes.append(f"{hidden} values that are not above 0 have no logarithm and are left out")
        if limits[0] is not None and limits[0] <= 0:
            raise UserError(f"--range begins at {limits[0]:g}, which has no logarithm")
    if values.count() == 0:
        raise UserError(f"'{name}' has nothing to draw: no value is {'above 0' if log else 'a finite number'}")
    mpl.rcParams["font.size"] = 10
    figure = Figure(figsize=(7.2, 6.0 if values.ndim == 2 else 4.0), layout="constrained")
    plot = figure.add_subplot()
    if values.ndim == 2:
        (bottom, top), (left, right) = picture.bounds
        kind = LogNorm if log else Normalize
        low = float(values.min()) if limits[0] is None else limits[0]
        high = float(values.max()) if limits[1] is None else limits[1]
        tall = abs(top - bottom) / abs(right - left)
        image = plot.imshow(
            values,
            origin="lower",
            extent=(left, right, bottom, top),
            norm=kind(low, max(low, high)),
            cmap=cmap,
            interpolation="nearest",
            aspect="equal" if 0.2 < tall < 5 else "auto",
        )
        plot.set(xlabel=printable(picture.axes[1]), ylabel=printable(picture.axes[0]))
        figure.colorbar(image, ax=plot, label=printable(picture.label))
    else:
        low, high = picture.bounds[0]
        width = (high - low) / len(values)
        places = picture.places if picture.places is not None else low + width * (np.arange(len(values)) + 0.5)
        plot.plot(places, values, lw=1.2, marker="." if len(values) <= 64 else None)
        plot.set(xlabel=printable(picture.axes[0]), ylabel=printable(picture.label), ylim=limits)
        if log:
            plot.set_yscale("log")
        plot.grid(alpha=0.3)
    name = printable(name)
    plot.set_title(f"{name}\n{printable(picture.title)}" if picture.title else name, loc="left", fontsize=10)
    try:
        save(figure, target, size / 7.2)
    except OSError as error:
        raise UserError(f"cannot write '{target}': {error.strerror or error}") from None
    except ValueError as error:
        raise UserError(f"{target}: {error}") from None
    return notes
