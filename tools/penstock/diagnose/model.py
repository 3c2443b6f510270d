"""model.py: how operation counts and times grow with the ranks, from logs of one or several scales.

After LRZ's study of a particle-in-cell code: counts are whole multiples of ranks or writers, of steps and of fields.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from penstock.diagnose.facts import Facts
from penstock.jobs.job import Job

# What users call them: (module, counters) by name.
COUNTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "open": ("MPI-IO", ("COLL_OPENS", "INDEP_OPENS")),
    "set_view": ("MPI-IO", ("VIEWS",)),
    "sync": ("MPI-IO", ("SYNCS",)),
    "write_at_all": ("MPI-IO", ("COLL_WRITES", "SPLIT_WRITES")),
    "write_at": ("MPI-IO", ("INDEP_WRITES", "NB_WRITES")),
    "read_at_all": ("MPI-IO", ("COLL_READS", "SPLIT_READS")),
    "read_at": ("MPI-IO", ("INDEP_READS", "NB_READS")),
    "POSIX open": ("POSIX", ("OPENS",)),
    "POSIX stat": ("POSIX", ("STATS",)),
    "POSIX write": ("POSIX", ("WRITES",)),
    "POSIX read": ("POSIX", ("READS",)),
    "POSIX fsync": ("POSIX", ("FSYNCS", "FDSYNCS")),
}
VARIABLES = ("ranks", "writers", "nodes")
TIMES = ("metadata", "read", "write", "waiting", "other")
AHEAD = (2, 4, 16)


@dataclass(frozen=True)
class Scale:
    """One run: what it grows with, what it counted, seconds of the mean rank."""

    variables: dict[str, int]
    counts: dict[str, int]
    seconds: dict[str, float]


@dataclass(frozen=True)
class Law:
    """slope x variable + constant; no VARIABLE where it does not grow. PROVEN: there are more runs than unknowns."""

    variable: str | None
    slope: Fraction
    constant: Fraction
    proven: bool

    def at(self, variables: Mapping[str, int]) -> Fraction:
        return self.slope * (variables[self.variable] if self.variable else 0) + self.constant

    def text(self, factors: Mapping[str, int]) -> str:
        if self.variable is None:
            return _factored(self.constant, factors)
        slope = _factored(self.slope, factors)
        slope = f"({slope})" if " + " in slope else slope
        grown = self.variable if self.slope == 1 else f"{slope} x {self.variable}"
        if self.constant == 0:
            return grown
        return f"{grown} {'+' if self.constant > 0 else '-'} {_factored(abs(self.constant), factors)}"


@dataclass(frozen=True)
class Model:
    scales: tuple[Scale, ...]
    laws: dict[str, Law]
    unexplained: tuple[str, ...]  # counts that follow no law
    factors: dict[str, int]  # "steps", "fields", where they are known

    @property
    def says_more(self) -> bool:
        """More than that one run's counts are whole numbers of its ranks: there are several, or what its steps are."""
        return len({scale.variables["ranks"] for scale in self.scales}) > 1 or bool(self.factors)

    def counts_at(self, variables: Mapping[str, int]) -> dict[str, int]:
        return {name: round(law.at(variables)) for name, law in self.laws.items()}

    def ahead(self, factor: int) -> dict[str, int]:
        """The variables of the largest run, FACTOR times as large."""
        return {name: value * factor for name, value in self.scales[-1].variables.items()}

    def seconds_at(self, ranks: int) -> dict[str, float]:
        """Predicts the seconds that the mean rank spends on RANKS ranks, for each kind of time, from straight lines
        through the measured runs; see `basis`.
        """
        several = len({scale.variables["ranks"] for scale in self.scales}) > 1
        points = {name: [(s.variables["ranks"], s.seconds[name]) for s in self.scales] for name in TIMES}
        return {name: _line(points[name], ranks, several, name != "other") for name in TIMES}

    @property
    def basis(self) -> str:
        if len({scale.variables["ranks"] for scale in self.scales}) > 1:
            return "straight lines through the runs' times, rough far beyond them; falling times stay where they are"
        return "one run alone: as if servers were the limit and each rank kept its share of data and calls"


def scale_of(job: Job) -> Scale:
    facts = Facts(job)
    uses = {"MPI-IO": facts.mpi, "POSIX": facts.posix}
    counts = {}
    for name, (module, counters) in COUNTS.items():
        total = sum(float(uses[module].of(counter).sum()) for counter in counters)
        if total > 0:
            counts[name] = round(total)
    outer = facts.mpi if len(facts.mpi) else facts.posix
    writers = int(outer.movers.max()) if len(outer) else 0
    variables = {"ranks": job.ranks, "writers": writers or job.ranks}
    if facts.nodes:
        variables["nodes"] = facts.nodes
    return Scale(variables, counts, _seconds(facts))


