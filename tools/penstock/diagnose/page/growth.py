"""growth.py: pictures of a scalability model: operations against ranks, times against nodes."""

from typing import Any

from penstock.base.pages import svg
from penstock.base.pages.frame import WIDE, Plot
from penstock.diagnose.model import AHEAD, TIMES, Model

MOST = 8  # operations drawn


def all_plots(model: Model) -> list[Plot]:
    return [one for one in (operations(model), times(model)) if one is not None]


def operations(model: Model) -> Plot | None:
    if not model.laws:
        return None
    measured = [scale.variables["ranks"] for scale in model.scales]
    ahead = [model.ahead(factor) for factor in AHEAD]
    made, axes = svg.figure(WIDE, 3.2)
    plot = axes[0][0]
    names = sorted(model.laws, key=lambda name: -model.scales[-1].counts.get(name, 0))[:MOST]
    for index, name in enumerate(names):
        seen = [scale.counts.get(name, 0) for scale in model.scales]
        line = [round(model.laws[name].at(variables)) for variables in ahead]
        look = svg.style(index)
        plot.plot(measured, seen, label=name, **look)
        plot.plot(
            [measured[-1], *(v["ranks"] for v in ahead)], [seen[-1], *line], color=look["color"], linestyle=":",
            marker=look["marker"], markerfacecolor="none", linewidth=1,
        )  # fmt: skip
    _scales(plot, [*measured, *(one["ranks"] for one in ahead)], "operations")
    rows = [
        (name, model.laws[name].text(model.factors), *(f"{s.counts.get(name, 0):,}" for s in model.scales),
         *(f"{round(model.laws[name].at(v)):,}" for v in ahead))
        for name in model.laws
    ]  # fmt: skip
    heads = ("operation", "law", *(f"{n} ranks" for n in measured), *(f"{v['ranks']} ranks, predicted" for v in ahead))
    text = "How operations grow: " + "; ".join(f"{row[0]} = {row[1]}" for row in rows) + "."
    return Plot("operations", "Operations against ranks; dotted: predicted", svg.text_of(made), text, heads, rows)


def times(model: Model) -> Plot:
    """Against nodes where each run's are known and tell them apart, as LRZ draws them; else against ranks."""
    nodes = {scale.variables.get("nodes") for scale in model.scales}
    tell = None not in nodes and len(nodes) == len({scale.variables["ranks"] for scale in model.scales})
    by = "nodes" if tell else "ranks"
    measured = [scale.variables[by] for scale in model.scales]
    last = model.scales[-1].variables
    beyond = [factor * last[by] for factor in AHEAD]
    made, axes = svg.figure(WIDE, 3.2)
    plot = axes[0][0]
    ahead = [model.seconds_at(factor * last["ranks"]) for factor in AHEAD]
    for index, name in enumerate(TIMES):
        look = svg.style(index)
        seen = [scale.seconds[name] for scale in model.scales]
        if not any(seen):
            continue
        seen = [value or float("nan") for value in seen]
        plot.plot(measured, seen, label=name, **look)
        plot.plot(
            [measured[-1], *beyond], [seen[-1], *(one[name] for one in ahead)],
            color=look["color"], linestyle=":", marker=look["marker"], markerfacecolor="none", linewidth=1,
        )  # fmt: skip
    _scales(plot, [*measured, *beyond], "seconds of the mean rank", by)
    rows = [
        (name, *(f"{s.seconds[name]:.4g}" for s in model.scales), *(f"{one[name]:.4g}" for one in ahead))
        for name in TIMES
    ]
    heads = ("kind", *(f"{n} {by}" for n in measured), *(f"{n} {by}, predicted" for n in beyond))
    summary = "; ".join(
        f"{row[0]} {row[len(measured)]} s on {last[by]} {by}, {row[-1]} s on {beyond[-1]}" for row in rows
    )
    title = f"Times against {by}; dotted: predicted from {model.basis}"
    return Plot("times", title, svg.text_of(made), f"Seconds of the mean rank: {summary}.", heads, rows)


def _scales(axes: Any, places: list[int], label: str, by: str = "ranks") -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    svg.plain_numbers(axes.yaxis, low, high)
    axes.set_xticks(sorted(set(places)), [str(n) for n in sorted(set(places))])
    axes.minorticks_off()
    axes.set_xlabel(by)
    axes.set_ylabel(label)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
