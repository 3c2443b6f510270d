"""test_choose.py: which of the measured plans the search takes, at its end and on its way."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock.base import launch
from penstock.base.errors import UserError
from penstock.cli import tune
from penstock.measure.report.results import record_of
from penstock.measure.tune import search
from penstock.measure.tune.choose import OPERATIONS, choose


def _content(ratios: dict[str, tuple[float, float, float]]) -> dict[str, Any]:
    """The results of a last round, whose default is the plan with ratio 1."""
    results = []
    for operation in OPERATIONS:
        for plan, (median, low, high) in ratios.items():
            ratio = (
                {"to": "a", "median": median, "low": low, "high": high, "verdict": "faster"} if plan != "a" else None
            )
            results.append(
                {
                    "method": plan, "operation": operation, "np": 4, "median": median, "low": low, "high": high,
                    "bwMiB": 1.0, "ratio": ratio, "verified": True, "error": None, "seconds": [median] * 7,
                    "problem": {"operation": operation},
                }
            )  # fmt: skip
    return {
        "workload": {"name": "w", "total_bytes": 1}, "regime": "durable", "np": 4, "readers": 4, "repetitions": 7,
        "baseline": "a", "verified": True, "results": results,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("ratios", "plan", "nearest"),
    [
        ({"a": (1, 1, 1), "b": (0.8, 0.7, 0.9), "c": (0.7, 0.4, 1.1)}, "b", None),
        ({"a": (1, 1, 1), "b": (0.8, 0.7, 0.9), "c": (0.6, 0.5, 0.7)}, "c", None),
        ({"a": (1, 1, 1), "b": (0.8, 0.7, 1.0)}, "a", "b"),
        ({"a": (1, 1, 1)}, "a", None),
    ],
)
def test_only_what_is_faster_beyond_doubt_is_chosen(
    ratios: dict[str, tuple[float, float, float]], plan: str, nearest: str | None
) -> None:
    content = _content(ratios)
    choice = choose(content, "write", "a")
    assert (choice.plan, choice.nearest) == (plan, nearest)
    assert choice.ratio == ratios[plan][0]


def test_a_plan_for_another_problem_is_not_chosen() -> None:
    content = _content({"a": (1, 1, 1), "b": (0.5, 0.4, 0.6), "c": (0.9, 0.8, 0.95)})
    for line in content["results"]:
        line["problem"]["placement"] = "per_rank" if line["method"] == "b" else "single"
    assert choose(content, "write", "a").plan == "c"


def test_a_plan_with_another_common_parameter_is_not_chosen() -> None:
    content = _content({"a": (1, 1, 1), "b": (0.5, 0.4, 0.6), "c": (0.9, 0.8, 0.95)})
    for line in content["results"]:
        line["plan_object"] = {"checksums": "none" if line["method"] == "b" else "crc64", "io": line["method"]}
    assert choose(content, "write", "a", common=["checksums"]).plan == "c"
    assert choose(content, "write", "a").plan == "b"


@pytest.mark.parametrize(
    ("operation", "system", "plan"), [("write", "lustre", "b"), ("read", "lustre", "c"), ("write", "ext4", "c")]
)
def test_only_new_files_on_lustre_get_other_stripes(operation: str, system: str, plan: str) -> None:
    content = _content({"a": (1, 1, 1), "b": (0.5, 0.4, 0.6), "c": (0.9, 0.8, 0.95)})
    for line in content["results"]:
        line["plan_object"] = {"stripe_count": -1 if line["method"] == "b" else 0}
        line["problem"]["filesystem"] = system
    assert choose(content, operation, "a", common=["stripe_count"]).plan == plan


def test_without_an_interval_the_default_stays() -> None:
    content = _content({"a": (1, 1, 1), "b": (0.5, 0.4, 0.6)})
    for line in content["results"]:
        line["seconds"] = [1.0, 1.0]
        if line["ratio"] is not None:
            line["ratio"] |= {"low": None, "high": None}
    choice = choose(content, "read", "a")
    assert choice.plan == "a"
    assert "the default stays, since 2 repetitions give no 95 % interval" in str(tune._doubt(choice))


def _wanted(*plans: str, current: str | None = None) -> search.Search:
    return search.Search(launch.Mpi.openmpi, 4, [], list(plans), current, 10, Path())


def test_the_current_plan_and_the_default_reach_the_last_round() -> None:
    content = _content({"a": (1, 1, 1), "b": (0.5, 0.4, 0.6), "c": (0.7, 0.6, 0.8), "d": (9, 8, 10)})
    wanted = _wanted("a", "b", "c", "d", current="d")
    assert search._survivors(record_of(content).lines, wanted, 1) == ["a", "b", "d"]
    striped = replace(wanted, striped=("b",))
    assert search._survivors(record_of(content).lines, striped, 1) == ["a", "b", "c", "d"], "c for reading"
    assert choose(content, "read", "a", "d").current_median == 9


def test_a_default_that_cannot_be_measured_is_named() -> None:
    content = _content({"b": (1, 1, 1)})
    with pytest.raises(UserError, match="the default plan a could not be measured"):
        choose(content, "write", "a")
