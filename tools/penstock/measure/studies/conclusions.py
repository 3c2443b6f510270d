"""conclusions.py: what a study concluded, and whether a campaign here says the same."""

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.base import words
from penstock.measure.studies.pooled import Pooled
from penstock.measure.studies.stats import Interval

Conclusion = dict[str, str]


@dataclass(frozen=True)
class Claim:
    """That METHOD takes less time than OTHER: FACTOR times less at least."""

    case: str
    method: str
    other: str
    operation: str
    factor: float = 1.0


def conclude(pooled: Pooled, text: str, claims: Sequence[Claim], ranks: Sequence[int] = ()) -> Conclusion:
    """Contradicted where one of CLAIMS fails, reproduced where none fails and at least half hold; each on the largest
    number of ranks unless RANKS are given. Differences that an A/A pair shows too decide nothing.
    """
    held: list[str] = []
    failed: list[str] = []
    open_: list[str] = []
    for claim in claims:
        for np in ranks or pooled.ranks()[-1:]:
            holds, evidence = _test(pooled, claim, np)
            (open_ if holds is None else held if holds else failed).append(evidence)
    if failed:
        verdict = "contradicted"
    elif held and len(held) >= len(open_):
        verdict = "reproduced"
    else:
        verdict = "not testable"
    return {"text": text, "verdict": verdict, "evidence": "; ".join([*failed, *held, *open_]) or "nothing was measured"}


def not_testable(text: str, why: str) -> Conclusion:
    return {"text": text, "verdict": "not testable", "evidence": why}


def judged(text: str, holds: bool | None, evidence: str) -> Conclusion:
    """Returns the conclusion about a claim that is no ratio of two methods. HOLDS of None makes it not testable."""
    verdict = "not testable" if holds is None else "reproduced" if holds else "contradicted"
    return {"text": text, "verdict": verdict, "evidence": evidence}


def longer(one: Interval, other: Interval, factor: float = 1.0) -> bool | None:
    """Whether ONE is over FACTOR times OTHER, of which there are no pairs; None where their intervals do not say."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return None
    return True if one.low > factor * other.high else False if one.high < factor * other.low else None


def _test(pooled: Pooled, claim: Claim, np: int) -> tuple[bool | None, str]:
    where = f"{claim.operation}, {claim.case}, {np} ranks"
    for method in (claim.method, claim.other):
        if (claim.case, method, np) in pooled.errors:
            return None, f"{where}: {method} failed: {pooled.errors[claim.case, method, np]}"
    found = pooled.ratio(claim.case, claim.other, claim.method, claim.operation, np)
    if found is None:
        return None, f"{where}: {claim.method} and {claim.other} were not both measured"
    sentence = f"{where}: {claim.other} takes {words.digits(found.median)} times the time of {claim.method}"
    if found.low is None or found.high is None:
        return None, f"{sentence}, after too few repetitions to be sure"
    sentence += f" ({words.interval(found.low, found.high)})"
    smallest = pooled.smallest.get((claim.case, claim.operation, np), 0.0)
    return _decide(claim.factor, found.low, found.high, sentence, within=abs(found.median - 1) <= smallest)


def _decide(factor: float, low: float, high: float, sentence: str, within: bool) -> tuple[bool | None, str]:
    if factor == 1.0 and within:
        return None, f"{sentence}, and the same method twice differs as much"
    if low > factor:
        return True, sentence
    if high < factor:
        return False, sentence
    return None, f"{sentence}: no detectable difference" if factor == 1.0 else f"{sentence}: neither more nor less"
