"""across.py: the figures over several cases: scaling, a study's own, and other programs beside ours."""

from collections.abc import Sequence
from typing import Any

from penstock.base import words
from penstock.base.pages import svg
from penstock.base.pages.frame import WIDE, Plot
from penstock.measure.report.page.model import CaseView, Source
from penstock.measure.studies import stats


def scaling(cases: Sequence[CaseView], identity: str) -> Plot | None:
    """Rates and efficiency against ranks, of one case on several numbers of them."""
    ranks = [case.np for case in cases]
    operations = [one for one in cases[0].operations() if any(case.usable(one) for case in cases)]
    if len(set(ranks)) < 2 or not operations:
        return None
    sizes = [int(case.workload.get("total_bytes") or 0) for case in cases]
    kind, weak = _kind(sizes, ranks)
    made, axes = svg.figure(WIDE, 3.1 * len(operations) + 0.6, len(operations), 2)
    rows = []
    handles: dict[str, Any] = {}
    methods = list(dict.fromkeys(line.method for case in cases for line in case.of_all()))
    for (left, right), operation in zip(axes, operations, strict=True):
        for index, method in enumerate(methods):
            found = [
                (case, line) for case in cases if (line := case.line(method, operation)) is not None and line.usable
            ]
            if len(found) < 2:
                continue
            points = [(case.np, line.median, stats.median(line.rates)) for case, line in found]
            first_np, first_time, first_rate = points[0]
            efficiency = [
                rate / np / (first_rate / first_np)
                if first_rate
                else first_time / time * (1 if weak else first_np / np)
                for np, time, rate in points
            ]
            y = [rate or time for _, time, rate in points]
            (handles[method],) = left.plot([np for np, _, _ in points], y, markersize=5, **svg.style(index))
            right.plot([np for np, _, _ in points], efficiency, markersize=5, **svg.style(index))
            rows += [
                (operation, method, str(np), words.seconds(time), f"{rate:.0f}" if rate else "-", f"{one:.2f}")
                for (np, time, rate), one in zip(points, efficiency, strict=True)
            ]
        left.set(title=f"{operation}: rate", xlabel="ranks", ylabel="MiB/s")
        right.set(title=f"{operation}: efficiency against {min(ranks)} ranks", xlabel="ranks")
        right.axhline(1, color=svg.MUTED, linewidth=0.8)
        right.set_ylim(bottom=0)
        left.set_ylim(bottom=0)
        for plot in (left, right):
            plot.set_xscale("log", base=2)
            plot.set_xticks(sorted(set(ranks)), [str(np) for np in sorted(set(ranks))])
            plot.minorticks_off()
    if not rows:
        return None
    made.legend(
        list(handles.values()),
        [svg.wrapped(name, 60) for name in handles],
        loc="outside lower left",
        ncols=2,
        fontsize=7.5,
    )
    summary = "; ".join(f"{row[0]}, {row[1]}: {row[5]} on {row[2]}" for row in rows if row[2] != str(min(ranks)))
    text = f"Scaling ({kind}): rates and efficiency against {min(ranks)} ranks. Efficiency: {summary}."
    heads = ("operation", "method", "ranks", "median", "MiB/s", "efficiency")
    return Plot(identity, f"Scaling, {kind}", svg.text_of(made), text, heads, rows)


def _kind(sizes: Sequence[int], ranks: Sequence[int]) -> tuple[str, bool]:
    """What was held while the ranks grew; and whether efficiency compares times, not times by ranks."""
    of_each = [size / np for size, np in zip(sizes, ranks, strict=True)]
    if max(of_each, default=0) <= 1.25 * min(of_each, default=0):
        return "weak: as many bytes for each rank", True
    if max(sizes) <= 1.25 * min(sizes):
        return "strong: as many bytes in all", False
    return "neither weak nor strong: bytes in all and for each rank change", False


