"""queue.py: Slurm's own commands: submitting a job script, and what became of jobs."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.base.errors import UserError

_WAITING = {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "SUSPENDED"}
_RUNNING = {"RUNNING", "COMPLETING", "SIGNALING", "STAGE_OUT", "RESIZING", "STOPPED"}
_ENDS = {
    "CANCELLED": "cancelled",
    "FAILED": "failed",
    "TIMEOUT": "out of its time (--time)",
    "DEADLINE": "out of its time",
    "OUT_OF_MEMORY": "out of memory",
    "NODE_FAIL": "lost a node",
    "BOOT_FAIL": "lost a node",
    "PREEMPTED": "preempted",
}


@dataclass(frozen=True)
class Standing:
    """STATE is Slurm's word, as PENDING or TIMEOUT, "" where it has forgotten the job; REASON is why it waits."""

    state: str = ""
    reason: str = ""

    @property
    def waiting(self) -> bool:
        return self.state in _WAITING

    @property
    def running(self) -> bool:
        return self.state in _RUNNING

    def __str__(self) -> str:
        if self.running:
            return "running"
        if not self.waiting:
            return _ENDS.get(self.state, "ended")
        if self.reason == "Dependency":
            return "waiting for the job before it"
        return "waiting" if self.reason in ("", "None", "Priority") else f"waiting ({self.reason})"


def submit(script: Path, after: Sequence[str]) -> str:
    """The number of the new job, which starts when the jobs AFTER have ended, however they end."""
    depends = [f"--dependency=afterany:{':'.join(after)}"] if after else []
    done = _call(["sbatch", "--parsable", *depends, str(script)])
    if done.returncode != 0:
        reason = "; ".join((done.stderr.strip() or done.stdout.strip()).splitlines())
        raise UserError(f"sbatch {script}: {reason}", 1)
    return done.stdout.strip().split(";")[0]


def standings(jobs: Sequence[str]) -> dict[str, Standing]:
    """How each of JOBS stands: as the queue says, and as accounting says of those that have left it."""
    if not jobs:
        return {}
    done = _call(["squeue", "--noheader", "--states=all", "--format=%i|%T|%r", f"--jobs={','.join(jobs)}"])
    if done.returncode != 0 and "Invalid job id" not in done.stderr:  # so it says where it has forgotten all of them
        raise UserError(f"squeue: {done.stderr.strip()}", 1)
    known = {job: Standing(state, reason) for job, state, reason in _fields(done.stdout, 3)}
    forgotten = [job for job in jobs if job not in known]
    return known | _accounted(forgotten) if forgotten else known


def _accounted(jobs: list[str]) -> dict[str, Standing]:
    standings = dict.fromkeys(jobs, Standing())
    words = ["sacct", "--noheader", "--allocations", "--parsable2", "--format=JobID,State", f"--jobs={','.join(jobs)}"]
    try:
        done = _call(words)
    except UserError:
        return standings
    # "CANCELLED by 1000"; a cluster without accounting says so on standard error, and nothing else.
    return standings | {job: Standing(state.split()[0]) for job, state in _fields(done.stdout, 2) if state}


def _fields(text: str, count: int) -> list[list[str]]:
    return [fields for line in text.splitlines() if len(fields := line.strip().split("|")) == count]


def _call(words: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise UserError(f"{words[0]} is not in PATH: is this a machine with Slurm?") from None
