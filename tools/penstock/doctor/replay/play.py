"""play.py: ways of doing the same, run in turn by penstock-bench; their times and the bytes that the kernel moved."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.campaign import launch
from penstock.campaign.ratios import ROMIO
from penstock.campaign.run import run
from penstock.campaign.scratch import scratch
from penstock.doctor.replay.steps import Case, write_pattern
from penstock.errors import UserError
from penstock.report import records

PROGRAM = "penstock-bench"
MOVED = ("read_bytes", "written_bytes", "reads", "writes")


@dataclass(frozen=True)
class Stage:
    """Where to play: DIRECTORY's file system, RANKS at most, under MPI."""

    directory: Path
    ranks: int
    mpi: launch.Mpi
    repetitions: int
    seconds: float  # of one finding, at most


@dataclass(frozen=True)
class Played:
    name: str
    seconds: tuple[float, ...]  # of the slowest rank, by repetition
    moved: dict[str, float]  # by all ranks together, MOVED
    error: str

    @property
    def median(self) -> float:
        return statistics.median(self.seconds) if self.seconds else float("nan")


def play(stage: Stage, cases: Sequence[Case]) -> list[list[Played]]:
    """By case and variant; all of them have as many ranks."""
    ranks = len(cases[0][1][0].steps)
    with scratch(stage.directory) as folder:
        pattern = write_pattern(folder, cases)
        record = folder / "record.json"
        given = [str(pattern), "--dir", str(folder), "--json", str(record), "--repetitions", str(stage.repetitions)]
        given += ["--time-limit", str(stage.seconds), "--progress"]
        command = [*launch.mpiexec(stage.mpi, ranks), str(launch.program(PROGRAM, stage.mpi)), "replay", *given]
        outcome = run(command, launch.environment() | ROMIO, lambda _event: None)
        if not record.is_file():
            raise UserError(f"the replay failed: {outcome.complaint(PROGRAM)}")
        content = records.read(record, "penstock.cases/1")
    return [
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
