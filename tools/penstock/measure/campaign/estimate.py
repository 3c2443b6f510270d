"""estimate.py: what a campaign would move, how long it would take and what it needs, before any of it runs."""

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.base import launch, words
from penstock.base.errors import UserError
from penstock.base.relay import relay
from penstock.measure.campaign import execute
from penstock.measure.campaign.request import Request
from penstock.measure.campaign.run import Outcome

# Beside moving its bytes once each way, a run fills, reads back and compares them, and opens and closes files.
SECONDS_PER_RUN = 0.05
CHECKED_MIB_PER_SECOND = 700.0  # by one rank


@dataclass(frozen=True)
class CaseNeed:
    name: str
    bytes: int
    methods: int
    seconds: float  # of all its repetitions


@dataclass(frozen=True)
class JobNeed:
    np: int
    cases: tuple[CaseNeed, ...]
    disk_bytes: int
    memory_bytes: int

    @property
    def seconds(self) -> float:
        return sum(case.seconds for case in self.cases)


@dataclass(frozen=True)
class Needs:
    jobs: tuple[JobNeed, ...]
    free_bytes: int
    memory_available: int
    write: float  # MiB/s of the device, just measured; 0 where it was not
    read: float
    unavailable: tuple[str, ...]  # methods that this build has not

    def refusal(self, directory: Path) -> str | None:
        """Why it cannot be run; None where it can."""
        disk = max(self.jobs, key=lambda job: job.disk_bytes)
        if disk.disk_bytes > self.free_bytes:
            return (
                f"{directory} has {words.size(self.free_bytes)} free, the job on {disk.np} ranks needs "
                f"{words.size(disk.disk_bytes)}: choose another --dir or less data"
            )
        memory = max(self.jobs, key=lambda job: job.memory_bytes)
        if 0 < self.memory_available < memory.memory_bytes:
            return (
                f"{words.size(self.memory_available)} of memory are available, the job on {memory.np} ranks needs "
                f"{words.size(memory.memory_bytes)}: less data, or more nodes"
            )
        return None


def estimate(request: Request, directory: Path) -> Needs:
    """Has one process of penstock-bench say what REQUEST needs in DIRECTORY."""
    mpi = launch.Mpi(request.mpi)
    command = launch.command(execute.PROGRAM, mpi, 1)
    jobs: list[JobNeed] = []
    needs: dict[str, Any] = {}
    missing: dict[str, None] = {}
    for np in request.ranks:
        with tempfile.TemporaryDirectory(prefix="penstock-estimate-") as folder:
            asked = [*execute.words(request, np, Path(folder)), "--dry-run", "--np-virtual", str(np)]
            asked += ["--repetitions", str(request.repetitions)]
            needs = _ask([*command, *asked, "--dir", str(directory)], request)
        job = needs["jobs"][0]
        if "error" in job:
            raise UserError(f"{np} ranks: {job['error']}")
        jobs.append(_job(job, needs["ceiling"], request))
        missing |= dict.fromkeys(f"{one['case']}: {one['reason']}" for one in needs["unavailable"])
    ceiling = needs["ceiling"]
    return Needs(
        tuple(jobs),
        int(needs["free_bytes"]),
        int(needs["memory_available_bytes"]),
        float(ceiling["best_write"]),
        float(ceiling["best_read"]),
        tuple(missing),
    )


def _ask(command: list[str], request: Request) -> dict[str, Any]:
    environment = launch.environment() | request.environment
    with relay() as errors:
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, stderr=errors.file, text=True, check=False
        )
    if done.returncode != 0:
        raise UserError(Outcome(done.returncode, errors.lines()).complaint(execute.PROGRAM), 2)
    answer: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
    return answer


def _job(job: dict[str, Any], ceiling: dict[str, Any], request: Request) -> JobNeed:
    rates = [float(ceiling["best_write"]) or 500.0, float(ceiling["best_read"]) or 500.0]
    cases = []
    for case in job["cases"]:
        size = int(case["bytes"])
        mib = size / 2**20
        once = SECONDS_PER_RUN + sum(mib / rate for rate in rates) + 3 * mib / CHECKED_MIB_PER_SECOND
        once += 2 * float(case["compute_seconds"])
        runs = len(case["methods"]) * (request.repetitions + 1)  # the warm-up too
        cases.append(CaseNeed(str(case["case"]), size, len(case["methods"]), once * runs))
    return JobNeed(int(job["np"]), tuple(cases), int(job["disk_bytes"]), int(job["memory_bytes"]))
