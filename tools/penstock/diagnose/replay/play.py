"""play.py: ways of doing the same, run in turn by penstock-bench; their times and the bytes that the kernel moved."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.base import launch, preload
from penstock.base.errors import UserError
from penstock.diagnose.replay.steps import Case, write_pattern
from penstock.measure import records
from penstock.measure.campaign.events import Event, Run
from penstock.measure.campaign.run import run
from penstock.measure.campaign.scratch import scratch
from penstock.measure.unmodified.request import NAME as LIBRARY
from penstock.measure.unmodified.request import PREFIX

PROGRAM = "penstock-bench"
START_SECONDS = 1.0  # of a launcher
MOVED = ("read_bytes", "written_bytes", "reads", "writes")


Listen = Callable[[int, int], None]  # runs done, of how many


@dataclass(frozen=True)
class Stage:
    """Where to play: DIRECTORY's file system, RANKS at most, under MPI; all findings together for SECONDS at most."""

    directory: Path
    ranks: int
    mpi: launch.Mpi
    repetitions: int
    seconds: float


@dataclass(frozen=True)
class Played:
    name: str
    seconds: tuple[float, ...]  # of the slowest rank, by repetition
    moved: dict[str, float]  # by all ranks together, MOVED
    error: str

    @property
    def median(self) -> float:
        return statistics.median(self.seconds) if self.seconds else float("nan")


@dataclass(frozen=True)
class Whole:
    """All that was played, [case][variant]; every variant runs on the same number of ranks."""

    cases: list[list[Played]]
    round_seconds: float  # of all ways once, with what is made and looked at before and after them
    repetitions: int


class OverError(Exception):
    """Time was over before everything was played once."""


def can_take_over(mpi: launch.Mpi) -> bool:
    """Whether there is the library of `penstock run`, where it can be preloaded."""
    try:
        return bool(preload.preloaded(preload.library(LIBRARY, mpi)))
    except UserError:
        return False


def _taking_over(mpi: launch.Mpi, cases: Sequence[Case]) -> dict[str, str]:
    """The library of `penstock run`, for those ways that it is to take over: the bench has each in FOLDER/NUMBER/0."""
    every = [one for _, variants in cases for one in variants]
    rules = [f"*/{number}/0=auto" for number, one in enumerate(every) if one.taken_over]
    if not rules:
        return {}
    library = preload.library(LIBRARY, mpi)
    return {"LD_PRELOAD": preload.preloaded(library, last=True), f"{PREFIX}PLAN": ";".join([*rules, "none"])}


def play(stage: Stage, cases: Sequence[Case], seconds: float, listen: Listen) -> Whole:
    """Plays all variants of CASES in turn, for at most SECONDS, with fewer repetitions if they do not fit. Raises
    OverError if not even one fits.
    """
    ranks = len(cases[0][1][0].steps)
    spent, last = 0.0, 0

    def heard(event: Event) -> None:
        nonlocal spent, last
        if isinstance(event, Run):
            spent += event.seconds
            last = max(last, event.repetition)
            listen(event.done, event.of)

    with scratch(stage.directory) as folder:
        pattern = write_pattern(folder, cases)
        record = folder / "record.json"
        given = [str(pattern), "--dir", str(folder), "--json", str(record), "--repetitions", str(stage.repetitions)]
        given += ["--time-limit", f"{max(0.1, seconds - START_SECONDS):.3f}", "--progress"]
        command = [*launch.command(PROGRAM, stage.mpi, ranks), "replay", *given]
        command, changes = preload.with_ranks(command, _taking_over(stage.mpi, cases))
        began = time.monotonic()
        outcome = run(command, launch.environment() | launch.ROMIO | changes, heard, seconds)
        if not record.is_file():
            if time.monotonic() - began >= seconds:
                raise OverError
            raise UserError(f"the replay failed: {outcome.complaint(PROGRAM)}")
        content = records.read(record, records.CASES)
    found = [
        [
            Played(
                str(line["method"]),
                tuple(line["seconds"]),
                {name: float(line.get(name, 0)) for name in MOVED},
                str(line["error"] or ""),
            )
            for line in one["results"]
        ]
        for one in content["cases"]
    ]
    return Whole(found, spent / (last + 1), last)
