"""slurm.py: a campaign as jobs of Slurm, one for each number of ranks, and what came of them."""

import json
import math
import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.base.errors import UserError
from penstock.measure import records
from penstock.measure.campaign import queue, record
from penstock.measure.campaign.request import Request, read_request

JOBS = "jobs.json"
CAMPAIGN = "campaign.toml"
TAIL = 6  # lines of a failed job's output
PROGRESS = re.compile(r"(Repetition \d+|Warm-up): |\d+ runs to do\.|\d+ ranks? \(job ")  # lines that end no job


@dataclass(frozen=True)
class Wishes:
    """What a job asks of Slurm. DIRECTORY is the file system to measure; SETUP lines come before the run."""

    directory: Path
    partition: str | None = None
    account: str | None = None
    time: str | None = None
    nodes: int | None = None
    tasks_per_node: int | None = None
    setup: tuple[str, ...] = ()
    more: tuple[str, ...] = ()  # further options of sbatch
    together: bool = False


@dataclass(frozen=True)
class JobState:
    np: int
    job: str | None
    state: str  # "finished", "under way" (waiting or running), "ended", "not submitted"
    details: str  # the same in more words
    repetitions: int
    output: str  # its end, where the job ended too early


def write_scripts(request: Request, file: Path, folder: Path, wishes: Wishes) -> dict[int, Path]:
    """The job script of each number of ranks, and a copy of the campaign, in FOLDER."""
    _refuse_another(request, folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if file.resolve() != (folder / CAMPAIGN).resolve():
            shutil.copyfile(file, folder / CAMPAIGN)
        scripts = {}
        for np in request.ranks:
            scripts[np] = folder / f"np{np}.sh"
            scripts[np].write_text(script(request, np, folder.resolve(), wishes), encoding="utf-8")
            scripts[np].chmod(0o755)
    except OSError as error:
        raise UserError(f"{error.filename or folder}: {error.strerror}") from None
    return scripts


def script(request: Request, np: int, folder: Path, wishes: Wishes) -> str:
    output = str(folder / f"np{np}.out").replace("%", "%%")
    options = [
        f"--job-name=penstock-{re.sub(r'[^A-Za-z0-9_.-]+', '-', request.name)}-np{np}",
        f"--ntasks={np}",
        f"--output={shlex.quote(output)}",
        "--open-mode=append",
    ]
    for name, value in (
        ("partition", wishes.partition),
        ("account", wishes.account),
        ("time", wishes.time or _time(request)),
        ("nodes", wishes.nodes),
        ("ntasks-per-node", wishes.tasks_per_node),
    ):
        options += [f"--{name}={value}"] if value is not None else []
    command = [sys.executable, "-m", "penstock", "campaign", "run", str(folder / CAMPAIGN), "--np", str(np)]
    command += ["--json", str(folder / f"np{np}.json"), "--dir", str(wishes.directory.resolve()), "--resume"]
    programs = os.environ.get("PENSTOCK_BIN")
    lines = [
        "#!/bin/bash",
        f"# The campaign '{' '.join(request.name.split())}' on {np} ranks. Submitted again, by hand too,",
        f"# it goes on with what np{np}.json lacks; 'penstock campaign collect' gathers what the jobs leave.",
        *(f"#SBATCH {option}" for option in [*options, *wishes.more]),
        *([f"export PENSTOCK_BIN={shlex.quote(programs)}"] if programs else []),
        *wishes.setup,
        "# Its ranks are started by srun. exec: a cancelled job's signal reaches it, and it keeps what it has.",
        f"exec {shlex.join(command)}",
    ]
    return "\n".join(lines) + "\n"


def submit(request: Request, folder: Path, scripts: dict[int, Path], wishes: Wishes) -> dict[int, str]:
    """Submits the scripts that are neither finished nor queued, each to start when those before have ended."""
    known = _jobs(folder)
    states = {one.np: one for one in look(request, folder)}
    before = [one.job for one in states.values() if one.state == "under way" and one.job is not None]
    left = [np for np in scripts if states[np].state in ("ended", "not submitted")]
    new: dict[int, str] = {}
    for np in left:
        try:
            new[np] = queue.submit(scripts[np], [] if wishes.together else before)
        except UserError as error:
            done = f"submitted: {_list(list(new))}" if new else "none was submitted"
            raise UserError(f"{error} ({done}; not submitted: {_list(left[len(new) :])})", 1) from None
        before = [new[np]]  # which waits for all the others
        known[np] = new[np]
        _save(folder, known)
    return new


def look(request: Request, folder: Path) -> list[JobState]:
    """How each job is doing."""
    return _look(request, folder, {np: _measured(request, folder, np) for np in request.ranks})


def collect(folder: Path) -> tuple[Request, record.Content, list[JobState]]:
    """One record of all that the jobs in FOLDER have measured so far, and how each of them is doing."""
    request = read_request(folder / CAMPAIGN)
    content = record.new(request, ["campaign", "collect", str(folder)])
    measured = {np: _measured(request, folder, np) for np in request.ranks}
    for one in measured.values():
        content["jobs"] += one["jobs"]
    return request, content, _look(request, folder, measured)


def _look(request: Request, folder: Path, measured: dict[int, record.Content]) -> list[JobState]:
    known = _jobs(folder)
    left = [np for np in request.ranks if not record.finished(measured[np], np)]
    standings = queue.standings([known[np] for np in left if np in known])
    states = []
    for np in request.ranks:
        job, done = known.get(np), record.repetitions(measured[np], np)
        if np not in left:
            states.append(JobState(np, job, "finished", "finished", done, ""))
        elif job is None:
            states.append(JobState(np, None, "not submitted", "not submitted", done, ""))
        elif (standing := standings[job]).waiting or standing.running:
            states.append(JobState(np, job, "under way", str(standing), done, ""))
        else:
            states.append(JobState(np, job, "ended", str(standing), done, _tail(folder / f"np{np}.out")))
    return states


def _measured(request: Request, folder: Path, np: int) -> record.Content:
    """All that jobs on NP ranks have measured so far, one that is running or was killed outright included."""
    # First what is kept beside the record: meanwhile a job may end and move it there.
    beside = _beside(folder, np)
    content = record.new(request, [])
    path = folder / f"np{np}.json"
    if path.is_file():
        content["jobs"] = records.read(path, records.CAMPAIGN)["jobs"]
    for part in sorted(beside):
        if part >= len(record.of_ranks(content, np)):
            record.add(content, np, request, beside[part])
    return content


def _beside(folder: Path, np: int) -> dict[int, record.Content]:
    """Returns, keyed by part, the records that `campaign run` has not yet merged into the record for NP ranks."""
    found = {}
    for path in folder.glob(f"np{np}.json.np{np}.*"):
        part = path.suffix[1:]
        if not part.isdigit():
            continue  # half written
        try:
            found[int(part)] = records.read(path, records.CASES)
        except UserError:
            if path.exists():
                raise
    return found


def _refuse_another(request: Request, folder: Path) -> None:
    """A folder is of one campaign: what was measured for another would pass as this one's."""
    if not (folder / CAMPAIGN).is_file() or not ((folder / JOBS).exists() or list(folder.glob("np*.json"))):
        return
    before, now = read_request(folder / CAMPAIGN).identity(), request.identity()
    different = [name for name in now if before.get(name) != now[name]]
    if different:
        raise UserError(f"{folder} is of another campaign (different: {', '.join(different)}); name another --folder")


def _time(request: Request) -> str | None:
    """Minutes of a job: its time limit, and what goes before and after measuring."""
    return None if request.time_limit is None else str(math.ceil(1.25 * request.time_limit / 60) + 5)


def _tail(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "it left no output"
    lines = [line.strip() for line in text.splitlines()]
    return " | ".join([line for line in lines if line and not PROGRESS.match(line)][-TAIL:]) or "its output is empty"


def _list(ranks: list[int]) -> str:
    return ", ".join(f"np{np}" for np in ranks)


def _jobs(folder: Path) -> dict[int, str]:
    try:
        content: dict[str, Any] = json.loads((folder / JOBS).read_text(encoding="utf-8"))
        return {int(np): str(job) for np, job in content.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        raise UserError(f"{folder / JOBS}: {error}") from None


def _save(folder: Path, jobs: dict[int, str]) -> None:
    path = folder / JOBS
    partial = path.with_name(f"{JOBS}.partial")
    partial.write_text(json.dumps({str(np): job for np, job in jobs.items()}) + "\n", encoding="utf-8")
    partial.replace(path)
