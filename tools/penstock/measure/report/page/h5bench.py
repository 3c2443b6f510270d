"""h5bench.py: what patterns of h5bench print, or keep as CSV, as cases beside ours; nobody here verified it."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from penstock.base import words
from penstock.base.errors import UserError
from penstock.measure.report.page.model import CaseView, Line, Source

UNITS = {"B": 0, "KB": 1, "MB": 2, "GB": 3, "TB": 4}  # each 1024 of the one before
BLOCK = "Performance Results"
NUMBER = r"([-+.\w]+)"
PRINTED = {
    "ranks": rf"Total number of ranks: {NUMBER}()",
    "total compute time": rf"Total emulated compute time: {NUMBER} (s)",
    "total size": rf"Total \w+ size: {NUMBER} +(\w*B)",
    "raw time": rf"Raw \w+ time: {NUMBER} (s)",
    "metadata time": rf"Metadata time: {NUMBER} (s)",
    "observed time": rf"Observed (?:\w+ )?completion time: {NUMBER} (s)",
    "observed rate": rf"Observed \w+ rate: {NUMBER} +(\w*B)/s",
}
OPERATION = re.compile(r"Total (\w+) size:")

Metrics = dict[str, tuple[str, str]]  # by name: value and unit, as the CSV has them


@dataclass(frozen=True)
class Run:
    method: str
    operation: str
    ranks: int
    bytes: int
    seconds: float
    raw_seconds: float
    metadata_seconds: float


def h5bench_source(path: Path) -> Source | None:
    """The CSV or the printed results of h5bench_write and its like, one run after another; None for anything else."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    found = _of_csv(text) or _of_text(text)
    try:
        runs = [_run(metrics) for metrics in found]
    except (KeyError, IndexError, ValueError, OverflowError, ZeroDivisionError) as error:
        raise UserError(f"{path}: not whole results of h5bench: {type(error).__name__} {error}") from None
    return _source(runs, path) if runs else None


def _of_csv(text: str) -> list[Metrics]:
    """The runs of a CSV, or of several that were put together."""
    runs: list[Metrics] = []
    if not re.match(r"metric *, *value *, *unit", text):
        return runs
    for row in csv.reader(text.splitlines()):
        cells = [cell.strip() for cell in row] + ["", ""]
        if cells[0] == "metric":
            runs.append({})
        elif cells[0]:
            runs[-1][cells[0]] = (cells[1], cells[2])
    return runs


def _of_text(text: str) -> list[Metrics]:
    runs = []
    for block in text.split(BLOCK)[1:]:
        found = {name: match.groups() for name, how in PRINTED.items() if (match := re.search(how, block))}
        metrics: Metrics = {name: (groups[0], groups[1]) for name, groups in found.items()}
        if (operation := OPERATION.search(block)) is not None:
            metrics["operation"] = (operation[1], "")
        runs.append(metrics)
    return runs


def _run(metrics: Metrics) -> Run:
    total = _bytes(metrics["total size"])
    rate = _bytes(metrics["observed rate"])  # has more digits than the time, and leaves out what is computed
    seconds = total / rate if rate > 0 else _number(metrics, "observed time") - _number(metrics, "total compute time")
    if not 0 < seconds < float("inf"):
        raise ValueError(f"{seconds} seconds")
    collective = {"YES": " collective", "NO": " independent"}.get(metrics.get("collective data", ("", ""))[0], "")
    return Run(
        method=f"h5bench{collective}",
        operation=metrics["operation"][0],
        ranks=int(metrics["ranks"][0]),
        bytes=round(total),
        seconds=seconds,
        raw_seconds=_number(metrics, "raw time"),
        metadata_seconds=_number(metrics, "metadata time"),
    )


def _number(metrics: Metrics, name: str) -> float:
    return float(metrics[name][0])


def _bytes(cell: tuple[str, str]) -> float:
    return float(cell[0]) * 1024.0 ** UNITS[cell[1].removesuffix("/s")]


def _source(runs: list[Run], path: Path) -> Source:
    """Runs of the same method, operation and size are repetitions."""
    cases: dict[tuple[int, int], CaseView] = {}
    for run in runs:
        sizes = len({one.bytes for one in runs if one.ranks == run.ranks})
        name = "h5bench" if sizes == 1 else f"h5bench, {words.size(run.bytes)}"
        workload = {"name": "h5bench", "total_bytes": run.bytes}
        made = CaseView(name, run.ranks, run.ranks, "", workload, "", None, {}, imported="h5bench")
        case = cases.setdefault((run.ranks, run.bytes), made)
        phases = {run.operation: [run.raw_seconds], "define": [run.metadata_seconds]}
        line = Line(
            run.method,
            run.operation,
            False,
            run.bytes,
            [run.seconds],
            [],
            phases,
            {},
            {},
            [],
            run.method,
            True,
            None,
            {},
        )
        before = case.line(run.method, run.operation)
        if before is None:
            case.lines.append(line)
        else:
            before.add(line)
    counts = [len(line.seconds) for case in cases.values() for line in case.lines]
    return Source(path, f"h5bench, {path.name}", list(cases.values()), [{}], [], repetitions=min(counts))
