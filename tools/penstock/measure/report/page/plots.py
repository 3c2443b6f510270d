"""plots.py: the figures of one case, each with a text that says what it shows and the table behind it."""

import math
from collections.abc import Sequence
from typing import Any

from penstock.base import words
from penstock.base.pages import svg
from penstock.base.pages.frame import WIDE, Plot
from penstock.measure.report.page.model import CaseView, Line
from penstock.measure.report.page.tidy import PHASES
from penstock.measure.studies import stats

HATCHES = ("", "///", "", "...", "", "\\\\\\", "xxx")  # of phases, for eyes and printers without colours
CELLS = 4096  # of a heat map at most, over all methods
LABEL = {"facecolor": svg.PAPER, "edgecolor": "none", "pad": 0.6}  # in front of lines


def repetitions(case: CaseView, identity: str) -> Plot | None:
    """Every repetition of every method, its median and interval, and the band of the A/A pair around the baseline."""
    operations = [one for one in case.operations() if any(line.seconds for line in case.of(one))]
    if not operations:
        return None
    methods = [name for name in dict.fromkeys(line.method for line in case.of_all()) if _measured(case, name)]
    labels = [svg.wrapped(name) for name in methods]
    height = 0.8 + sum(0.16 + 0.15 * (1 + label.count("\n")) for label in labels)
    made, axes = svg.figure(WIDE, height, 1, len(operations), sharey=True)
    for plot, operation in zip(axes[0], operations, strict=True):
        _draw_repetitions(plot, case, operation, methods)
    axes[0][0].set_yticks(range(len(methods)), labels)
    axes[0][0].set_ylim(len(methods) - 0.5, -0.5)
    rows = [_row(case, line) for operation in operations for line in case.of(operation, control=True) if line.seconds]
    count = max(len(line.seconds) for line in case.lines)
    summary = "; ".join(f"{row[0]}, {row[1]}: {row[2]} ({row[3]})" for row in rows)
    text = f"Times of {count} repetitions on {case.np} ranks, as points; medians (95 % intervals): {summary}."
    heads = ("operation", "method", "median", "95 % interval", "best seen", f"time ÷ {case.baseline}", "repetitions")
    twice = any(case.smallest(operation) > 0 for operation in operations)
    key = f"; dotted: {case.baseline}" + (", shaded: as much as it differs from itself" if twice else "")
    title = f"Every repetition, {case.np} ranks{key if case.baseline in methods else ''}"
    return Plot(identity, title, svg.text_of(made), text, heads, rows)


def _draw_repetitions(plot: Any, case: CaseView, operation: str, methods: list[str]) -> None:
    lines = [(row, line) for row, method in enumerate(methods) if (line := case.line(method, operation)) is not None]
    values = [seconds for _, line in lines for seconds in line.seconds]
    unit, name = _unit(values)
    for row, line in lines:
        if line.seconds:
            _draw_row(plot, row, [seconds / unit for seconds in line.seconds])
    low, high = min(values, default=0.0) / unit, max(values, default=1.0) / unit
    logarithmic = low > 0 and high / low > 8
    base, smallest = case.line(case.baseline, operation), case.smallest(operation)
    if base is not None and base.seconds:
        middle = base.median / unit
        plot.axvline(middle, color=svg.MUTED, linewidth=0.9, linestyle=":")
        if smallest > 0:
            least = low / 2 if logarithmic else 0.0
            band = (max(least, middle * (1 - smallest)), middle * (1 + smallest))
            plot.axvspan(*band, color=svg.BAND, linewidth=0)
    if logarithmic:
        plot.set_xscale("log")
        svg.plain_numbers(plot.xaxis, low, high)
        plot.set_xlim(low / 1.15, high * 1.15)  # a band beyond the points is cut off
    else:
        plot.set_xlim(0, high * 1.05 or 1)
        plot.locator_params(axis="x", nbins=5)
    plot.set(title=operation, xlabel=name)
    plot.grid(visible=False, axis="y")


def _draw_row(plot: Any, row: int, values: Sequence[float]) -> None:
    colour = svg.SERIES[row % len(svg.SERIES)]
    # Apart, and the same each time.
    spread = [row + 0.24 * math.sin(2.4 * index) for index in range(len(values))]
    plot.plot(values, spread, linestyle="", marker="o", markersize=3, color=colour, alpha=0.55, markeredgewidth=0)
    found = stats.interval(values)
    if found.low is not None and found.high is not None:
        plot.plot([found.low, found.high], [row, row], color=colour, linewidth=2, solid_capstyle="butt")
    plot.plot([found.median], [row], marker="|", markersize=13, markeredgewidth=2.2, color=colour)


