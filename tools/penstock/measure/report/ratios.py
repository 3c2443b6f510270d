"""ratios.py: the record of a preset's run ("penstock.preset/1"): its ratios as a table, and remarks on it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from penstock.base import words
from penstock.measure import records
from penstock.measure.report.advice import failures
from penstock.measure.report.results import Record, record_of

OURS = "hdf5/two_phase"  # what a ratio is of unless it says otherwise


@dataclass(frozen=True)
class RatioRow:
    """Seconds of OURS over those of OTHER, or a growth that was counted; VALUE is None where it was skipped."""

    id: str
    name: str
    value: float | None
    low: float | None
    high: float | None
    target: float | None
    met: bool | None
    ours: str
    other: str
    medians: tuple[str, ...]  # medians of both; empty where it was skipped or counted
    skipped: str | None
    counted: bool  # not timed: the value is exact


@dataclass(frozen=True)
class Preset:
    name: str
    np: int
    repetitions: int
    stopped: bool
    verified: bool
    ratios: tuple[RatioRow, ...]
    cases: dict[str, Record]
    slow: tuple[str, ...]  # methods that were dropped or measured less often, and why
    costs: tuple[str, ...]  # what one write costs besides moving data
    remarks: tuple[str, ...]


def preset_of(content: dict[str, Any], path: Path) -> Preset:
    with records.taking_apart(path, records.PRESET):
        return _preset(content)


def headline(preset: Preset) -> str:
    repetitions = f"{preset.repetitions} repetition{'' if preset.repetitions == 1 else 's'}"
    limit = " until the time limit" if preset.stopped else ""
    return f"{preset.name}: seconds of ours over seconds of the other, on {preset.np} ranks; {repetitions}{limit}"


def table(preset: Preset) -> Table:
    """One row for each ratio; a missed target is red, a skipped ratio dim."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    made.add_column("", no_wrap=True)
    made.add_column("ratio", no_wrap=True)
    for name in ("value", "95 % interval", "target"):
        made.add_column(name, justify="right", no_wrap=True)
    made.add_column("", no_wrap=True)
    made.add_column("medians", justify="right", no_wrap=True)
    made.add_column("the other (ours, where not hdf5/two_phase)", no_wrap=True)
    for row in preset.ratios:
        made.add_row(*(Text(cell) for cell in _cells(row)), style=_style(row))
    return made


def remarks(preset: Preset) -> list[str]:
    skipped = [f"{row.id} was skipped: {row.skipped}." for row in preset.ratios if row.skipped is not None]
    for name, record in preset.cases.items():
        for operation, spread in record.smallest_claimable.items():
            share = words.digits(100 * spread)
            skipped.append(f"The same method run twice (A/A, {name}) differs by up to {share} % ({operation}).")
    return [*skipped, *(f"{text}." for text in preset.slow), *preset.costs, *preset.remarks]


def troubles(preset: Preset) -> list[str]:
    """One sentence for each method that failed or whose file was wrong."""
    return [f"{name}: {sentence}" for name, record in preset.cases.items() for sentence in failures(record)]


def _cells(row: RatioRow) -> list[str]:
    target = "" if row.target is None else f"<= {words.digits(row.target)}"
    if row.value is None:
        return [row.id, row.name, "skipped", "", target, "", "", ""]
    verdict = {None: "", True: "met", False: "MISSED"}[row.met]
    medians = " / ".join(row.medians)
    interval = "exact" if row.counted else words.interval(row.low, row.high)
    other = row.other if row.ours == OURS else f"{row.other} ({row.ours})"
    return [row.id, row.name, words.digits(row.value), interval, target, verdict, medians, other]


def _style(row: RatioRow) -> str:
    if row.value is None:
        return "dim"
    return {None: "", True: "green", False: "red"}[row.met]


def _preset(content: dict[str, Any]) -> Preset:
    cases = {str(case["case"]): record_of(case) for case in content["cases"]}
    lines = [(str(case["case"]), line) for case in content["cases"] for line in case["results"]]
    slow = [f"{name}: {line['method']}: dropped, it {line['dropped']}" for name, line in lines if line.get("dropped")]
    slow += [f"{name}: {line['method']}: in fewer runs, it {line['slow']}" for name, line in lines if line.get("slow")]
    return Preset(
        name=str(content["preset"]),
        np=int(content["np"]),
        repetitions=int(content["repetitions"]),
        stopped=content.get("stopped") is not None,
        verified=bool(content["verified"]),
        ratios=tuple(_row(ratio) for ratio in content["ratios"]),
        cases=cases,
        slow=tuple(dict.fromkeys(slow)),
        costs=tuple(
            f"{name}: {text}" for name, record in cases.items() for text in (*record.costs(), *record.errors())
        ),
        remarks=tuple(str(text) for text in content.get("remarks", [])),
    )


def _median(side: dict[str, Any]) -> str:
    if "median_bytes" in side:
        return words.size(float(side["median_bytes"]))
    return words.seconds(float(side["median_seconds"]))


def _row(ratio: dict[str, Any]) -> RatioRow:
    def number(name: str) -> float | None:
        return None if ratio.get(name) is None else float(ratio[name])

    return RatioRow(
        id=str(ratio["id"]),
        name=str(ratio["name"]),
        value=number("value"),
        low=number("low"),
        high=number("high"),
        target=number("target"),
        met=ratio["met"],
        ours=str(ratio.get("ours", "")),
        other=str(ratio.get("other", "")),
        medians=tuple(_median(side) for side in ratio.get("sides", [])),
        skipped=None if ratio.get("skipped") is None else str(ratio["skipped"]),
        counted=bool(ratio.get("counted", False)),
    )
