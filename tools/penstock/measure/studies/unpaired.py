"""unpaired.py: ratios and effect sizes of repetitions that are no pairs, as those of two campaigns."""

import math
import statistics
from collections.abc import Sequence
from functools import cache

from penstock.measure.studies.stats import CONFIDENCE, Interval

ALPHA = 0.05
EXACT = 40_000  # pairs; of more, U is as good as normal, and to count its orders takes long


def ratio(above: Sequence[float], below: Sequence[float]) -> Interval:
    """The median of all quotients, and the interval that the exact distribution of Mann and Whitney's U gives them
    (Hodges and Lehmann 1963); None where there are too few for 95 %. Of very many it is taken as normal.
    """
    quotients = sorted(a / b for a in above for b in below)
    median = statistics.median(quotients)
    k = _critical(len(above), len(below))
    return (
        Interval(median, None, None, 0.0) if k == 0 else Interval(median, quotients[k - 1], quotients[-k], CONFIDENCE)
    )


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
    """Returns how many orders of M and N values give U = 0, 1, ...: the coefficients of the Gaussian binomial."""
    poly = [1]
    for i in range(1, m + 1):  # times (1 - q^(n + i)), over (1 - q^i)
        poly = poly + [0] * (n + i)
        for power in range(len(poly) - 1, n + i - 1, -1):
            poly[power] -= poly[power - n - i]
        for power in range(i, len(poly)):
            poly[power] += poly[power - i]
        poly = poly[: i * n + 1]
    return poly
