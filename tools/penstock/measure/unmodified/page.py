"""page.py: reports of unchanged programs as a page: the sentences that matter, a block for each file, calls drawn."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock.base import words
from penstock.base.pages import svg
from penstock.base.pages.frame import WIDE, Plot, render
from penstock.base.printable import printable
from penstock.measure.unmodified import compare, text
from penstock.measure.unmodified.report import File, Report


def page(reports: Sequence[Report], notes: Sequence[str], comparison: compare.Comparison | None) -> str:
    """NOTES are what else there is to say."""
    program = next((one.program.split()[0] for one in reports if one.program.split()), "a program")
    name = printable(Path(program).name)
    return render(
        "penstock.measure.unmodified",
        "page.html",
        {},
        program="penstock run",
        title=f"What became of the MPI-IO of {name}",
        jobs=[_job(number, one) for number, one in enumerate(reports)],
        notes=[printable(one) for one in notes],
        verdict=[] if comparison is None else [one.strip() for one in compare.verdict(comparison)],
        plots=[] if comparison is None or not comparison.seconds(True) else [_runs(comparison)],
        measure=comparison is None,
    )


def _job(number: int, report: Report) -> dict[str, Any]:
    shown = text.shown_files(report)
    drawn = [one for one in shown if one.count or one.storage.calls]
    return {
        "headline": printable(text.headline(report)),
        "about": printable(text.about(report)),
        "errors": [printable(one) for one in report.errors],
        "warnings": [printable(one) for one in report.warnings],
        "passed": [printable(one) for one in text.passed(report.passed)],
        "files": [
            (
                printable(text.shown_path(one.path)),
                printable(text.how(one)),
                [(label, printable(said)) for label, said in text.block(one)],
            )
            for one in shown
        ],
        "hidden": len(report.files) - len(shown),
        "plots": [_calls(number, drawn)] if drawn else [],
    }


def _calls(number: int, files: Sequence[File]) -> Plot:
    """Calls of the program beside ours of the file system, for each file."""
    made, axes = svg.figure(WIDE, 0.9 + 0.55 * len(files))
    plot = axes[0, 0]
    names = [printable(Path(one.path).name) for one in files]
    parts = (
        ("calls of the program, all ranks", [one.count for one in files], -0.2, svg.SERIES[1]),
        ("calls of the file system", [one.storage.calls for one in files], 0.2, svg.SERIES[0]),
    )
    for label, counts, shift, colour in parts:
        places = [at + shift for at in range(len(files))]
        plot.barh(places, counts, height=0.36, color=colour, label=label)
        for place, count in zip(places, counts, strict=True):
            plot.annotate(f"{count:,}", (max(count, 1), place), (4, 0), textcoords="offset points", va="center")
    most = max(max(counts) for _, counts, _, _ in parts)
    plot.set_yticks(range(len(files)), names)
    plot.invert_yaxis()
    plot.set_xscale("log")
    plot.set_xlim(0.8, 4 * max(most, 1))
    svg.plain_numbers(plot.xaxis, 1, 4 * max(most, 1))
    plot.grid(axis="y", visible=False)
    made.legend(loc="outside lower left", ncols=2)
    rows = [
        (name, f"{one.count:,}", words.size(one.written + one.read), f"{one.storage.calls:,}",
         words.size(one.storage.write_bytes + one.storage.read_bytes))
        for name, one in zip(names, files, strict=True)
    ]  # fmt: skip
    told = "; ".join(f"{name}: {before} calls became {after}" for name, before, _, after, _ in rows)
    heads = ("file", "calls of the program", "bytes", "calls of the file system", "bytes")
    return Plot(f"calls-{number}", "Calls, before and after", svg.text_of(made), told, heads, rows)


def _runs(found: compare.Comparison) -> Plot:
    made, axes = svg.figure(WIDE, 2.8)
    plot = axes[0, 0]
    for index, with_us in enumerate((True, False)):
        seconds = found.seconds(with_us)
        label = "with penstock" if with_us else "without"
        plot.plot(range(1, len(seconds) + 1), seconds, label=label, markersize=6, **svg.style(index))
    plot.set(xlabel="pair", ylabel="s", ylim=(0, None))
    plot.set_xticks(range(1, len(found.seconds(True)) + 1))
    made.legend(loc="outside lower left", ncols=2)
    rows = [
        (str(one.pair + 1), "with" if one.with_us else "without", words.seconds(one.seconds), str(one.status))
        for one in found.runs
    ]
    told = "; ".join(f"pair {pair} {which}: {took}" for pair, which, took, _ in rows)
    return Plot("runs", "Wall time of each run", svg.text_of(made), told, ("pair", "penstock", "took", "status"), rows)
