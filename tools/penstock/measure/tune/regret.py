"""regret.py: how much slower the chosen plans are than the best one of a list, over many problems.

Regret is the median over repetitions of a plan's time over that of the best plan in the same repetition. The best plan
is the one with the smallest median in an exhaustive reference, whose repetitions are interleaved.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.base import launch
from penstock.base.errors import UserError
from penstock.measure.campaign.execute import Listen
from penstock.measure.studies import stats
from penstock.measure.tune import wisdom
from penstock.measure.tune.candidates import candidates
from penstock.measure.tune.choose import OPERATIONS
from penstock.measure.tune.predict import predict
from penstock.measure.tune.probe import probe
from penstock.measure.tune.search import Round, Search, measure_round, search

REPETITIONS = 7
SHARE = 0.1  # of the reference's time, for measuring
CASES = {
    "blocks, durable": ["block2d", "--total", "128MiB"],
    "blocks, cached": ["block2d", "--total", "128MiB", "--regime", "cached"],
    "many, cached": ["many", "--regime", "cached"],
    "small, durable": ["block2d", "--total", "1MiB"],
    "pencils, cached": ["pencil", "--total", "128MiB", "--regime", "cached"],
    "particles, durable": ["particles", "--total", "64MiB"],
}


@dataclass(frozen=True)
class Regret:
    """PROBLEM is the library's. ESTIMATE, MEASURE and DEFAULT_REGRET are medians; LOW to HIGH is that of MEASURE."""

    case: str
    np: int
    problem: dict[str, Any]
    best: str
    default: str
    plan_estimate: str
    plan_measure: str
    estimate: float
    measure: float
    default_regret: float
    low: float | None
    high: float | None
    estimate_low: float | None
    default_low: float | None
    reference_seconds: float  # that the whole reference of this case took
    measure_seconds: float  # and the search


Watch = Callable[[str, int], AbstractContextManager[Listen]]


def regrets(
    mpi: launch.Mpi,
    ranks: list[int],
    form: str,
    cases: dict[str, list[str]],
    repetitions: int,
    scratch: Path,
    watch: Watch,
    say: Callable[[str], None],
    keep: Callable[[list[Regret]], None],
) -> list[Regret]:
    """Of CASES, words of penstock-bench by name, in files of format FORM on each number of RANKS. SAY gets a sentence
    after each case, KEEP all so far.
    """
    found: list[Regret] = []
    for np in ranks:
        known = scratch / f"machine{np}.json"
        with watch(f"rates on {np} ranks", 1) as listen:
            wisdom.keep_machine(known, probe(mpi, np, scratch, listen))
        for name, words in cases.items():
            plans = candidates(mpi, form, np)
            wanted = Search(mpi, np, words, plans, None, 0, scratch)
            begin = time.monotonic()
            with watch(f"{name}, {np} ranks", len(plans)) as listen:
                content = measure_round(wanted, Round("reference", repetitions, 1), plans, 0, listen)
            took = time.monotonic() - begin
            begin = time.monotonic()
            with wisdom.using(known):
                choices = search(Search(mpi, np, words, plans, None, SHARE * took, scratch), watch, lambda _text: None)
                spent = time.monotonic() - begin
                chosen = {one.operation: one.plan for one in choices.choices}
                for operation in OPERATIONS:
                    found.append(_regret(mpi, name, np, content, operation, chosen, took, spent))
                    say(sentence(found[-1]))
            keep(found)
    return found


def _regret(
    mpi: launch.Mpi,
    name: str,
    np: int,
    content: dict[str, Any],
    operation: str,
    chosen: dict[str, str],
    took: float,
    spent: float,
) -> Regret:
    lines = {
        line["method"]: line["seconds"]
        for line in content["results"]
        if line["operation"] == operation and line["verified"] and len(line["seconds"]) == content["repetitions"]
    }
    default = content["baseline"]
    if default not in lines:
        raise UserError(f"{name}, {operation}: the default plan {default} could not be measured", 1)
    problem = next(
        line["problem"] for line in content["results"] if (line["method"], line["operation"]) == (default, operation)
    )
    best = min(lines, key=lambda method: stats.median(lines[method]))
    estimated = predict(mpi, problem).estimated
    plans = {
        "estimate": f"{default.partition('/')[0]}/{estimated}" if estimated else default,
        "measure": chosen[operation],
    }
    for how, plan in plans.items():
        if plan not in lines:
            raise UserError(f"{name}, {operation}: {how} chose {plan}, which failed", 1)
    of = {plan: stats.ratio(lines[plan], lines[best]) for plan in (default, *plans.values())}
    estimate, measure, stays = of[plans["estimate"]], of[plans["measure"]], of[default]
    assert estimate is not None
    assert measure is not None
    assert stays is not None
    return Regret(
        case=name,
        np=np,
        problem=problem,
        best=best,
        default=default,
        plan_estimate=plans["estimate"],
        plan_measure=plans["measure"],
        estimate=estimate.median,
        measure=measure.median,
        default_regret=stays.median,
        low=measure.low,
        high=measure.high,
        estimate_low=estimate.low,
        default_low=stays.low,
        reference_seconds=took,
        measure_seconds=spent,
    )


def sentence(one: Regret) -> str:
    return (
        f"{one.case}, {one.np} ranks, {one.problem['operation']}: best {one.best}; estimate {one.estimate:.2f} "
        f"({one.plan_estimate}), measure {one.measure:.2f} ({one.plan_measure}), default {one.default_regret:.2f}"
    )


def summary(found: list[Regret]) -> list[str]:
    """What the regrets amount to, with the targets. Those count whose interval excludes 1."""

    def share(regrets: list[tuple[float, float | None]], limit: float) -> str:
        """A regret whose interval has 1 in it is none."""
        good = sum(value <= limit or low is None or low <= 1 for value, low in regrets)
        return f"{good} of {len(regrets)}"

    measure = [(one.measure, one.low) for one in found]
    estimate = [(one.estimate, one.estimate_low) for one in found]
    default = [(one.default_regret, one.default_low) for one in found]
    beyond = [one for one in found if one.low is not None and one.low > 1.2]
    return [
        f"measure: at most 1.05 in {share(measure, 1.05)} problems (target: 90 %); "
        f"lower end of the interval over 1.2 in {len(beyond)} (target: none)",
        f"estimate: at most 1.25 in {share(estimate, 1.25)} (target: 75 %)",
        f"default: at most 1.05 in {share(default, 1.05)}, 1.25 in {share(default, 1.25)}",
        f"searching took {sum(one.measure_seconds for one in found) / sum(one.reference_seconds for one in found):.2f} "
        "of the reference's time",
    ]
