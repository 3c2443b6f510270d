"""model.py: what records of any kind measured, in the one form that pages and tables are made of."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.base.errors import UserError
from penstock.measure import records
from penstock.measure.studies import stats

BESIDE = " beside a competing job"


@dataclass
class Line:
    """One operation of one method, over all parts of a job. SECONDS are of the slowest rank, by repetition."""

    method: str
    operation: str
    control: bool
    bytes: int
    seconds: list[float]
    rank_seconds: list[list[float]]
    phases: dict[str, list[float]]
    requested: dict[str, str]  # hints
    effective: dict[str, str]
    warnings: list[str]
    plan: str
    verified: bool
    error: str | None
    details: dict[str, Any]  # the line of the last part, as the record has it

    @property
    def usable(self) -> bool:
        return self.verified and self.error is None and bool(self.seconds)

    @property
    def median(self) -> float:
        return stats.interval(self.seconds).median

    @property
    def rates(self) -> list[float]:
        return [self.bytes / 2**20 / one for one in self.seconds if one > 0 and self.bytes > 0]

    def add(self, other: "Line") -> None:
        """Takes in a later part."""
        self.seconds += other.seconds
        self.rank_seconds += other.rank_seconds
        for name, times in other.phases.items():
            self.phases.setdefault(name, []).extend(times)
        self.verified = self.verified and other.verified
        self.error = self.error or other.error
        self.details = other.details


@dataclass
class CaseView:
    """A case on NP ranks. IMPORTED tells by which program it was measured where that was not penstock."""

    name: str
    np: int
    readers: int
    regime: str
    workload: dict[str, Any]
    baseline: str
    competitors: dict[str, Any] | None
    ceiling: dict[str, float]  # MiB/s by operation
    lines: list[Line] = field(default_factory=list)
    imported: str = ""

    def operations(self) -> list[str]:
        return list(dict.fromkeys(line.operation for line in self.lines))

    def of(self, operation: str, control: bool = False) -> list[Line]:
        return [line for line in self.lines if line.operation == operation and (control or not line.control)]

    def of_all(self) -> list[Line]:
        """Returns the lines of all operations, without the control."""
        return [line for line in self.lines if not line.control]

    def usable(self, operation: str) -> list[Line]:
        return [line for line in self.of(operation) if line.usable]

    def line(self, method: str, operation: str) -> Line | None:
        return next((one for one in self.lines if (one.method, one.operation) == (method, operation)), None)

    def smallest(self, operation: str) -> float:
        """The smallest difference that may be claimed: the spread of the A/A pair; 0 where there is none."""
        base = self.line(self.baseline, operation)
        twin = next((line for line in self.lines if line.control and line.operation == operation), None)
        if base is None or twin is None or not base.seconds or not twin.seconds:
            return 0.0
        return stats.smallest_difference(twin.seconds, base.seconds)

    def ratio(self, line: Line) -> stats.Interval | None:
        """To the baseline, in the same repetitions."""
        base = self.line(self.baseline, line.operation)
        if base is None or line.method == self.baseline or not base.seconds or not line.seconds:
            return None
        return stats.ratio(line.seconds, base.seconds)


@dataclass
class Source:
    """What one file holds."""

    path: Path
    title: str
    cases: list[CaseView]
    provenance: list[dict[str, Any]]  # of each job
    unavailable: list[str]
    study: dict[str, Any] | None = None  # the campaign's own words: source, cut, figures, conclusions
    ratios: list[dict[str, Any]] = field(default_factory=list)  # of a preset
    repetitions: int = 0

    def case(self, name: str, np: int) -> CaseView | None:
        return next((one for one in self.cases if (one.name, one.np) == (name, np)), None)

    def names(self) -> list[str]:
        return list(dict.fromkeys(case.name for case in self.cases))

    def lines(self) -> Iterator[tuple[CaseView, Line]]:
        for case in self.cases:
            for line in case.lines:
                yield case, line


def source_of(content: dict[str, Any], path: Path) -> Source:
    """The record CONTENT of the file PATH, of any of the four kinds."""
    kind = str(content.get("schema"))
    readers = {
        records.BENCH: _of_bench,
        records.CASES: _of_cases,
        records.PRESET: _of_cases,
        records.CAMPAIGN: _of_campaign,
    }
    if kind not in readers:
        raise UserError(f"{path}: its schema is {kind!r}; there are {', '.join(readers)}")
    with records.taking_apart(path, kind):
        return readers[kind](content, path)


def _of_bench(content: dict[str, Any], path: Path) -> Source:
    name = str(content["workload"]["name"])
    case = _case(content | {"case": name}, content.get("ceiling"))
    return Source(path, name, [case], [content["provenance"] or {}], [], repetitions=int(content["repetitions"]))


def _of_cases(content: dict[str, Any], path: Path) -> Source:
    return Source(
        path,
        str(content.get("preset") or path.stem),
        [_case(one, content.get("ceiling")) for one in content["cases"]],
        [content["provenance"] or {}],
        _unavailable(content),
        ratios=[_ratio(one) for one in content.get("ratios", [])],
        repetitions=int(content["repetitions"]),
    )


def _of_campaign(content: dict[str, Any], path: Path) -> Source:
    made = Source(path, str(content["title"] or content["name"]), [], [], [], study=content)
    for job in sorted(content["jobs"], key=lambda one: (one["np"], one["part"])):
        part = _of_cases(job["record"], path)
        for case in part.cases:
            before = made.case(case.name, case.np)
            if before is None:
                made.cases.append(case)
            else:
                _join(before, case)
        made.provenance += part.provenance
        made.unavailable += [one for one in part.unavailable if one not in made.unavailable]
    counts = dict.fromkeys((job["np"] for job in content["jobs"]), 0)
    for job in content["jobs"]:
        counts[job["np"]] += int(job["record"]["repetitions"])
    made.repetitions = min(counts.values(), default=0)
    order = made.names()
    made.cases.sort(key=lambda case: (order.index(case.name), case.np))
    return made


def _join(case: CaseView, later: CaseView) -> None:
    for line in later.lines:
        before = case.line(line.method, line.operation)
        if before is None:
            case.lines.append(line)
        else:
            before.add(line)


def _case(content: dict[str, Any], ceiling: dict[str, Any] | None) -> CaseView:
    rates = {name: float((ceiling or {}).get(f"best_{name}") or 0) for name in ("write", "read")}
    return CaseView(
        name=str(content["case"]),
        np=int(content["np"]),
        readers=int(content.get("readers") or content["np"]),
        regime=str(content.get("regime", "")),
        workload=dict(content["workload"]),
        baseline=str(content["baseline"]),
        competitors=content.get("competitors"),
        ceiling={name: rate for name, rate in rates.items() if rate > 0},
        lines=[_line(line) for line in content["results"]],
    )


def _line(line: dict[str, Any]) -> Line:
    plan = str(line.get("requested_plan") or line["method"])
    return Line(
        method=str(line["method"]),
        operation=str(line["operation"]),
        control=bool(line.get("control", False)),
        bytes=int(line.get("bytes") or 0),
        seconds=_times(line["seconds"]),
        rank_seconds=[_times(ranks) for ranks in line.get("rank_seconds") or [] if ranks],
        phases={str(name): _times(times) for name, times in (line.get("phases") or {}).items()},
        requested=hints_of(plan),
        effective={str(name): str(value) for name, value in (line.get("effective_hints") or {}).items()},
        warnings=[str(one) for one in line.get("warnings") or []],
        plan=str(line.get("plan") or plan),
        verified=bool(line["verified"]),
        error=None if line.get("error") is None else str(line["error"]),
        details=line,
    )


def _times(values: list[Any]) -> list[float]:
    times = [float(one) for one in values]
    if any(not 0 <= one < float("inf") for one in times):
        raise ValueError("a time is negative or no number")
    return times


def hints_of(plan: str) -> dict[str, str]:
    """The hints that a plan's text asks for."""
    pairs = (word.partition("=") for word in plan.partition(":")[2].split(","))
    return {name.removeprefix("hint."): value for name, _, value in pairs if name.startswith("hint.")}


def _ratio(one: dict[str, Any]) -> dict[str, Any]:
    """A row of a preset's ratios, whole: what is missing is None."""
    numbers = {name: None if one.get(name) is None else float(one[name]) for name in ("value", "low", "high", "target")}
    if numbers["high"] is None:
        numbers["low"] = None
    texts = {name: str(one.get(name) or "") for name in ("id", "name", "skipped")}
    return {**texts, **numbers, "met": one.get("met")}


def _unavailable(content: dict[str, Any]) -> list[str]:
    return [f"{one['case']}: {one['method']}: {one['reason']}" for one in content.get("unavailable", [])]
