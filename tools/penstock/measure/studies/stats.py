"""stats.py: medians, order-statistic intervals and ratios of paired repetitions, by the rules of bench/stats."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """LOW to HIGH covers the true median with COVERAGE; None and 0 where there are too few values for 95 %."""

    median: float
    low: float | None
    high: float | None
    coverage: float


def interval(values: Sequence[float]) -> Interval:
    """The median and the narrowest symmetric pair of order statistics around it (Hoefler and Belli, SC15)."""
    ordered = sorted(values)
    rank, coverage = order_statistic(len(ordered))
    median = statistics.median(ordered)
    if rank == 0:
        return Interval(median, None, None, 0.0)
    return Interval(median, ordered[rank - 1], ordered[-rank], coverage)


def median(values: Sequence[float]) -> float:
    """0 of none."""
    return interval(values).median if values else 0.0


def order_statistic(count: int) -> tuple[int, float]:
    """k, such that x(k) to x(count + 1 - k) covers the median with at least 95 %, and how surely; 0 where none does."""
    tail, best, coverage = 0.0, 0, 0.0
    for k in range(1, count // 2 + 1):
        tail += math.comb(count, k - 1) / 2**count
        if 1 - 2 * tail < CONFIDENCE:
            break
        best, coverage = k, 1 - 2 * tail
    return best, coverage


def ratio(above: Sequence[float], below: Sequence[float]) -> Interval | None:
    """Returns the ratio of ABOVE to BELOW, paired by repetition. None if there are no pairs, or if BELOW has a time of
    0, as may happen to what a write adds to a compute phase.
    """
    pairs = list(zip(above, below, strict=False))
    if not pairs or any(b <= 0 for _, b in pairs):
        return None
    return interval([a / b for a, b in pairs])


def quotients(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Returns ABOVE over BELOW for each repetition; skips those where BELOW took no time."""
    return [a / b for a, b in zip(above, below, strict=False) if b > 0]


def band(above: Sequence[float], below: Sequence[float]) -> tuple[float, float]:
    """The interval of their ratio, or its range where it has none; 1 and 1 where there is no pair."""
    pairs = quotients(above, below)
    if not pairs:
        return 1.0, 1.0
    found = interval(pairs)
    return (min(pairs), max(pairs)) if found.low is None or found.high is None else (found.low, found.high)


def smallest_difference(control: Sequence[float], baseline: Sequence[float]) -> float:
    """What an A/A pair lets one claim at least: how far its band is from 1."""
    low, high = band(control, baseline)
    return max(abs(low - 1), abs(high - 1))


def verdict(found: Interval, smallest: float) -> str:
    """What may be said of a ratio beside an A/A pair whose smallest difference is SMALLEST."""
    if found.low is None or found.high is None:
        return "no 95 % interval"
    if found.low <= 1 <= found.high or abs(found.median - 1) <= smallest:
        return "no detectable difference"
    return "faster" if found.median < 1 else "slower"


def claim(found: Interval, smallest: float) -> str:
    """The verdict in words that say why there is none."""
    claimed = verdict(found, smallest)
    if found.low is None or found.high is None:
        return "too few repetitions to be sure"
    if claimed == "no detectable difference" and not found.low <= 1 <= found.high:
        return "no difference claimed: the same method twice differs as much"
    return claimed