def study(data: dict[str, Any], identity: str) -> Plot | None:
    """A figure of a study, with the axes that it has there."""
    series = data["series"]
    if not series:
        return None
    category = data["x"]["scale"] == "category"
    made, ((plot,),) = svg.figure(WIDE, 3.6 + 0.16 * len(series))
    places = list(dict.fromkeys(point["x"] for one in series for point in one["points"]))
    rows = []
    for index, one in enumerate(series):
        look = svg.style(index)
        x = _apart(one["points"], places, data["x"]["scale"], (index + 0.5) / len(series) - 0.5)
        y = [point["y"] for point in one["points"]]
        if category:
            look["linestyle"] = ""
        for at, point in zip(x, one["points"], strict=True):
            plot.plot(
                [at] * len(point["values"]),
                point["values"],
                linestyle="",
                marker=".",
                color=look["color"],
                alpha=0.5,
                markersize=3,
            )
            if point["low"] is not None:
                plot.plot([at, at], [point["low"], point["high"]], color=look["color"], linewidth=1.4)
            spread = words.interval(point["low"], point["high"]) if len(point["values"]) > 1 else "published"
            rows.append((one["label"], str(point["x"]), words.digits(point["y"]), spread))
        plot.plot(x, y, markersize=5.5, label=svg.wrapped(one["label"], 60), **look)
    plot.set(xlabel=data["x"]["label"], ylabel=data["y"]["label"])
    if category:
        plot.set_xticks(range(len(places)), [svg.wrapped(str(place), 22) for place in places])
    elif data["x"]["scale"] == "log":
        plot.set_xscale("log", base=2)
        plot.set_xticks(places, [f"{place:g}" for place in places])
        plot.minorticks_off()
    if data["y"]["scale"] == "log":
        plot.set_yscale("log")
        svg.plain_numbers(plot.yaxis)
    else:
        plot.set_ylim(bottom=0)
    made.legend(loc="outside lower left", ncols=2, fontsize=7.5)
    summary = "; ".join(f"{label}: {y} at {x}" for label, x, y, _ in rows)
    text = f"{data['title']}: {data['y']['label']} against {data['x']['label']}. {summary}."
    heads = ("series", data["x"]["label"], data["y"]["label"], "95 % interval")
    return Plot(identity, data["title"], svg.text_of(made), text, heads, rows)


def _apart(points: Sequence[dict[str, Any]], places: list[Any], scale: str, shift: float) -> list[float]:
    """Where POINTS are drawn: beside each other, so that intervals of several series at one x can be told apart."""
    if scale == "category":
        return [places.index(point["x"]) + 0.7 * shift for point in points]
    if scale == "log":
        return [point["x"] * 2 ** (0.1 * shift) for point in points]
    return [point["x"] + 0.03 * shift * (max(places) - min(places)) for point in points]


def peers(sources: Sequence[Source], identity: str) -> Plot | None:
    """Rates that other programs measured, beside ours on the same number of ranks."""
    cases = [case for source in sources for case in source.cases]
    ranks = {case.np for case in cases if case.imported}
    lines = [
        (f"{line.method}, {case.np} ranks", line, bool(case.imported))
        for case in cases
        for line in case.of_all()
        if (case.imported or case.np in ranks) and line.usable and line.rates
    ]
    operations = list(dict.fromkeys(line.operation for _, line, imported in lines if imported))
    if not operations:
        return None
    labels = list(dict.fromkeys(label for label, line, _ in lines if line.operation in operations))
    height = 0.9 + sum(0.18 + 0.15 * (1 + svg.wrapped(label).count("\n")) for label in labels)
    made, axes = svg.figure(WIDE, height, 1, len(operations), sharey=True)
    rows = []
    for plot, operation in zip(axes[0], operations, strict=True):
        for label, line, imported in lines:
            if line.operation != operation:
                continue
            row, found = labels.index(label), stats.interval(line.rates)
            colour = svg.SERIES[1 if imported else 0]
            plot.plot(
                line.rates, [row] * len(line.rates), linestyle="", marker="o", markersize=3, color=colour, alpha=0.6
            )
            plot.plot([found.median], [row], marker="|", markersize=13, markeredgewidth=2.2, color=colour)
            spread = words.interval(found.low, found.high)
            verified = "no, imported" if imported else "yes"
            rows.append((operation, label, f"{found.median:.0f}", spread, verified, words.size(line.bytes)))
        plot.set(title=operation, xlabel="MiB/s")
        plot.set_xlim(left=0)
        plot.grid(visible=False, axis="y")
    axes[0][0].set_yticks(range(len(labels)), [svg.wrapped(label) for label in labels])
    axes[0][0].set_ylim(len(labels) - 0.5, -0.5)
    summary = "; ".join(f"{row[0]}, {row[1]}: {row[2]}" for row in rows)
    text = f"Median MiB/s of other programs, imported and not verified by us, beside ours on as many ranks: {summary}."
    return Plot(
        identity,
        "Beside other programs",
        svg.text_of(made),
        text,
        ("operation", "method", "MiB/s", "95 % interval", "verified", "size"),
        rows,
    )
