"""compare.py: two campaigns beside each other: ratios of unpaired repetitions, and effect sizes."""

from dataclasses import dataclass

from penstock.base import words
from penstock.measure.report.page.model import CaseView, Source
from penstock.measure.studies import stats, unpaired


@dataclass(frozen=True)
class Difference:
    """Seconds of the second over those of the first. DELTA is Cliff's: -1 where every repetition of the second is
    shorter, 1 where every one is longer.
    """

    case: str
    np: int
    method: str
    operation: str
    first: float
    second: float
    ratio: stats.Interval
    delta: float
    smallest: float  # difference that the A/A pairs of both let one claim

    @property
    def verdict(self) -> str:
        return stats.claim(self.ratio, self.smallest)

    @property
    def effect(self) -> str:
        """The size of the effect in words, with the thresholds of Romano et al. (2006) for Cliff's delta."""
        size = abs(self.delta)
        return next(
            word
            for limit, word in ((0.147, "negligible"), (0.33, "small"), (0.474, "medium"), (2, "large"))
            if size < limit
        )


def differences(first: Source, second: Source) -> list[Difference]:
    """Returns the difference of each method and operation that both sources measured in comparable cases, without
    controls and lines that failed.
    """
    found = []
    for case, line in second.lines():
        other = first.case(case.name, case.np)
        theirs = None if other is None else other.line(line.method, line.operation)
        if (
            other is None
            or theirs is None
            or _unlike(other, case)
            or line.control
            or not line.usable
            or not theirs.usable
            or min(theirs.seconds) <= 0
        ):
            continue
        found.append(
            Difference(
                case.name,
                case.np,
                line.method,
                line.operation,
                theirs.median,
                line.median,
                unpaired.ratio(line.seconds, theirs.seconds),
                unpaired.cliffs_delta(line.seconds, theirs.seconds),
                max(case.smallest(line.operation), other.smallest(line.operation)),
            )
        )
    return found


def unlike(first: Source, second: Source) -> list[str]:
    """Cases that have the same name in both but measure different things, each with the reason."""
    sentences = []
    for case in second.cases:
        other = first.case(case.name, case.np)
        if other is not None and (why := _unlike(other, case)):
            sentences.append(f"{case.name}, {case.np} ranks: {why}")
    return sentences


def _unlike(first: CaseView, second: CaseView) -> str:
    """What makes two cases different things; empty where they are the same."""
    looks: tuple[tuple[str, ...], ...] = tuple(
        (
            str(case.workload.get("name", "")),
            case.regime,
            words.size(int(case.workload.get("total_bytes") or 0)),
            str(case.workload.get("type", "")),
        )
        for case in (first, second)
    )
    return next((f"{a} in the first, {b} in the second" for a, b in zip(*looks, strict=True) if a != b), "")
