"""search.py: finds the fastest plan by successive halving: rounds of interleaved runs, each with fewer plans, and a
last one of fresh runs that confirms or refutes the winners against the default.
"""

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.base import launch
from penstock.base.errors import UserError
from penstock.measure.campaign.execute import Listen
from penstock.measure.campaign.program import PROGRAM, common_parameters
from penstock.measure.campaign.run import run
from penstock.measure.report.results import Line, record_of
from penstock.measure.tune.choose import LEAST_FOR_INTERVAL, OPERATIONS, Choice, choose, ranked, score

OVERRIDES = ("PENSTOCK_PLAN", "PENSTOCK_PLANS")  # they would be measured under the name of every plan


@dataclass(frozen=True)
class Round:
    """A round of at most REPETITIONS; SHARE is the part of the budget's rest that it may take."""

    name: str
    repetitions: int
    share: float


FIRST, MIDDLE = Round("all plans", 2, 0.4), Round("the better ones", 4, 0.45)
LAST = Round("the best against the default", 12, 1.0)


@dataclass(frozen=True)
class Search:
    """WORDS are a workload of penstock-bench with its options; BUDGET is in seconds. The first of PLANS is the default.
    CURRENT is the one of them that programs use now, if it is another.
    """

    mpi: launch.Mpi
    ranks: int
    words: list[str]
    plans: list[str]
    current: str | None
    budget: float
    scratch: Path


@dataclass
class Found:
    choices: list[Choice] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)  # by plan


def search(
    wanted: Search, watch: Callable[[str, int], AbstractContextManager[Listen]], say: Callable[[str], None]
) -> Found:
    """WATCH is asked for a listener to each round, of that name and so many plans; SAY gets a sentence after each.

    The budget is a goal: the first round has one repetition at least, and the last one enough for an interval.
    """
    end = time.monotonic() + wanted.budget
    found = Found()

    def measure(one: Round, plans: list[str], least: float = 1) -> tuple[dict[str, Any], tuple[Line, ...], float]:
        """Also the seconds that one run of one plan takes."""
        begin = time.monotonic()
        with watch(one.name, len(plans)) as listen:
            content = _measure(wanted, one, plans, max(least, (end - begin) * one.share), listen)
        lines = tuple(line for line in record_of(content).lines if not line.control)
        for line in lines:
            if not line.usable:
                found.failures.setdefault(line.method, line.error or "its data was wrong")
        runs = len(plans) * (1 + int(content["repetitions"]))  # with the warm-up
        return content, lines, (time.monotonic() - begin) / runs

    def left() -> float:
        return max(0.0, end - time.monotonic())

    plans = wanted.plans
    _, lines, cost = measure(FIRST, plans)
    say(_standing(lines, FIRST, left()))
    better = _survivors(lines, wanted, 3)
    if len(better) > 3 and left() > cost * (len(better) * (1 + MIDDLE.repetitions) + 3 * (1 + LEAST_FOR_INTERVAL)):
        plans = better
        _, lines, cost = measure(MIDDLE, plans)
        say(_standing(lines, MIDDLE, left()))
    plans = _survivors(lines, wanted, 1)
    content, _, _ = measure(LAST, plans, 1 + 1.5 * cost * len(plans) * (1 + LEAST_FOR_INTERVAL))
    found.choices = [
        choose(content, operation, wanted.plans[0], wanted.current, common_parameters(wanted.mpi))
        for operation in OPERATIONS
    ]
    return found


def _measure(wanted: Search, one: Round, plans: list[str], seconds: float, listen: Listen) -> dict[str, Any]:
    path = wanted.scratch / f"{one.name.replace(' ', '_')}.json"
    command = [*launch.command(PROGRAM, wanted.mpi, wanted.ranks), *wanted.words, "--methods", ",".join(plans)]
    command += ["--repetitions", str(one.repetitions), "--time-limit", f"{seconds:.1f}", "--no-aa"]
    command += ["--seed", str(one.repetitions), "--dir", str(wanted.scratch), "--json", str(path), "--progress"]
    if not any(word.partition("=")[0] == "--readers" for word in wanted.words):
        command += ["--readers", str(wanted.ranks)]
    environment = {name: value for name, value in launch.environment().items() if name not in OVERRIDES}
    outcome = run(command, environment | {"PENSTOCK_WISDOM": "none"}, listen)
    if not path.is_file():
        raise UserError(outcome.complaint(PROGRAM), 2 if outcome.status == 2 else 1)
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if not any(line["seconds"] for line in content["results"]):
        raise UserError(f"--budget {wanted.budget:g}: no repetition of {len(plans)} plans ended in time: give more")
    return content


def _survivors(lines: tuple[Line, ...], wanted: Search, most: int) -> list[str]:
    """The default, the current plan, and of the others the best for each operation, MOST at most."""
    kept = {wanted.plans[0], wanted.current}
    others = tuple(line for line in lines if line.method not in kept)
    kept |= {line.method for operation in OPERATIONS for line in ranked(others, operation)[:most]}
    return [plan for plan in wanted.plans if plan in kept]


def _standing(lines: tuple[Line, ...], one: Round, left: float) -> str:
    best = [
        f"{operation} {best_first[0].method} ({score(best_first[0]):.2f} of the default's time)"
        for operation in OPERATIONS
        if (best_first := ranked(lines, operation))
    ]
    return f"After {one.name}: best so far: {', '.join(best)}; {left:.0f} s left."