def _unit(values: Sequence[float]) -> tuple[float, str]:
    """Returns the unit of time that suits an axis up to the largest of VALUES: its length in seconds and its name."""
    largest = max(values, default=1.0)
    return next(
        (one for one in ((1.0, "seconds"), (1e-3, "milliseconds")) if largest >= one[0]), (1e-6, "microseconds")
    )


def _measured(case: CaseView, method: str) -> bool:
    return any(line.method == method and line.seconds for line in case.of_all())


def _row(case: CaseView, line: Line) -> tuple[str, ...]:
    found = stats.interval(line.seconds)
    ratio = case.ratio(line)
    compared = "1" if ratio is None else f"{words.digits(ratio.median)} ({words.interval(ratio.low, ratio.high)})"
    return (
        line.operation,
        line.method,
        words.seconds(found.median),
        words.seconds_interval(found.median, found.low, found.high),
        words.seconds(min(line.seconds)),
        compared,
        str(len(line.seconds)),
    )


def phases(case: CaseView, identity: str) -> Plot | None:
    """Where the time of a median repetition goes."""
    operations = [one for one in case.operations() if any(any(line.phases.values()) for line in case.usable(one))]
    if not operations:
        return None
    methods = list(dict.fromkeys(line.method for line in case.of_all() if line.usable and line.phases))
    labels = [svg.wrapped(name) for name in methods]
    height = 1.1 + sum(0.14 + 0.15 * (1 + label.count("\n")) for label in labels)
    made, axes = svg.figure(WIDE, height, 1, len(operations), sharey=True)
    rows, summaries = [], []
    drawn: dict[str, Any] = {}
    for plot, operation in zip(axes[0], operations, strict=True):
        measured = [(row, case.line(method, operation)) for row, method in enumerate(methods)]
        sums = [sum(_phases(line).values()) for _, line in measured if line is not None and line.usable]
        unit, label = _unit(sums)
        for row, method in enumerate(methods):
            line = case.line(method, operation)
            if line is None or not line.usable:
                continue
            left, parts = 0.0, _phases(line)
            for index, (name, seconds) in enumerate(parts.items()):
                if seconds <= 0:
                    continue
                look = {"color": svg.SERIES[index], "edgecolor": svg.PAPER, "hatch": HATCHES[index]}
                bar = plot.barh(row, seconds / unit, left=left / unit, height=0.62, linewidth=0.8, **look)
                drawn.setdefault(name, bar)
                left += seconds
            longest = max(parts, key=lambda name: parts[name])
            summaries.append(
                f"{operation}, {method}: {words.seconds(left)}, of which {longest} {words.seconds(parts[longest])}"
            )
            rows.append(
                (operation, method, *(words.seconds(seconds) if seconds else "-" for seconds in parts.values()))
            )
        plot.set(title=operation, xlabel=label)
        plot.locator_params(axis="x", nbins=5)
        plot.grid(visible=False, axis="y")
    axes[0][0].set_yticks(range(len(methods)), labels)
    axes[0][0].set_ylim(len(methods) - 0.5, -0.5)
    ordered = [name for name in PHASES if name in drawn]
    made.legend([drawn[name] for name in ordered], ordered, loc="outside upper center", ncols=len(ordered))
    text = f"Medians of the phases on {case.np} ranks, laid end to end: {'; '.join(summaries)}."
    return Plot(
        identity,
        f"Phases, {case.np} ranks; medians, each of its slowest rank",
        svg.text_of(made),
        text,
        ("operation", "method", *PHASES),
        rows,
    )


def _phases(line: Line) -> dict[str, float]:
    return {name: stats.median(line.phases.get(name, [])) for name in PHASES}


