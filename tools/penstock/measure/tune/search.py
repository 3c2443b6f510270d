"""search.py: finds the fastest plan by successive halving: rounds of interleaved runs, each with fewer plans, and a
last one of fresh runs that confirms or refutes the winners against the default.
"""

import itertools
import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from penstock.base import launch
from penstock.base.errors import UserError
from penstock.measure import records
from penstock.measure.campaign.execute import Listen
from penstock.measure.campaign.program import PROGRAM, common_parameters, options
from penstock.measure.campaign.request import split_words
from penstock.measure.campaign.run import run
from penstock.measure.report.results import Line, record_of
from penstock.measure.tune.choose import LEAST_FOR_INTERVAL, OPERATIONS, Choice, choose, ranked, score
from penstock.measure.tune.predict import by_promise, predict

OVERRIDES = ("PENSTOCK_PLAN", "PENSTOCK_PLANS")  # they would be measured under the name of every plan

WORTH_CONFIRMING = 0.9  # of the default's time in a first round, where the budget is too small for a last one
NEVER_SLOW = 1000  # of --cases: no plan is dropped; the device is not measured then


@dataclass(frozen=True)
class Round:
    """A round of at most REPETITIONS; SHARE is the part of the budget's rest that it may take."""

    name: str
    repetitions: int
    share: float


COST = Round("the default", 1, 0.1)
FIRST, MIDDLE = Round("the plans that promise most", 2, 0.4), Round("the better ones", 4, 0.45)
LAST = Round("the best against the default", 12, 1.0)


@dataclass(frozen=True)
class Search:
    """WORDS are a workload of penstock-bench with its options; BUDGET is in seconds. The first of PLANS is the default.
    CURRENT is the one of them that programs use now, if it is another. STRIPED are more plans for writing on Lustre.
    """

    mpi: launch.Mpi
    ranks: int
    words: list[str]
    plans: list[str]
    current: str | None
    budget: float
    scratch: Path
    striped: tuple[str, ...] = ()


@dataclass
class Found:
    choices: list[Choice] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)  # by plan


def search(
    wanted: Search, watch: Callable[[str, int], AbstractContextManager[Listen]], say: Callable[[str], None]
) -> Found:
    """WATCH is asked for a listener to each round, of that name and so many plans; SAY gets a sentence after each.

    A run of the default shows what a run costs, and what its problems are, for which the library predicts the plans.
    The first round then has as many of them as it has time for. The budget is a goal: the first round has three plans
    and one repetition at least, and the last one enough repetitions for an interval. If there is no time for a last
    round, and no plan looks faster, there is none, and the default stays.
    """
    end = time.monotonic() + wanted.budget
    found = Found()

    def measure(one: Round, plans: list[str], least: float = 1) -> tuple[dict[str, Any], tuple[Line, ...], float]:
        """Also the seconds that one run of one plan takes."""
        begin = time.monotonic()
        with watch(one.name, len(plans)) as listen:
            content = measure_round(wanted, one, plans, max(least, (end - begin) * one.share), listen)
        lines = tuple(line for line in record_of(content).lines if not line.control)
        for line in lines:
            if not line.usable:
                found.failures.setdefault(line.method, line.error or "its data was wrong")
        runs = len(plans) * (1 + int(content["repetitions"]))  # with the warm-up
        return content, lines, (time.monotonic() - begin) / runs

    def left() -> float:
        return max(0.0, end - time.monotonic())

    content, _, cost = measure(COST, wanted.plans[:1])
    problems = [line["problem"] for line in content["results"] if line["problem"]]
    others = by_promise(wanted.plans[1:], [predict(wanted.mpi, problem) for problem in problems])
    if any(problem["operation"] == "write" and problem["filesystem"] == "lustre" for problem in problems):
        pairs = itertools.zip_longest(wanted.striped, others)
        others = [plan for pair in pairs for plan in pair if plan is not None]
        wanted = replace(wanted, plans=list(dict.fromkeys([*wanted.plans, *wanted.striped])))
    affordable = int(left() * FIRST.share / (cost * (1 + FIRST.repetitions)))
    chosen = {wanted.plans[0], wanted.current, *others[: max(2, affordable - 1)]}
    plans = [plan for plan in wanted.plans if plan in chosen]
    content, lines, cost = measure(FIRST, plans)
    say(_standing(lines, FIRST, left(), wanted))
    better = _survivors(lines, wanted, 3)
    if len(better) > 3 and left() > cost * (len(better) * (1 + MIDDLE.repetitions) + 3 * (1 + LEAST_FOR_INTERVAL)):
        plans = better
        content, lines, cost = measure(MIDDLE, plans)
        say(_standing(lines, MIDDLE, left(), wanted))
    plans = _survivors(lines, wanted, 1)
    confirming = cost * len(plans) * (1 + LEAST_FOR_INTERVAL)
    if confirming < left() or any(score(line) < WORTH_CONFIRMING for line in lines if line.usable):
        content, _, _ = measure(LAST, plans, 1 + 1.5 * confirming)
    found.choices = [
        choose(content, operation, wanted.plans[0], wanted.current, common_parameters(wanted.mpi))
        for operation in OPERATIONS
    ]
    return found


