"""ratios.py: a preset's run, and a second job for ratios that need another MPI-IO library than the first one has."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.base import launch
from penstock.measure import records
from penstock.measure.campaign.events import Event
from penstock.measure.campaign.run import Outcome, run

PROGRAM = "penstock-bench"
FIRST_SHARE = 0.85  # of the time limit, where a second job may follow

Listen = Callable[[Event], None]


@dataclass(frozen=True)
class Job:
    """What to measure: ARGUMENTS are penstock-bench's own, without --only, --time-limit, --dir and --json."""

    mpi: launch.Mpi
    np: int
    arguments: list[str]
    only: str | None
    time_limit: float | None
    scratch: Path

    def start(self, name: str, only: str | None, limit: float | None, listen: Listen) -> tuple[Outcome, Path]:
        """Runs it once, as NAME; the record, if there is one, is in the path returned."""
        record = self.scratch / f"{name}.json"
        words = [*self.arguments, "--dir", str(self.scratch), "--json", str(record), "--progress"]
        words += ["--only", only] if only is not None else []
        words += ["--time-limit", f"{limit:.3f}"] if limit is not None else []
        command = [*launch.command(PROGRAM, self.mpi, self.np), *words]
        settings = launch.ROMIO if name == "romio" else {}
        return run(command, launch.environment() | settings, listen), record


def run_preset(job: Job, listen: Listen) -> tuple[Outcome, dict[str, Any] | None]:
    """Runs JOB, and a second job where that can measure what the first could not; the record has both."""
    start = time.monotonic()
    limit = job.time_limit
    if limit is not None and job.mpi is launch.Mpi.openmpi:
        limit *= FIRST_SHARE
    outcome, path = job.start("first", job.only, limit, listen)
    if not path.is_file():
        return outcome, None
    content = records.read(path, records.PRESET)
    missing = [str(ratio["id"]) for ratio in content["ratios"] if ratio.get("needs") == "romio"]
    if not missing or job.mpi is not launch.Mpi.openmpi:
        return outcome, content
    left = None if job.time_limit is None else job.time_limit - (time.monotonic() - start)
    if left is not None and left <= 0:
        return outcome, content
    second, path = job.start("romio", ",".join(missing), left, listen)
    if not path.is_file():
        content["remarks"] = [f"the second job, under ROMIO, failed: {second.complaint(PROGRAM)}."]
        return (outcome if outcome.status else second), content
    _join(content, records.read(path, records.PRESET))
    return (outcome if outcome.status else second), content


def _join(content: dict[str, Any], second: dict[str, Any]) -> None:
    """Takes the ratios of the job SECOND, and keeps its raw times."""
    measured = {ratio["id"]: ratio for ratio in second["ratios"] if ratio["value"] is not None}
    content["ratios"] = [measured.get(ratio["id"], ratio) for ratio in content["ratios"]]
    for case in second["cases"]:
        case["case"] += " (ROMIO)"
        content["cases"].append(case)
    for ratio in measured.values():
        for side in ratio["sides"]:
            side["case"] += " (ROMIO)"
    settings = " ".join(f"{name}={value}" for name, value in launch.ROMIO.items())
    content["verified"] = content["verified"] and second["verified"]
    content["romio"] = {"environment": launch.ROMIO, "order": second["order"], "provenance": second["provenance"]}
    if measured:
        ids = ", ".join(measured)
        content["remarks"] = [
            f"{ids} comes from a second job after the first, with {settings}: its own interleaved repetitions of both."
        ]
