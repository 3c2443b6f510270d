"""build.py: one self-contained HTML page from what several records hold."""

import re
from collections.abc import Sequence
from typing import Any

from penstock.base import words
from penstock.base.pages.frame import Plot, render
from penstock.measure import records
from penstock.measure.report.campaign import left_behind
from penstock.measure.report.page import across, compare, plots, verdict
from penstock.measure.report.page.model import CaseView, Line, Source
from penstock.measure.report.stored import error_of, stored_of
from penstock.measure.studies import stats

PROVENANCE = (
    ("date", "measured"), ("hostname", "host"), ("nodes", "ranks by node"), ("cpu", "processor"), ("cores", "cores"),
    ("memory_available_bytes", "memory available"), ("kernel", "kernel"), ("file_system", "file system"),
    ("directory", "folder"), ("free_bytes", "free there"), ("mpi", "MPI library"), ("hdf5", "HDF5"),
    ("penstock", "penstock"), ("commit", "commit"), ("arguments", "command"),
)  # fmt: skip


def page(sources: Sequence[Source]) -> str:
    """The whole page. Sources of ours after the first are also compared with the first."""
    ours = [source for source in sources if not any(case.imported for case in source.cases)]
    beside = across.peers(sources, "peers") if len(ours) < len(sources) else None
    return render(
        "penstock.measure.report.page",
        "page.html",
        {"seconds": _unbroken, "ratio": _ratio},
        program="penstock bench",
        title=" and ".join(source.title for source in sources),
        sources=[_source(source, index) for index, source in enumerate(sources)],
        comparisons=[_comparison(ours[0], later) for later in ours[1:]],
        peers=beside,
    )


def _unbroken(seconds: float) -> str:
    return words.seconds(seconds).replace(" ", "\N{NO-BREAK SPACE}")


def _ratio(one: compare.Difference) -> str:
    return f"{words.digits(one.ratio.median)} ({words.interval(one.ratio.low, one.ratio.high)})"


def _source(source: Source, index: int) -> dict[str, Any]:
    with records.taking_apart(source.path, "report's"):
        return _parts(source, index)


def _parts(source: Source, index: int) -> dict[str, Any]:
    imported = next((case.imported for case in source.cases if case.imported), "")
    study = source.study or {}
    return {
        "id": f"source{index}",
        "title": source.title,
        "file": source.path.name,
        "imported": imported,
        "summary": _summary(source),
        "headline": [] if imported else verdict.headline(source),
        "rows": [] if imported else verdict.rows(source),
        "over_all": [] if imported else verdict.over_all(source),
        "load": verdict.under_load(source),
        "troubles": verdict.troubles(source),
        "unavailable": source.unavailable,
        "ratios": source.ratios,
        "study": {
            "source": study.get("source", ""),
            "cut": study.get("cut", []),
            "conclusions": study.get("conclusions", []),
            "plots": [
                plot
                for number, data in enumerate(study.get("figures", []))
                if (plot := across.study(data, f"s{index}-study{number}")) is not None
            ],
        },
        "cases": [_case(source, name, f"s{index}-c{number}") for number, name in enumerate(source.names())],
        "provenance": [_provenance(one) for one in _distinct(source.provenance) if one],
    }


def _summary(source: Source) -> str:
    ranks = sorted({case.np for case in source.cases})
    regimes = list(dict.fromkeys(case.regime for case in source.cases if case.regime))
    scale = (source.study or {}).get("scale")
    parts = [
        f"{len(source.names())} case{'' if len(source.names()) == 1 else 's'} on {', '.join(map(str, ranks))} ranks",
        f"{source.repetitions} repetition{'' if source.repetitions == 1 else 's'}",
        *regimes,
    ]
    return "; ".join([*parts, f"scaled by {scale:g}"] if scale is not None else parts)


def _case(source: Source, name: str, identity: str) -> dict[str, Any]:
    cases = [case for case in source.cases if case.name == name]
    found: list[Plot | None] = [across.scaling(cases, f"{identity}-scaling")]
    for case in cases:
        stem = f"{identity}-{case.np}"
        found.append(plots.repetitions(case, f"{stem}-repetitions"))
        found.append(plots.phases(case, f"{stem}-phases"))
        found += [plots.heat_map(case, operation, f"{stem}-ranks-{operation}") for operation in case.operations()]
        found.append(plots.ceiling(case, f"{stem}-ceiling"))
    first = cases[0]
    size = int(first.workload.get("total_bytes") or 0)
    return {
        "id": identity,
        "name": name,
        "about": "; ".join(
            [
                f"workload {first.workload.get('name', '')}",
                *([words.size(size)] if size else []),
                *([f"data {data}"] if (data := first.workload.get("data", "numbers")) != "numbers" else []),
                *([first.regime] if first.regime else []),
            ]
        ),
        "notes": [
            *(str(one) for one in first.workload.get("notes", [])),
            *(
                f"{case.np} ranks: {sentence}"
                for case in cases
                for sentence in left_behind([line.details for line in case.lines])
            ),
        ],
        "competitors": _competitors(cases),
        "stored": _stored(cases),
        "plots": [plot for plot in found if plot is not None],
        "hints": _hints(cases),
        "warnings": list(
            dict.fromkeys(f"{line.method}: {text}" for case in cases for line in case.lines for text in line.warnings)
        ),
        "failed": list(
            dict.fromkeys(f"{line.method}: {line.error}" for case in cases for line in case.lines if line.error)
        ),
    }