def measure_round(wanted: Search, one: Round, plans: list[str], seconds: float, listen: Listen) -> dict[str, Any]:
    """The record of the round ONE of PLANS, which should take at most SECONDS, or as long as it takes if that is 0."""
    path, cases = wanted.scratch / f"{one.name.replace(' ', '_')}.json", wanted.scratch / "cases.json"
    given = split_words(wanted.words, options(wanted.mpi)["Run"])
    case = {"case": "tune", "words": [*given.case, "--no-aa", "--methods", ",".join(plans)]}
    cases.write_text(json.dumps({"cases": [case], "slow_factor": NEVER_SLOW}), encoding="utf-8")
    command = [*launch.command(PROGRAM, wanted.mpi, wanted.ranks), "--cases", str(cases), *given.run]
    command += ["--repetitions", str(one.repetitions)]
    command += ["--time-limit", f"{seconds:.1f}"] if seconds > 0 else []
    command += ["--seed", str(one.repetitions), "--dir", str(wanted.scratch), "--json", str(path), "--progress"]
    if not any(word.partition("=")[0] == "--readers" for word in given.run):
        command += ["--readers", str(wanted.ranks)]
    environment = {name: value for name, value in launch.environment().items() if name not in OVERRIDES}
    outcome = run(command, environment | {"PENSTOCK_WISDOM": "none"}, listen)
    if not path.is_file():
        raise UserError(outcome.complaint(PROGRAM), 2 if outcome.status == 2 else 1)
    content: dict[str, Any] = records.read(path, records.CASES)["cases"][0]
    if not any(line["seconds"] for line in content["results"]):
        raise UserError(f"--budget {wanted.budget:g}: no repetition of {len(plans)} plans ended in time: give more")
    return content


def _survivors(lines: tuple[Line, ...], wanted: Search, most: int) -> list[str]:
    """The default, the current plan, and of the others the best for each operation, MOST at most."""
    kept = {wanted.plans[0], wanted.current}
    others = tuple(line for line in lines if line.method not in kept)
    kept |= {line.method for operation in OPERATIONS for line in _ranked(others, operation, wanted)[:most]}
    return [plan for plan in wanted.plans if plan in kept]


def _ranked(lines: tuple[Line, ...], operation: str, wanted: Search) -> list[Line]:
    """The best first. A file that is read has its stripes."""
    return [line for line in ranked(lines, operation) if operation == "write" or line.method not in wanted.striped]


def _standing(lines: tuple[Line, ...], one: Round, left: float, wanted: Search) -> str:
    best = [
        f"{operation} {best_first[0].method} ({score(best_first[0]):.2f} of the default's time)"
        for operation in OPERATIONS
        if (best_first := _ranked(lines, operation, wanted))
    ]
    return f"After {one.name}: best so far: {', '.join(best)}; {left:.0f} s left."
