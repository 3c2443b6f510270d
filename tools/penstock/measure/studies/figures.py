"""figures.py: the figures of a study, as data that a report draws."""

from collections.abc import Iterable, Sequence
from typing import Any

from penstock.measure.studies import stats
from penstock.measure.studies.pooled import Series

Figure = dict[str, Any]
Points = list[dict[str, Any]]


def figure(identity: str, title: str, x: dict[str, str], y: dict[str, str], series: dict[str, Points]) -> Figure:
    """Series without points are left out."""
    drawn = [{"label": label, "points": points} for label, points in series.items() if points]
    return {"id": identity, "title": title, "x": x, "y": y, "series": drawn}


def axis(label: str, scale: str = "linear") -> dict[str, str]:
    """SCALE is linear, log or category."""
    return {"label": label, "scale": scale}


def point(x: float | str, values: Sequence[float]) -> dict[str, Any]:
    found = stats.interval(values)
    return {"x": x, "y": found.median, "low": found.low, "high": found.high, "values": list(values)}


def rates(series: Iterable[tuple[float | str, Series | None]]) -> Points:
    """MiB/s against x; what was not measured leaves a gap."""
    return [point(x, one.rates) for x, one in series if one is not None and one.rates]


def times(series: Iterable[tuple[float | str, Series | None]]) -> Points:
    """Seconds against x."""
    return [point(x, one.seconds) for x, one in series if one is not None]
