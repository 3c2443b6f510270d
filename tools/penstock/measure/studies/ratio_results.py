"""ratio_results.py: ratios from the record of their cases ("penstock.cases/1"), and growths that are counted."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from penstock.base import launch
from penstock.base.errors import UserError
from penstock.measure import records
from penstock.measure.campaign.run import run
from penstock.measure.studies import stats
from penstock.measure.studies.presets.ratios import Growth, Ratio, Row, Side

PROGRAM = "penstock-bench"
FULL_NODE = 64  # ranks

Content = dict[str, Any]


def result(row: Ratio, np: int, record: Content, suffix: str) -> Content:
    """ROW on NP ranks, from the cases of RECORD whose names end with SUFFIX."""
    ours = _stand(_within(row.ours, suffix), record)
    copy = row.other.measure == "copy"  # of the data of the run that it belongs to
    rivals = replace(row.other, methods=(ours.method,)) if copy else row.other
    other = _stand(_within(rivals, suffix), record)
    value = stats.ratio(ours.values, other.values)
    if value is None:
        return skipped(row, np, ours.missing or other.missing or f"{other.method}: it took no time")
    sides = [
        {"case": side.case + suffix, "method": one.method, "measure": side.measure}
        | {"median_bytes" if side.measure == "stored" else "median_seconds": stats.median(one.values)}
        for side, one in ((row.ours, ours), (row.other, other))
    ]
    found = _valued(_unmeasured(row, np, row.target_on(np)), value.median, ours.method)
    return found | {
        "other": "memory copy" if copy else other.method,
        "low": value.low,
        "high": value.high,
        "coverage": value.coverage,
        "pairs": min(len(ours.values), len(other.values)),
        "sides": sides,
        "regime": next(case["regime"] for case in record["cases"] if case["case"] == row.ours.case + suffix),
    }


def skipped(row: Ratio, np: int, why: str) -> Content:
    return _unmeasured(row, np, row.target_on(np)) | {"skipped": why}


class Counted:
    """Growths; each workload is counted once. FOLDER is for records."""

    def __init__(self, mpi: launch.Mpi, folder: Path) -> None:
        self.mpi, self.folder, self.known = mpi, folder, dict[tuple[str, bool], list[Content]]()

    def result(self, row: Growth, np: int) -> Content:
        costs = [one[row.quantity]["mean"] for one in self._costs(row)]
        growths = [
            cost / costs[0] / math.log(ranks, row.ranks[0]) for ranks, cost in zip(row.ranks, costs, strict=True)
        ]
        value = max(growths[1:])
        found = _valued(_unmeasured(row, np, row.target), value, "hdf5/two_phase")
        return found | {"other": "log P", "coverage": 0, "counted": True}

    def _costs(self, row: Growth) -> list[Content]:
        key = (row.workload, row.full)
        if key not in self.known:
            record = self.folder / f"{row.workload}.counts.json"
            words = [row.workload, "--methods", "hdf5/two_phase", "--np-virtual", ",".join(map(str, row.ranks))]
            # On nodes of one rank all data is sent as messages.
            words += (
                ["--per-rank", "8MiB", "--tasks-per-node", str(FULL_NODE)] if row.full else ["--tasks-per-node", "1"]
            )
            count(self.mpi, words, record)
            self.known[key] = [line["ours"] for line in records.read(record, records.COUNTS)["counts"]]
        return self.known[key]


def count(mpi: launch.Mpi, arguments: list[str], record: Path) -> None:
    """Has one process count what ARGUMENTS ask for, into RECORD."""
    command = [*launch.command(PROGRAM, mpi, 1), "--count-only", *arguments, "--json", str(record), "--progress"]
    outcome = run(command, launch.environment(), lambda _event: None)
    if outcome.status != 0:
        raise UserError(outcome.complaint(PROGRAM), 2 if outcome.status == 2 else 1)


@dataclass(frozen=True)
class _Standing:
    """The method that represents a side, with its seconds or bytes, or why there is none."""

    method: str = ""
    values: tuple[float, ...] = ()
    missing: str = ""


def _within(side: Side, suffix: str) -> Side:
    return replace(side, case=side.case + suffix)


def _stand(side: Side, record: Content) -> _Standing:
    best, missing = _Standing(), []
    for one in record["unavailable"]:
        if one["case"] == side.case and one["method"] in side.methods:
            missing.append(f"{one['method']}: {one['reason']}")
    operation = "read" if side.measure == "read" else "write"
    for line in _lines(side.case, record):
        if line["method"] not in side.methods or line["operation"] != operation:
            continue
        values = _values(line, side.measure)
        if why := line["error"] or line.get("dropped") or ("" if values else "not measured"):
            missing.append(f"{line['method']}: {why}")
        elif not best.values or stats.median(values) < stats.median(best.values):
            best = _Standing(line["method"], values)
    return best if best.values else _Standing(missing="; ".join(missing) or "not measured")


def _values(line: Content, measure: str) -> tuple[float, ...]:
    """Of each repetition."""
    if measure == "copy":
        return tuple(line["behind"]["copy_seconds"])
    return tuple(line["stored_bytes" if measure == "stored" else "seconds"])


def _lines(name: str, record: Content) -> list[Content]:
    return [line for case in record["cases"] if case["case"] == name for line in case["results"]]


def _unmeasured(row: Row, np: int, target: float | None) -> Content:
    return {
        "id": row.id,
        "name": row.name,
        "value": None,
        "low": None,
        "high": None,
        "target": target,
        "better": "lower",
        "met": None,
        "np": np,
        "pairs": 0,
        "counted": False,
        "skipped": None,
    }


def _valued(row: Content, value: float, ours: str) -> Content:
    met = None if row["target"] is None else value <= row["target"]
    return row | {"value": value, "met": met, "ours": ours}
