"""trial.py: one pattern as it is, the same again, and as remedies would have it; what makers of such share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock.doctor.facts import Facts
from penstock.doctor.finding import Finding
from penstock.doctor.replay import source
from penstock.doctor.replay.source import Source
from penstock.doctor.replay.steps import READ, WRITE, Steps, Variant, joined

AGAIN = "before, again"  # the A/A control


@dataclass(frozen=True)
class Trial:
    path: str
    variants: Sequence[Variant]  # as it is, the same again, and remedies
    exact: bool
    note: str


@dataclass(frozen=True)
class Asked:
    facts: Facts
    finding: Finding
    path: str
    ranks: int


def comparison(asked: Asked, found: Source, before: Variant, *remedies: Variant) -> Trial:
    return Trial(asked.path, [before, replace(before, name=AGAIN), *remedies], found.exact, found.note)


def of_mpi(asked: Asked, verb: str) -> Source:
    at = asked.facts.mpi.index(asked.path)
    assert at is not None
    if asked.facts.mpi.of("VIEWS")[at] == 0:  # in a view offsets are not those of the file
        exact = source.logged(asked.facts, "MPI-IO", asked.path, asked.ranks)
        if exact is not None:
            act = READ if verb == "READ" else WRITE
            kept = [joined(one[one["act"] == act]) for one in exact.steps]
            if any(map(len, kept)):
                return replace(exact, steps=kept)
    return source.of_mpi(asked.facts, asked.path, verb, asked.ranks)


def of_posix(asked: Asked, verb: str) -> Source:
    exact = source.logged(asked.facts, "POSIX", asked.path, asked.ranks)
    if exact is not None:
        act = READ if verb == "READ" else WRITE
        kept = [joined(one[one["act"] == act]) for one in exact.steps]
        if any(map(len, kept)):
            return replace(exact, steps=kept)
    return source.of_posix(asked.facts, asked.path, verb, asked.ranks)


def through_mpi(name: str, of: Sequence[Steps], found: Source, collective: bool, **hints: str) -> Variant:
    return Variant(name, of, "mpiio", collective, found.views, hints)


def mean(found: Source) -> float:
    return sum(float(one["length"].sum()) for one in found.steps) / max(1, sum(map(len, found.steps)))


def uneven(found: Source) -> bool:
    """Whether ranks make different numbers of calls, which would have to be made up for."""
    return len({len(one) for one in found.steps}) > 1