def heat_map(case: CaseView, operation: str, identity: str) -> Plot | None:
    """Seconds of each rank in each repetition, in the order of time."""
    lines = [line for line in case.of(operation) if line.usable and line.rank_seconds]
    cells = sum(len(one) for line in lines for one in line.rank_seconds)
    if not lines or max(len(line.rank_seconds[0]) for line in lines) < 2:
        return None
    columns = min(3, len(lines))
    count = -(-len(lines) // columns)
    made, axes = svg.figure(WIDE, 0.7 + 1.5 * count, count, columns)
    top = max(max(one) for line in lines for one in line.rank_seconds)
    unit, name = _unit([top])
    rows = []
    mesh = None
    for index, plot in enumerate(axes.flat):
        if index >= len(lines):
            plot.set_axis_off()
            continue
        line = lines[index]
        grid = [[seconds / unit for seconds in ranks] for ranks in zip(*line.rank_seconds, strict=False)]
        mesh = plot.pcolormesh(grid, cmap="viridis", vmin=0, vmax=top / unit, rasterized=cells > CELLS)
        plot.set_title(svg.wrapped(line.method, 34), fontsize=7.5)
        plot.grid(visible=False)
        _whole_ticks(plot, len(grid[0]), len(grid))
        slowest = [max(range(len(one)), key=one.__getitem__) for one in line.rank_seconds]
        most = max(set(slowest), key=slowest.count)
        spread = stats.median([max(one) / min(one) for one in line.rank_seconds if min(one) > 0])
        rows.append((line.method, words.digits(spread), f"rank {most}, in {slowest.count(most)} of {len(slowest)}"))
    bar = made.colorbar(mesh, ax=axes, location="right", shrink=0.9, pad=0.01)
    bar.set_label(name)
    bar.outline.set_visible(False)
    made.supxlabel("repetition, in the order of time", fontsize=9)
    made.supylabel("rank", fontsize=9)
    summary = "; ".join(f"{row[0]}: the slowest took {row[1]} times as long, most often {row[2]}" for row in rows)
    text = f"Seconds of each rank in each repetition of the {operation}, {case.np} ranks; dark is short. {summary}."
    heads = ("method", "slowest ÷ fastest rank, median", "most often the slowest")
    return Plot(identity, f"Ranks by repetitions: {operation}, {case.np} ranks", svg.text_of(made), text, heads, rows)


def _whole_ticks(plot: Any, across: int, up: int) -> None:
    for count, place in ((across, plot.set_xticks), (up, plot.set_yticks)):
        step = max(1, count // 4)
        numbers = range(0, count, step)
        first = 1 if place == plot.set_xticks else 0
        place([number + 0.5 for number in numbers], [str(number + first) for number in numbers], fontsize=7)


def ceiling(case: CaseView, identity: str) -> Plot | None:
    """Rates beside what the device gives to plain system calls."""
    lines = [line for operation in case.operations() for line in case.usable(operation) if line.rates]
    lines = [line for line in lines if line.operation in case.ceiling]
    if not lines:
        return None
    operations = list(dict.fromkeys(line.operation for line in lines))
    methods = list(dict.fromkeys(line.method for line in lines))
    labels = [svg.wrapped(name) for name in methods]
    height = 0.9 + sum(0.14 + 0.15 * (1 + label.count("\n")) for label in labels)
    made, axes = svg.figure(WIDE, height, 1, len(operations), sharey=True)
    rows = []
    for plot, operation in zip(axes[0], operations, strict=True):
        limit = case.ceiling[operation]
        for row, method in enumerate(methods):
            line = case.line(method, operation)
            if line is None or not line.usable:
                continue
            rate = stats.interval(line.rates).median
            cached = rate > limit or case.regime == "cached"
            plot.barh(
                row,
                rate,
                height=0.6,
                color=svg.SERIES[row % len(svg.SERIES)],
                hatch="//" if cached else None,
                edgecolor=svg.PAPER,
            )
            plot.text(
                rate, row, f" {rate / limit:.0%}{' cached' if cached else ''}", va="center", fontsize=8, bbox=LABEL
            )
            rows.append(
                (
                    operation,
                    method,
                    f"{rate:.0f}",
                    f"{limit:.0f}",
                    f"{rate / limit:.0%}",
                    "cached" if cached else "device",
                )
            )
        plot.axvline(limit, color=svg.INK, linewidth=1.2, linestyle="--")
        plot.set(title=f"{operation}; dashed: the device", xlabel="MiB/s")
        plot.margins(x=0.22)
        plot.set_xlim(left=0)
        plot.grid(visible=False, axis="y")
    axes[0][0].set_yticks(range(len(methods)), labels)
    axes[0][0].set_ylim(len(methods) - 0.5, -0.5)
    summary = "; ".join(f"{row[0]}, {row[1]}: {row[4]}{' (cached)' if row[5] == 'cached' else ''}" for row in rows)
    text = f"Median rates as fractions of the device's ceiling, {case.np} ranks: {summary}."
    heads = ("operation", "method", "MiB/s", "device, MiB/s", "fraction", "label")
    return Plot(identity, f"Fraction of the device's ceiling, {case.np} ranks", svg.text_of(made), text, heads, rows)
