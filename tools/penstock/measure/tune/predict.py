"""predict.py: the seconds that each plan should take for a problem, by the library's cost model."""

import json
from dataclasses import dataclass
from typing import Any

from penstock.base import launch
from penstock.measure.campaign.program import ask
from penstock.measure.tune.candidates import transport_of

Problem = dict[str, Any]


@dataclass(frozen=True)
class Prediction:
    """SECONDS are the sum of the parts; LIMIT names the largest part."""

    plan: str  # a transport and its parameters
    seconds: float
    limit: str


@dataclass(frozen=True)
class Predicted:
    """The default plan is the first of PLANS, and ESTIMATED the one to use. PROBED: by rates that were measured here.
    WISDOM is the plan that was measured for such a problem, if any, and KNOWN says how."""

    problem: Problem
    probed: bool
    plans: tuple[Prediction, ...]
    estimated: str | None
    wisdom: str | None
    known: str


def predict(mpi: launch.Mpi, problem: Problem) -> Predicted:
    """With the wisdom of this environment."""
    content = json.loads(ask(mpi, f"--estimates={json.dumps(problem)}"))
    wise = content["wisdom"] or {"plan": None, "reason": ""}
    return Predicted(
        problem=content["problem"],
        probed=content["probed"],
        plans=tuple(Prediction(one["plan"], one["seconds"], one["limit"]) for one in content["plans"]),
        estimated=content["estimated"],
        wisdom=wise["plan"],
        known=wise["reason"],
    )


def by_promise(plans: list[str], predicted: list[Predicted]) -> list[str]:
    """PLANS, FORMAT/TRANSPORT[:...], those first that should be fastest in any of the problems PREDICTED, against the
    default. What cannot be predicted counts as the default does."""
    promise: dict[str, float] = {}
    for one in predicted:
        for prediction in one.plans:
            ratio = prediction.seconds / one.plans[0].seconds
            promise[prediction.plan] = min(promise.get(prediction.plan, ratio), ratio)
    return sorted(plans, key=lambda plan: promise.get(transport_of(plan), 1.0))
