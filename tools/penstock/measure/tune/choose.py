"""choose.py: which plan of a measurement is faster than the default beyond doubt."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from penstock.base.errors import UserError
from penstock.measure.report.results import Line, record_of
from penstock.measure.tune.candidates import transport_of
from penstock.measure.tune.wisdom import Entry, Problem

OPERATIONS = ("write", "read")
LEAST_FOR_INTERVAL = 6
_DAYS = 365  # that wisdom is used


@dataclass(frozen=True)
class Choice:
    """The plan for OPERATION: the default where no other is faster beyond doubt."""

    operation: str
    plan: str
    median: float
    default_median: float
    ratio: float
    low: float | None
    high: float | None
    repetitions: int
    nearest: str | None  # if the default stays: the plan that came nearest to being faster
    current_median: float | None  # of the plan that programs use now
    problem: Problem | None


def score(line: Line) -> float:
    """The time over the default's in the same repetitions."""
    return 1.0 if line.ratio is None else line.ratio.median


def ranked(lines: tuple[Line, ...], operation: str) -> list[Line]:
    """The best first."""
    return sorted((line for line in lines if line.operation == operation and line.usable), key=score)


def choose(
    content: dict[str, Any], operation: str, default: str, current: str | None = None, common: Collection[str] = ()
) -> Choice:
    """Of the record CONTENT, whose ratios are to the plan DEFAULT. Plans for other problems do not take part, nor do
    those that differ in COMMON parameters, which wisdom does not set, but for a new file's stripes on Lustre.
    """
    if content["baseline"] != default:
        raise UserError(f"the ratios are to {content['baseline']}, not to {default}", 1)
    raw = {line["method"]: line for line in content["results"] if line["operation"] == operation}
    lines = ranked(tuple(line for line in record_of(content).lines if not line.control), operation)
    base = next((line for line in lines if line.method == default), None)
    if base is None or base.median is None:
        raise UserError(f"the default plan {default} could not be measured: {operation}", 1)
    problem = raw[default].get("problem")

    def stands_for(line: Line) -> bool:
        ours, theirs = (raw[method].get("plan_object") or {} for method in (default, line.method))
        differing = {name for name in common if theirs.get(name) != ours.get(name)}
        new_on_lustre = operation == "write" and (problem or {}).get("filesystem") == "lustre"
        alike = differing <= ({"stripe_count"} if new_on_lustre else set())
        return line.method != default and raw[line.method].get("problem") == problem and alike

    others = [line for line in lines if stands_for(line)]
    faster = [line for line in others if line.ratio is not None and line.ratio.high is not None and line.ratio.high < 1]
    chosen = faster[0] if faster else base
    assert chosen.median is not None
    return Choice(
        operation=operation,
        plan=chosen.method,
        median=chosen.median,
        default_median=base.median,
        ratio=score(chosen),
        low=chosen.ratio.low if chosen.ratio else None,
        high=chosen.ratio.high if chosen.ratio else None,
        repetitions=len(raw[chosen.method]["seconds"]),
        nearest=others[0].method if others and not faster else None,
        current_median=next((line.median for line in lines if line.method == current), None),
        problem=problem,
    )


def entries(choices: list[Choice], budget: float | None = None) -> list[Entry]:
    """CHOICES as wisdom, that took BUDGET seconds; none of those that have too few repetitions."""
    today = date.today()
    return [
        Entry(
            problem=choice.problem,
            plan=transport_of(choice.plan),
            ratio=choice.ratio,
            low=choice.low,
            high=choice.high,
            measured=today.isoformat(),
            seconds=choice.median,
            repetitions=choice.repetitions,
            budget_seconds=budget,
            expires=(today + timedelta(days=_DAYS)).isoformat(),
        )
        for choice in choices
        if choice.problem is not None and choice.repetitions >= LEAST_FOR_INTERVAL
    ]
