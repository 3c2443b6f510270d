"""execute.py: the jobs of a campaign, one for each number of ranks, run one after the other on this machine."""

import glob
import json
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from penstock.base import launch
from penstock.base.errors import UserError
from penstock.measure import records
from penstock.measure.campaign import record
from penstock.measure.campaign.events import Event
from penstock.measure.campaign.request import Request
from penstock.measure.campaign.run import Outcome, run
from penstock.measure.campaign.scratch import scratch

PROGRAM = "penstock-bench"

Listen = Callable[[Event], None]


@dataclass(frozen=True)
class Job:
    """What is left of the repetitions on NP ranks. PART counts from 0: a job that was interrupted has several."""

    np: int
    part: int
    repetitions: int


@dataclass(frozen=True)
class Ground:
    """DIRECTORY is on the file system to measure; OUTPUT is the campaign's record."""

    directory: Path
    output: Path


def jobs_left(request: Request, content: record.Content) -> list[Job]:
    """Returns the jobs still to run, in an order that the seed decides: the machine may change while they run, and the
    number of ranks must not follow that.
    """
    left = [
        Job(np, len(record.of_ranks(content, np)), request.repetitions - record.repetitions(content, np))
        for np in request.ranks
        if not record.finished(content, np)
    ]
    random.Random(request.seed).shuffle(left)
    return left


def words(request: Request, np: int, folder: Path) -> list[str]:
    """What penstock-bench is told to measure on NP ranks; the list of cases goes to FOLDER."""
    if request.program:
        return [*request.program, *request.run_words]
    cases = [
        {
            "case": case.name,
            "group": case.group or case.name,
            "words": [*case.words, "--methods", ",".join(case.methods)],
        }
        for case in request.of(np)
    ]
    if not cases:
        raise UserError(f"{request.name}: no case is for {np} ranks")
    path = folder / f"cases.{np}.json"
    path.write_text(json.dumps({"cases": cases}), encoding="utf-8")
    return ["--cases", str(path), *request.run_words]


def execute(
    request: Request, ground: Ground, content: record.Content, watch: Callable[[Job], AbstractContextManager[Listen]]
) -> list[str]:
    """Runs the jobs that are left and adds them to CONTENT, which is saved after each. Returns what went wrong."""
    mpi = launch.Mpi(request.mpi)
    complaints = []
    for job in jobs_left(request, content):
        with scratch(ground.directory) as folder, _kept(ground, request, content, job) as path:
            command = [*launch.command(PROGRAM, mpi, job.np), *words(request, job.np, folder)]
            command += [*_run_words(request, job), "--dir", str(folder), "--json", str(path), "--progress"]
            with watch(job) as listen:
                outcome = run(command, launch.environment() | request.environment, listen)
            if outcome.status != 0:
                complaints.append(_complaint(job, outcome, path))
    return complaints


@contextmanager
def _kept(ground: Ground, request: Request, content: record.Content, job: Job) -> Iterator[Path]:
    """The path of a job's own record, which becomes a part of the campaign's whatever ends the job."""
    path = ground.output.with_name(f"{ground.output.name}.np{job.np}.{job.part}")
    path.unlink(missing_ok=True)
    try:
        yield path
    finally:
        take_in(ground, request, content, job.np, path)


def take_in(ground: Ground, request: Request, content: record.Content, np: int, path: Path) -> None:
    """Adds the record of a job in PATH, if there is one, and removes the file."""
    with suppress(FileNotFoundError):
        if path.stat().st_size > 0:
            record.add(content, np, request, records.read(path, records.CASES))
        record.save(ground.output, content)
        path.unlink()


def left_behind(ground: Ground, request: Request, content: record.Content) -> None:
    """Takes in what a campaign that was killed outright had measured."""
    stem = f"{ground.output.name}.np"
    for path in sorted(ground.output.parent.glob(f"{glob.escape(stem)}*.*")):
        np, _, part = path.name.removeprefix(stem).partition(".")
        if not np.isdigit() or not part.isdigit():
            continue
        if int(part) < len(record.of_ranks(content, int(np))):  # killed between taking it in and removing it
            path.unlink()
        else:
            take_in(ground, request, content, int(np), path)


def _run_words(request: Request, job: Job) -> list[str]:
    # Another part is another order and other contents.
    options = ["--repetitions", str(job.repetitions), "--seed", str(request.seed + 1000003 * job.part)]
    options += ["--time-limit", f"{request.time_limit:g}"] if request.time_limit is not None else []
    return options + (["--half-width", f"{request.half_width:g}"] if request.half_width is not None else [])


def _complaint(job: Job, outcome: Outcome, path: Path) -> str:
    if path.is_file():
        failed = records.read(path, records.CASES)
        wrong = [
            f"{case['case']}: {line['method']}: {line['error'] or 'did not verify'}"
            for case in failed["cases"]
            for line in case["results"]
            if line.get("error") or not line["verified"]
        ]
        if wrong:
            return f"{job.np} ranks: {'; '.join(dict.fromkeys(wrong))}"
    return f"{job.np} ranks: {outcome.complaint(PROGRAM)}"
