"""results.py: the record of a bench run, as its JSON file ("penstock.bench/1") holds it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.base import words
from penstock.measure import records
from penstock.measure.report.stored import Error, Stored, error_of, stored_of


@dataclass(frozen=True)
class Ratio:
    """Seconds of a method over those of the method TO, in the same repetitions; below 1 is faster."""

    to: str
    median: float
    low: float | None
    high: float | None
    verdict: str


@dataclass(frozen=True)
class Line:
    """One operation of one method. MEDIAN and what follows from it are None where it never succeeded."""

    method: str
    operation: str
    control: bool
    np: int
    median: float | None
    low: float | None
    high: float | None
    mib_per_second: float | None
    cached: bool
    ratio: Ratio | None
    verified: bool
    error: str | None
    visible_to_copy: float | None = None  # time that a commit in the background adds, over that of copying
    define_per_dataset: float | None = None  # seconds, where there are several
    metadata_calls: int = 0  # of one write, on all ranks; 0 where they were not counted
    chosen: str = ""  # the plan that was executed, and why this one
    stored: Stored | None = None  # where its plan compresses
    error_found: Error | None = None  # where its plan rounds
    predicted: float | None = None  # seconds, where that plan was chosen by wisdom or an estimate

    @property
    def usable(self) -> bool:
        return self.verified and self.error is None and self.median is not None


@dataclass(frozen=True)
class Record:
    workload: str
    total_bytes: int
    regime: str
    np: int
    readers: int
    repetitions: int
    stopped: str | None  # why before all repetitions were made: "time limit", "half-width"
    baseline: str
    verified: bool
    lines: tuple[Line, ...]
    ceiling: dict[str, float]  # operation: MiB/s of the device at best; may be empty
    smallest_claimable: dict[str, float]  # operation: the A/A pair's spread
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = ()  # on the workload
    data: str = "numbers"  # what the elements are

    @property
    def compresses(self) -> bool:
        """Whether any method does."""
        return any(line.stored is not None for line in self.lines)

    def operations(self) -> list[str]:
        return list(dict.fromkeys(line.operation for line in self.lines))

    def of(self, operation: str) -> list[Line]:
        return [line for line in self.lines if line.operation == operation]

    def choices(self) -> list[str]:
        """What was chosen for methods that name no transport, and what it was expected to take and took."""
        return [
            f"{line.method}, {line.operation}: predicted {words.seconds(line.predicted)}, "
            f"took {words.seconds(line.median)}, with {line.chosen}."
            for line in self.lines
            if line.predicted is not None and line.median is not None and line.usable and not line.control
        ]

    def errors(self) -> list[str]:
        """By how much methods that round have changed values."""
        found = {line.method: line.error_found for line in self.lines if line.usable and not line.control}
        return [
            f"{method}: no value is off by more than {error.text}."
            for method, error in found.items()
            if error is not None
        ]

    def costs(self) -> list[str]:
        """What one write costs besides moving data: metadata calls, and the definition of each dataset."""
        lines = [line for line in self.of("write") if line.usable and not line.control]
        calls = [f"{line.method} {line.metadata_calls}" for line in lines if line.metadata_calls]
        definition = [
            f"{line.method} {words.seconds(line.define_per_dataset)}"
            for line in lines
            if line.define_per_dataset is not None
        ]
        return [
            f"{what}: {', '.join(of_methods)}."
            for what, of_methods in (
                ("Metadata calls of one write, all ranks", calls),
                ("Definition of one dataset", definition),
            )
            if of_methods
        ]


def read_record(path: Path) -> Record:
    """The record in the file PATH, or a UserError that says what is wrong with it."""
    record = records.read(path, records.BENCH)
    with records.taking_apart(path, records.BENCH):
        return record_of(record)


def record_of(record: dict[str, Any]) -> Record:
    """The record in the JSON object RECORD; KeyError and the like where it is none."""
    ceiling = record.get("ceiling") or {}
    rates = {operation: ceiling.get(f"best_{operation}") or 0.0 for operation in ("write", "read")}
    return Record(
        workload=str(record["workload"]["name"]),
        total_bytes=_count(record["workload"]["total_bytes"]),
        regime=str(record["regime"]),
        np=_count(record["np"]),
        readers=_count(record["readers"]),
        repetitions=_count(record["repetitions"]),
        stopped=None if record.get("stopped") is None else str(record["stopped"]),
        baseline=str(record["baseline"]),
        verified=bool(record["verified"]),
        lines=tuple(_line(line) for line in record["results"]),
        ceiling={operation: float(rate) for operation, rate in rates.items() if rate > 0},
        smallest_claimable={
            operation: float(control["smallest_claimable"]) for operation, control in (record.get("aa") or {}).items()
        },
        data=str(record["workload"].get("data", "numbers")),
        notes=tuple(str(note) for note in record["workload"].get("notes", [])),
        warnings=tuple(str(warning) for warning in record.get("warnings", [])) + _warnings(record["results"]),
    )


def _warnings(results: list[dict[str, Any]]) -> tuple[str, ...]:
    """What the library said of single methods, each once."""
    warnings = [
        f"{line['method']}: {line['operation']}: {text}" for line in results for text in line.get("warnings", [])
    ]
    return tuple(dict.fromkeys(warnings))


def _line(line: dict[str, Any]) -> Line:
    return Line(
        method=str(line["method"]),
        operation=str(line["operation"]),
        control=bool(line.get("control", False)),
        np=_count(line["np"]),
        median=_number(line["median"]),
        low=_number(line["low"]),
        high=_number(line["high"]),
        mib_per_second=_number(line["bwMiB"]),
        cached=line.get("rate_label") == "cached",
        ratio=_ratio(line["ratio"]),
        verified=bool(line["verified"]),
        error=None if line.get("error") is None else str(line["error"]),
        visible_to_copy=_number((line.get("behind") or {}).get("visible_to_copy")),
        define_per_dataset=_number(line.get("define_seconds_per_dataset")),
        metadata_calls=_count(line.get("metadata_calls", 0)),
        stored=stored_of(line),
        error_found=error_of(line),
        chosen=f"plan {line.get('plan')}, by {line.get('reason')}",
        predicted=_number(line.get("predicted_seconds")),
    )


def _ratio(ratio: dict[str, Any] | None) -> Ratio | None:
    if ratio is None:
        return None
    return Ratio(
        to=str(ratio["to"]),
        median=float(ratio["median"]),
        low=_number(ratio["low"]),
        high=_number(ratio["high"]),
        verdict=str(ratio["verdict"]),
    )


def _count(value: Any) -> int:
    """What a 64-bit integer holds, as whoever wrote it had."""
    count = int(value)
    if not 0 <= count < 2**63:
        raise OverflowError(f"a count of {count:.3e}" if abs(count) < 10**300 else "a count beyond all bounds")
    return count


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
