"""svg.py: matplotlib's figures as SVG that lies in a page: its colours follow the page, its names are its own."""

import io
import itertools
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from penstock.base.errors import UserError

# What is drawn in these colours is drawn in the page's own of that name, light or dark.
INK, MUTED, GRID, BAND, PAPER = "#010101", "#020202", "#030303", "#040404", "#050505"
SERIES = tuple(f"#0a0a0{digit}" for digit in range(8))
# Pixels have no names: colours of the first series that are seen on light and on dark.
PIXELS = ("#2b8fd0", "#e07020", "#1aa37a", "#c86aa6", "#b39020", "#5aa8dc", "#8084cc", "#8f9497")
_NAMES = {INK: "ink", MUTED: "muted", GRID: "grid", BAND: "band", PAPER: "paper"} | {
    colour: f"s{index}" for index, colour in enumerate(SERIES)
}
MARKERS = "osD^vPX*"
STYLES = ("-", "--", "-.", ":")
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "penstock",  # the same record makes the same page
    "text.parse_math": False,  # a $ in a name is a $
    "hatch.linewidth": 0.7,
    "font.family": "sans-serif",
    "font.size": 9.0,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.frameon": False,
}
_numbers: Iterator[int] = itertools.count(1)


def style(index: int) -> dict[str, Any]:
    """Colour, marker and line of series number INDEX: told apart without colours too."""
    return {
        "color": SERIES[index % len(SERIES)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": STYLES[index // len(SERIES) % len(STYLES)],
    }


def wrapped(name: str, width: int = 44) -> str:
    """A method's name on several lines, broken behind its commas and its colon."""
    pieces = re.sub(r"([,:])", r"\1 ", name)
    lines = textwrap.wrap(pieces, width, break_long_words=False, break_on_hyphens=False) or [name]
    return "\n".join(re.sub(r"([,:]) ", r"\1", line) for line in lines)


def figure(width: float, height: float, rows: int = 1, columns: int = 1, **more: Any) -> tuple[Any, Any]:
    """A figure of WIDTH by HEIGHT inches and its axes, two-dimensional."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise UserError("a page's figures need matplotlib, which is not there: pip install matplotlib") from None
    mpl.rcParams.update(SETTINGS)
    made = Figure(figsize=(width, height), layout="constrained")
    return made, made.subplots(rows, columns, squeeze=False, **more)


def plain_numbers(axis: Any, low: float = 0.0, high: float = 0.0) -> None:
    """Labels a logarithmic AXIS with plain numbers, 200 instead of 2 x 10^2. If LOW to HIGH spans more than two
    decades, only powers of ten get labels, so that they do not overlap.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator

    wide = low > 0 and high / low > 100
    axis.set_major_locator(LogLocator(subs=(1,) if wide else (1, 2, 5), numticks=8))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter("")


def text_of(made: Any) -> str:
    """MADE as an <svg> element for a page."""
    stream = io.StringIO()
    made.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    prefix = f"f{next(_numbers)}-"
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = re.sub(r'xlink:href="#', f'href="#{prefix}', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}", svg)
    svg = re.sub(r'\s+xmlns(:xlink)?="[^"]*"', "", svg)
    for colour, name in _NAMES.items():
        svg = svg.replace(colour, f"var(--{name})")
    return svg.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)
