"""save.py: a figure goes to its file in one write, since matplotlib is silent about a full disk."""

import io
from pathlib import Path

from matplotlib.figure import Figure


def save(figure: Figure, target: Path, dpi: float) -> None:
    """OSError where it cannot be written, ValueError where the name's ending is no kind of picture."""
    drawn = io.BytesIO()
    kind = target.suffix[1:].lower() or "png"
    if kind not in figure.canvas.get_supported_filetypes():
        raise ValueError(f"pictures cannot be written as .{kind}: use .png, .jpg, .svg or .pdf")
    figure.savefig(drawn, dpi=dpi, format=kind)
    target.write_bytes(drawn.getvalue())
