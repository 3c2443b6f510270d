"""trial.py: one pattern as it is, the same again, and as remedies would have it; what makers of such share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock.diagnose.facts import Facts
from penstock.diagnose.finding import Finding
from penstock.diagnose.replay import source
from penstock.diagnose.replay.source import FULL, Most, Source
from penstock.diagnose.replay.steps import READ, WRITE, Steps, Variant, extents, joined
from penstock.diagnose.rules.common import UNCHANGED

PLAYED_HINTS = ("romio_", "cb_", "ind_")  # those of ROMIO that say how it moves bytes
AGAIN = "before, again"  # the A/A control
RUN = "penstock run"


@dataclass(frozen=True)
class Trial:
    path: str
    variants: Sequence[Variant]  # as it is, the same again, and remedies
    exact: bool
    note: str
    sieves: bool = False  # the library of the log moves more than it is given


@dataclass(frozen=True)
class Asked:
    facts: Facts
    finding: Finding
    path: str
    ranks: int
    most: Most = FULL


def comparison(asked: Asked, found: Source, before: Variant, *remedies: Variant) -> Trial:
    """Through MPI-IO all with the hints that the program gave, where they are known; a remedy's own go before them. If
    the finding says so, the same calls as before are a remedy too, taken over as `penstock run` does.
    """
    given = program_hints(asked.facts, asked.path) if before.interface == "mpiio" else {}
    played = [replace(before, hints=before.hints | given)]
    played.append(replace(played[0], name=AGAIN))
    played += [replace(one, hints=given | one.hints) if one.interface == "mpiio" else one for one in remedies]
    if UNCHANGED in asked.finding.remedies and _is_taken_over(played[0]):
        played.append(replace(played[0], name=RUN, taken_over=True))
    return Trial(asked.path, played, found.exact, f"{found.note}{_hints_note(asked, given, before)}")


def _is_taken_over(one: Variant) -> bool:
    """Whether ONE writes through MPI-IO, one file, all ranks together or each for itself."""
    return one.interface == "mpiio" and one.files == 1 and any((rank["act"] == WRITE).any() for rank in one.steps)


def program_hints(facts: Facts, path: str) -> dict[str, str]:
    """Returns the MPI-IO hints for the file PATH: those in effect, else those requested. Only our traces have them."""
    made: dict[str, str] = {}
    for step in facts.job.steps:
        if step.path == path:
            taken = {name: step.hints_effective.get(name) or asked for name, asked in step.hints_requested.items()}
            made |= {name: value for name, value in taken.items() if name.startswith(PLAYED_HINTS)}
    return made


def _hints_note(asked: Asked, given: dict[str, str], before: Variant) -> str:
    if given:
        return "; the program's hints: " + ", ".join(f"{name}={value}" for name, value in sorted(given.items()))
    at = asked.facts.mpi.index(asked.path)
    has_some = before.interface == "mpiio" and at is not None and float(asked.facts.mpi.of("HINTS")[at]) > 0
    return "; the program gave hints, which the log does not name" if has_some else ""


IN_VIEWS = "the logged accesses are not replayed: the program set file views, and the log may have offsets within them"


def of_mpi(asked: Asked, verb: str) -> Source:
    at = asked.facts.mpi.index(asked.path)
    assert at is not None
    exact = source.logged(asked.facts, "MPI-IO", asked.path, asked.ranks, asked.most)
    if exact is not None:
        act = READ if verb == "READ" else WRITE
        kept = [joined(one[one["act"] == act]) for one in exact.steps]
        if any(map(len, kept)) and (asked.facts.mpi.of("VIEWS")[at] == 0 or _of_file(asked, act, kept)):
            return replace(exact, steps=kept)
    made = source.of_mpi(asked.facts, asked.path, verb, asked.ranks, asked.most)
    return made if exact is None or not any(map(len, kept)) else replace(made, note=f"{made.note}; {IN_VIEWS}")


def _of_file(asked: Asked, act: int, of: Sequence[Steps]) -> bool:
    """Whether offsets are those of the file, though views were set: else all ranks would begin at the same ones. And
    whether each access is in one piece: then they fill the stretch that they reach over.
    """
    if asked.ranks < 2 or len(of) < asked.facts.ranks:
        return False  # of some of the ranks nobody knows what lies between them
    whole = extents(of, act)
    moved = sum(int(one["length"].sum()) for one in of)
    return len(whole) == 1 and int(whole[0, 2] - whole[0, 1]) == moved


def of_posix(asked: Asked, verb: str) -> Source:
    exact = source.logged(asked.facts, "POSIX", asked.path, asked.ranks, asked.most)
    if exact is not None:
        act = READ if verb == "READ" else WRITE
        kept = [joined(one[one["act"] == act]) for one in exact.steps]
        if any(map(len, kept)):
            return replace(exact, steps=kept)
    return source.of_posix(asked.facts, asked.path, verb, asked.ranks, asked.most)


def through_mpi(name: str, of: Sequence[Steps], found: Source, collective: bool, **hints: str) -> Variant:
    return Variant(name, of, "mpiio", collective, found.views, hints)


def mean(found: Source) -> float:
    return sum(float(one["length"].sum()) for one in found.steps) / max(1, sum(map(len, found.steps)))


def uneven(found: Source) -> bool:
    """Whether ranks make different numbers of calls, which would have to be made up for."""
    return len({len(one) for one in found.steps}) > 1
