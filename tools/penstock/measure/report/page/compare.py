"""compare.py: two campaigns beside each other: ratios of unpaired repetitions, and effect sizes."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from penstock.base import words
from penstock.measure.report.page.model import CaseView, Source

ALPHA = 0.05
EXACT = 40_000  # pairs; of more, U is as good as normal, and to count its orders takes long


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
    ratio: float
    low: float | None
    high: float | None
    delta: float
    smallest: float  # difference that the A/A pairs of both let one claim

    @property
    def verdict(self) -> str:
        if self.low is None or self.high is None:
            return "too few repetitions to be sure"
        if self.low <= 1 <= self.high:
            return "no detectable difference"
        if abs(self.ratio - 1) <= self.smallest:
            return "no difference claimed: the same method twice differs as much"
        return "faster" if self.ratio < 1 else "slower"

    @property
    def effect(self) -> str:
        """In words, by the limits of Romano et al. (2006)."""
        size = abs(self.delta)
        return next(
            word
            for limit, word in ((0.147, "negligible"), (0.33, "small"), (0.474, "medium"), (2, "large"))
            if size < limit
        )


def differences(first: Source, second: Source) -> list[Difference]:
    """Of everything that both measured."""
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
        ratio, low, high = ratio_of(line.seconds, theirs.seconds)
        found.append(
            Difference(
                case.name,
                case.np,
                line.method,
                line.operation,
                theirs.median,
                line.median,
                ratio,
                low,
                high,
                cliffs_delta(line.seconds, theirs.seconds),
                max(case.smallest(line.operation), other.smallest(line.operation)),
            )
        )
    return found


def unlike(first: Source, second: Source) -> list[str]:
    """Cases that have the same name in both, and are not the same thing."""
    said = []
    for case in second.cases:
        other = first.case(case.name, case.np)
        if other is not None and (why := _unlike(other, case)):
            said.append(f"{case.name}, {case.np} ranks: {why}")
    return said


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


def ratio_of(above: Sequence[float], below: Sequence[float]) -> tuple[float, float | None, float | None]:
    """The median of all quotients, and the interval that the exact distribution of Mann and Whitney's U gives them
    (Hodges and Lehmann 1963); None where there are too few for 95 %. Of very many it is taken as normal.
    """
    quotients = sorted(a / b for a in above for b in below)
    middle = len(quotients) // 2
    median = quotients[middle] if len(quotients) % 2 else (quotients[middle - 1] + quotients[middle]) / 2
    k = _critical(len(above), len(below))
    return (median, None, None) if k == 0 else (median, quotients[k - 1], quotients[-k])


def cliffs_delta(above: Sequence[float], below: Sequence[float]) -> float:
    """How much more often a value of ABOVE is larger than one of BELOW than smaller (Cliff 1993)."""
    more = sum((a > b) - (a < b) for a in above for b in below)
    return more / (len(above) * len(below))


@cache
def _critical(m: int, n: int) -> int:
    """The largest k with P(U < k) at most half of ALPHA."""
    if m * n > EXACT:
        spread = math.sqrt(m * n * (m + n + 1) / 12)
        below = statistics.NormalDist(m * n / 2, spread).inv_cdf(ALPHA / 2)
        return max(0, math.floor(below + 0.5))  # U < k is U <= k - 1/2 of what is continuous
    total, tail, k = math.comb(m + n, m), 0, 0
    counts = _counts(m, n)
    while (tail + counts[k]) / total <= ALPHA / 2:
        tail += counts[k]
        k += 1
    return k


@cache
def _counts(m: int, n: int) -> list[int]:
    """In how many orders of M and N values U is 0, 1, ...: the coefficients of the Gaussian binomial."""
    poly = [1]
    for i in range(1, m + 1):  # times (1 - q^(n + i)), over (1 - q^i)
        poly = poly + [0] * (n + i)
        for power in range(len(poly) - 1, n + i - 1, -1):
            poly[power] -= poly[power - n - i]
        for power in range(i, len(poly)):
            poly[power] += poly[power - i]
        poly = poly[: i * n + 1]
    return poly