def _seconds(facts: Facts) -> dict[str, float]:
    """Waiting is what the interface that the program called takes beyond the file system."""
    inner = {
        name: float(facts.posix.of(f"F_{verb}_TIME").sum() + facts.stdio.of(f"F_{verb}_TIME").sum()) / facts.ranks
        for name, verb in (("metadata", "META"), ("read", "READ"), ("write", "WRITE"))
    }
    whole = facts.outermost.mean_share * facts.seconds
    waiting = max(0.0, whole - sum(inner.values()))
    return inner | {"waiting": waiting, "other": max(0.0, facts.seconds - sum(inner.values()) - waiting)}


def fit(jobs: Sequence[Job], factors: Mapping[str, int] | None = None) -> Model:
    """FACTORS are numbers of the program that do not change between the runs: {"steps": 10, "fields": 6}."""
    scales = tuple(sorted((scale_of(job) for job in jobs), key=lambda scale: scale.variables["ranks"]))
    return fit_scales(scales, factors or {})


def fit_scales(scales: Sequence[Scale], factors: Mapping[str, int]) -> Model:
    names = list(dict.fromkeys(name for scale in scales for name in scale.counts))
    laws, unexplained = {}, []
    for name in names:
        law = _law([(scale.variables, scale.counts.get(name, 0)) for scale in scales])
        if law is None:
            unexplained.append(name)
        else:
            laws[name] = law
    return Model(tuple(scales), laws, tuple(unexplained), dict(factors))


def _law(points: Sequence[tuple[Mapping[str, int], int]]) -> Law | None:
    """The simplest that meets every point exactly."""
    values = [count for _, count in points]
    usable = [name for name in VARIABLES if all(name in variables for variables, _ in points)]
    if len(points) == 1:
        return _law_of_one(points[0], usable)
    if len(set(values)) == 1:
        return Law(None, Fraction(0), Fraction(values[0]), True)
    found = []
    for name in usable:
        line = _straight([(variables[name], count) for variables, count in points])
        if line is not None:
            slope, constant = line
            different = len({variables[name] for variables, _ in points})
            proven = different > (1 if constant == 0 else 2)
            # Two points lie on some line always.
            if proven or (slope > 0 and slope.denominator == 1):
                found.append(Law(name, slope, constant, proven))
    return min(found, key=lambda law: (law.constant != 0, law.slope.denominator != 1), default=None)


def _law_of_one(point: tuple[Mapping[str, int], int], usable: Sequence[str]) -> Law:
    variables, count = point
    name = next((one for one in usable if variables[one] > 1 and count % variables[one] == 0), None)
    if name is None:
        return Law(None, Fraction(0), Fraction(count), False)
    return Law(name, Fraction(count, variables[name]), Fraction(0), False)


def _straight(points: Sequence[tuple[int, int]]) -> tuple[Fraction, Fraction] | None:
    (x0, y0), (x1, y1) = min(points), max(points)
    if x0 == x1:
        return None
    slope = Fraction(y1 - y0, x1 - x0)
    constant = y0 - slope * x0
    return (slope, constant) if all(slope * x + constant == y for x, y in points) else None


def _factored(value: Fraction, factors: Mapping[str, int]) -> str:
    """60 as "steps x fields", 143 as "2 x steps x fields + 23", where steps are 10 and fields 6."""
    if value.denominator != 1 or not factors:
        return str(value)
    number = int(value)
    products = {" x ".join(factors): int(np.prod(list(factors.values())))} | dict(factors)
    ordered = sorted(products.items(), key=lambda item: -item[1])
    for name, product in ordered:
        if product > 1 and number and number % product == 0:
            return name if number == product else f"{number // product} x {name}"
    name, product = ordered[0]
    if product > 1 and number > product:
        times = "" if number // product == 1 else f"{number // product} x "
        return f"{times}{name} + {number % product}"
    return str(number)


def _line(points: Sequence[tuple[int, float]], at: int, several: bool, grows: bool) -> float:
    x, y = np.array([p[0] for p in points], np.float64), np.array([p[1] for p in points], np.float64)
    if not several:
        return float(y.mean()) * (at / float(x.mean()) if grows else 1.0)
    slope, constant = np.polyfit(x, y, 1)
    if slope <= 0:  # a line would reach nothing at some ranks
        return float(y[x == x.max()].mean())
    return max(0.0, float(slope * at + constant))


def to_record(model: Model) -> dict[str, Any]:
    def of(make: Callable[[dict[str, int]], Mapping[str, float]]) -> list[dict[str, Any]]:
        return [{"times": k, "variables": model.ahead(k), "values": dict(make(model.ahead(k)))} for k in AHEAD]

    return {
        "runs": [{"variables": s.variables, "counts": s.counts, "seconds": s.seconds} for s in model.scales],
        "laws": {
            name: {
                "text": law.text(model.factors),
                "variable": law.variable,
                "slope": float(law.slope),
                "constant": float(law.constant),
                "proven": law.proven,
            }
            for name, law in model.laws.items()
        },
        "unexplained": list(model.unexplained),
        "counts_ahead": of(model.counts_at),
        "seconds_ahead": of(lambda variables: model.seconds_at(variables["ranks"])),
        "basis": model.basis,
    }
