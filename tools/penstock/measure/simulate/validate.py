"""validate.py: compares the simulator with what studies published, in published.toml beside this file."""

import itertools
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

from penstock.measure.simulate import machine
from penstock.measure.simulate.run import By, results, simulate

MIB = 2**20
ALIKE = 0.02  # a smaller difference of simulated times is no order
MEASURED_ALIKE = 0.05  # nor is a smaller one of published values


@dataclass(frozen=True)
class Value:
    """A published value of what STUDY says, and ours, in the same UNIT; if FITTED, machines were adapted to it."""

    study: str
    said: str
    unit: str
    published: float
    predicted: float
    fitted: bool

    @property
    def ratio(self) -> float:
        return self.predicted / self.published


@dataclass(frozen=True)
class Pair:
    """STUDY says that FASTER is faster than SLOWER; our times are OURS and THEIRS."""

    study: str
    faster: str
    slower: str
    ours: float
    theirs: float
    fitted: bool

    @property
    def own(self) -> bool:
        """Whether we measured it."""
        return self.study.startswith("Penstock,")

    @property
    def right(self) -> bool:
        return self.ours < self.theirs * (1 - ALIKE)

    @property
    def wrong(self) -> bool:
        return self.theirs < self.ours * (1 - ALIKE)


@dataclass(frozen=True)
class Compared:
    values: list[Value]
    pairs: list[Pair]


def compare() -> Compared:
    """Simulates all that is published."""
    text = (resources.files("penstock.measure.simulate") / "published.toml").read_text(encoding="utf-8")
    published = tomllib.loads(text)
    values: list[Value] = []
    pairs: list[Pair] = []
    for study in published["study"]:
        given = study["result"]
        seconds, size = _seconds(study, [_method(result["method"]) for result in given])
        for result, took in zip(given, seconds, strict=True):
            ours = took if study["unit"] == "s" else size / took / MIB
            values.append(Value(study["name"], result["said"], study["unit"], result["value"], ours, study["fit"]))
        sign = 1 if study["unit"] == "s" else -1
        order = sorted(zip(given, seconds, strict=True), key=lambda pair: sign * pair[0]["value"])
        pairs += [
            Pair(study["name"], fast["said"], slow["said"], ours, theirs, study["fit"])
            for (fast, ours), (slow, theirs) in itertools.combinations(order, 2)
            if abs(fast["value"] / slow["value"] - 1) > MEASURED_ALIKE
        ]
    for finding in published["finding"]:
        methods = [_method(method) for method in finding["order"]]
        times = zip(methods, _seconds(finding, methods)[0], strict=True)
        pairs += [
            Pair(finding["name"], faster, slower, ours, theirs, finding["fit"])
            for (faster, ours), (slower, theirs) in itertools.combinations(times, 2)
        ]
    return Compared(values, pairs)


def _method(text: str) -> str:
    return "".join(text.split())


def _seconds(study: dict[str, Any], methods: list[str]) -> tuple[list[float], float]:
    """Of each method, and the workload's bytes."""
    words = [*study["workload"].split(), "--tasks-per-node", str(study["tasks_per_node"])]
    by = By(methods, read=study["operation"] == "read")
    record = simulate(machine.load(study["machine"]), words, [study["np"]], by)
    found = results(record)
    return [one.seconds for one in found], found[0].bytes
