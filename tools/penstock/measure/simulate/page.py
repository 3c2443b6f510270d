"""page.py: a simulation as a page: what to use, and time and rate against ranks."""

from collections.abc import Sequence
from typing import Any

from penstock.base import words
from penstock.base.pages import svg
from penstock.base.pages.frame import WIDE, Plot, render
from penstock.measure.simulate.run import Simulated, advice, assumed, headline, results

MIB = 2**20


def page(record: dict[str, Any], machine: dict[str, Any]) -> str:
    """The page of RECORD, which was simulated on MACHINE."""
    return render(
        "penstock.measure.simulate",
        "page.html",
        {},
        program="penstock simulate",
        title=f"{record['workload']} on {record['machine']}",
        lead=headline(record),
        advice=advice(record),
        assumed=assumed(machine),
        plots=[_against_ranks(results(record), record["operation"])],
    )


def _against_ranks(found: Sequence[Simulated], operation: str) -> Plot:
    ranks = sorted({one.ranks for one in found})
    made, axes = svg.figure(WIDE, 4.2, 1, 2)
    times, rates = axes[0]
    for index, method in enumerate(dict.fromkeys(one.method for one in found)):
        points = sorted((one.ranks, one.seconds, one.rate / MIB) for one in found if one.method == method)
        x, seconds, rate = zip(*points, strict=True)
        times.plot(x, seconds, markersize=5, label=svg.wrapped(method, 60), **svg.style(index))
        rates.plot(x, rate, markersize=5, **svg.style(index))
    times.set(title=f"{operation}: time", xlabel="ranks", ylabel="s")
    rates.set(title=f"{operation}: rate", xlabel="ranks", ylabel="MiB/s")
    for plot in (times, rates):
        plot.set_xscale("log", base=2)
        plot.set_yscale("log")
        plot.set_xticks(ranks, [f"{one:,}" for one in ranks], rotation=30 if len(ranks) > 3 else 0)
        plot.minorticks_off()
    svg.plain_numbers(times.yaxis, *_ends([one.seconds for one in found]))
    svg.plain_numbers(rates.yaxis, *_ends([one.rate for one in found]))
    made.legend(loc="outside lower left", ncols=2, fontsize=7.5)
    rows = [
        (f"{one.ranks:,}", one.method, words.seconds(one.seconds), f"{one.rate / MIB:,.3g}", one.limit) for one in found
    ]
    text = "; ".join(f"{method} on {number} ranks: {time}" for number, method, time, _, _ in rows)
    heads = ("ranks", "method", "time", "MiB/s", "limited by")
    return Plot("ranks", "Time and rate against ranks, simulated", svg.text_of(made), text, heads, rows)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)
