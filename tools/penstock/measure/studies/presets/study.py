"""study.py: what every preset has: scaled parameters, what does not fit here, figures and conclusions."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from penstock.base import launch, words
from penstock.measure.campaign.request import Case, Request
from penstock.measure.studies.conclusions import Conclusion
from penstock.measure.studies.figures import Figure, Points, axis, figure, rates
from penstock.measure.studies.pooled import Pooled

KIB, MIB, GIB = 2**10, 2**20, 2**30
ELEMENT = 16  # bytes of the largest type of numbers
OURS = "hdf5/two_phase"
PER_PROCESS = "raw/per_process"
AS_IOR = "puts=apart,read_back=none"  # of MPI-IO: a call for each transfer, and nothing is read back
DEFAULT_RANKS = (4, 8)
DEFAULT_SCALE = 0.1


@dataclass(frozen=True)
class Asked:
    """What the user chose of a preset. LARGEST is the most bytes of one file here."""

    ranks: tuple[int, ...] = DEFAULT_RANKS
    scale: float = DEFAULT_SCALE
    repetitions: int | None = None
    largest: int = 0
    words: tuple[str, ...] = ()  # of every case, as --regime cached
    mpi: str = launch.HERE.value

    @property
    def most(self) -> int:
        """The largest number of ranks."""
        return max(self.ranks)

    def ceiling(self) -> int:
        """Returns the most bytes that one file may have: as asked for, else a sixteenth of the available memory."""
        return self.largest or available_memory() // 16


@dataclass
class Sized:
    """Cases, and what was left out on the way to them."""

    cases: list[Case] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    program: tuple[str, ...] = ()


@dataclass(frozen=True)
class Study:
    name: str
    title: str
    source: str
    axis: tuple[int, ...]  # its numbers of processes
    build: Callable[[Asked], Sized]
    figures: Callable[[Pooled], list[Figure]]
    conclusions: Callable[[Pooled], list[Conclusion]]
    repetitions: int = 6
    environment: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()  # what is not as it was, wherever this runs

    def request(self, asked: Asked) -> Request:
        sized = self.build(asked)
        missing = [ranks for ranks in self.axis if ranks not in asked.ranks]
        cut = [f"{_listed(missing)} processes: measured on {_listed(asked.ranks)} here"] if missing else []
        mpich = asked.mpi == "mpich"  # whose MPI-IO library is ROMIO always
        return Request(
            name=self.name,
            ranks=asked.ranks,
            cases=tuple(sized.cases),
            repetitions=asked.repetitions or self.repetitions,
            program=sized.program,
            mpi=asked.mpi,
            environment={} if mpich else self.environment,
            title=self.title,
            source=self.source,
            preset=self.name,
            scale=asked.scale,
            cut=(*cut, *sized.cut, *self.remarks),
        )


def available_memory() -> int:
    """Bytes that programs may still take on this machine."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * KIB
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def per_rank(asked: Asked, bytes_of_study: float, sized: Sized, what: str) -> int:
    """BYTES_OF_STUDY for each process, scaled, and no more than fits on the largest number of ranks."""
    wanted = bytes_of_study * asked.scale
    most = asked.ceiling() / asked.most
    if wanted <= most:
        return whole(wanted, ELEMENT)
    sized.cut.append(
        f"{what}: {words.size(bytes_of_study)} for each process, scaled {words.size(int(wanted))}: "
        f"{words.size(int(most))} here, since files are kept under a sixteenth of the free memory (--largest)"
    )
    return whole(most, ELEMENT)


def strong(asked: Asked, total: float, ranks_of_study: int) -> float:
    """The bytes for each process that the study had on its largest number of processes, on the largest number here."""
    return total / ranks_of_study * asked.most


def fits(asked: Asked, size: float, sized: Sized, what: str) -> bool:
    """Whether a file of SIZE bytes is measured here; else WHAT is cut."""
    if size <= asked.ceiling():
        return True
    sized.cut.append(
        f"{what}: {words.size(int(size))} is more than the {words.size(asked.ceiling())} of a file here (--largest)"
    )
    return False


def whole(size: float, unit: int) -> int:
    """SIZE as a multiple of UNIT, at least one."""
    return max(1, int(size // unit)) * unit


def against_ranks(pooled: Pooled, case: str, operation: str, identity: str, title: str) -> Figure:
    """MiB/s of every method against the number of processes, which is the axis of most of the studies."""
    series: dict[str, Points] = {
        method: rates((np, pooled.get(case, method, operation, np)) for np in pooled.ranks())
        for method in pooled.methods(case)
    }
    return figure(identity, title, axis("processes", "log"), axis("MiB/s", "log"), series)


def both_against_ranks(pooled: Pooled, case: str, title: str) -> list[Figure]:
    stem = case.replace(" ", "-")
    return [
        against_ranks(pooled, case, operation, f"{stem}-{operation}", f"{title}: {doing}")
        for operation, doing in (("write", "writing"), ("read", "reading"))
    ]


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(str(number) for number in numbers)