def _stored(cases: Sequence[CaseView]) -> list[dict[str, str]]:
    """A row for each method that compresses or rounds, beside its rates; none where no method does."""
    made = []
    for case in cases:
        for line in case.of_all():
            kept, error = stored_of(line.details), error_of(line.details)
            if kept is None and error is None:
                continue
            rate = stats.median(line.rates) if line.usable and line.rates else None
            made.append(
                {
                    "np": str(case.np),
                    "method": line.method,
                    "operation": line.operation,
                    "rate": "-" if rate is None else f"{rate:.0f}",
                    "stored": "-" if kept is None else kept.text,
                    "ratio": "-" if kept is None else words.digits(kept.ratio),
                    "error": "none" if error is None else error.text,
                }
            )
    return made


def _competitors(cases: Sequence[CaseView]) -> str:
    competitors = next((case.competitors for case in cases if case.competitors), None)
    if competitors is None or not competitors.get("seconds"):
        return ""
    rate = float(competitors["bytes_written"]) / 2**20 / float(competitors["seconds"])
    streams = f"{competitors['streams_per_node']} stream(s) on each node"
    return f"Beside a competing job of {streams}, which wrote {rate:.0f} MiB/s meanwhile."


def _hints(cases: Sequence[CaseView]) -> list[dict[str, Any]]:
    """Each method that asked for hints or ran with some, and operations that ran with the same ones together."""
    made: dict[tuple[str, str], dict[str, Any]] = {}
    for case in cases:
        for line in case.of_all():
            if not line.requested and not line.effective:
                continue
            effective = _pairs(line.effective)
            one = made.setdefault(
                (line.method, effective),
                {
                    "method": line.method,
                    "requested": _pairs(line.requested),
                    "effective": effective,
                    "lost": _lost(line),
                    "operations": [],
                },
            )
            if line.operation not in one["operations"]:
                one["operations"].append(line.operation)
    return list(made.values())


def _lost(line: Line) -> list[str]:
    """The hints that were asked for in vain: MPI gave back another value, or the library knows that it only echoes."""
    sentences = []
    for name, value in line.requested.items():
        got = line.effective.get(name)
        if got is None or got.lower() != value.lower():
            sentences.append(f"{name}={value} was asked for, {got or 'nothing'} is in effect")
        elif any(text.startswith(f"hint {name}=") for text in line.warnings):
            sentences.append(f"{name}={value} is only echoed: it has no effect")
    return sentences


def _pairs(hints: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(hints.items())) or "-"


def _provenance(provenance: dict[str, Any]) -> list[tuple[str, str]]:
    rows = []
    for key, label in PROVENANCE:
        value = provenance.get(key)
        if value is None:
            continue
        if key.endswith("_bytes"):
            text = words.size(int(value))
        elif isinstance(value, dict):
            text = ", ".join(f"{name}: {count}" for name, count in value.items())
        elif isinstance(value, list):
            text = " ".join(re.sub(r"^.*/", "", str(one)) if at == 0 else str(one) for at, one in enumerate(value))
        else:
            text = str(value)
        rows.append((label, text))
    return rows


def _distinct(jobs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Jobs that differ in more than their date, command and free space."""
    passing = {"date", "arguments", "directory", "free_bytes", "memory_available_bytes"}
    seen: dict[str, dict[str, Any]] = {}
    for one in jobs:
        seen.setdefault(str({key: value for key, value in one.items() if key not in passing}), one)
    return list(seen.values())


def _comparison(first: Source, second: Source) -> dict[str, Any]:
    found = compare.differences(first, second)
    changed = []
    for key, label in PROVENANCE:
        a, b = ({str(one.get(key)) for one in source.provenance} for source in (first, second))
        if key not in ("date", "arguments", "directory", "free_bytes", "memory_available_bytes", "nodes") and a != b:
            changed.append(f"{label}: {', '.join(sorted(a))} before, {', '.join(sorted(b))} after")
    return {
        "first": first.path.name,
        "second": second.path.name,
        "rows": found,
        "changed": changed,
        "unlike": compare.unlike(first, second),
    }
