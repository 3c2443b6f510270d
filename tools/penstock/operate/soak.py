"""soak.py: jobs that write checkpoints, are killed now and then, and restart; what was lost is counted."""

import contextlib
import json
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from penstock.base import launch, words
from penstock.operate.leftovers.remove import remove
from penstock.operate.leftovers.survey import LeftOver, Rules, survey

PROGRAM = "penstock-soak"
HANGS_AFTER = 120.0  # seconds without a word
# Commits: what a process holds then is what it may go on holding. By then every way has filled what it stages data in.
SETTLED_AFTER = 500
MAY_GROW_KIB = 32 << 10
MAY_OPEN = 8


@dataclass
class Tally:
    """What happened so far."""

    jobs: int = 0
    kills: int = 0
    commits: int = 0
    restarts: int = 0
    passed_over: int = 0
    cleaned: int = 0
    committed: int = 0  # the last step that a job said it had committed
    lost: int = 0
    hangs: int = 0
    settled: int = 0  # jobs that were long enough to tell whether memory grows
    most_growth_kib: int = 0
    most_files_more: int = 0
    errors: list[str] = field(default_factory=list)

    def good(self) -> bool:
        flat = self.most_growth_kib <= MAY_GROW_KIB and self.most_files_more <= MAY_OPEN
        return not self.lost and not self.hangs and not self.errors and flat


def run(
    tally: Tally,
    dice: random.Random,
    scratch: Path,
    end: float,
    most_ranks: int,
    mpi: launch.Mpi,
    tell: Callable[[str], None],
) -> None:
    """Jobs in SCRATCH one after another until END, by time.monotonic(), or until something is wrong.

    TELL gets a sentence about each.
    """
    writer = [str(launch.program(PROGRAM, mpi))]
    while (left := end - time.monotonic()) > 0 and not tally.errors and not tally.lost:
        ranks = 1 if mpi is launch.Mpi.serial else dice.randint(1, most_ranks)
        seconds = min(left, dice.uniform(2, 30))
        kill_after = dice.uniform(0.3, seconds) if dice.random() < 0.8 else None
        before = tally.commits
        _job(tally, dice, [*launch.mpiexec(mpi, ranks), *writer], scratch, seconds, kill_after)
        how = "killed" if kill_after is not None else "ended"
        tell(f"{ranks} ranks {how} after {tally.commits - before} commits; at step {tally.committed}")
        _clean(tally, scratch)


def _clean(tally: Tally, scratch: Path) -> None:
    """Takes away what the dead left, as `penstock clean` does. All of a job's processes are dead by now."""
    kept: list[LeftOver] = []
    for _ in range(20):
        left = survey(scratch, None, Rules())
        tally.cleaned += sum(remove(one) is None for one in left if one.removable)
        if not (kept := [one for one in left if not one.removable]):
            return
        time.sleep(0.1)  # the system has not buried a process yet
    tally.errors += [f"'{one.name or one.target}' is left: {one.why}" for one in kept]


def _job(
    tally: Tally, dice: random.Random, command: list[str], scratch: Path, seconds: float, kill_after: float | None
) -> None:
    tally.jobs += 1
    job = subprocess.Popen(
        [*command, str(scratch), str(seconds), str(dice.randrange(1 << 32))],
        env=launch.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert job.stdout is not None
    killed = threading.Event()

    def kill() -> None:
        killed.set()
        _kill_some(job.pid, dice)

    def hang() -> None:
        tally.hangs += 1
        _kill_all(job.pid)

    watch = threading.Timer(seconds + HANGS_AFTER, hang)
    killer = threading.Timer(kill_after, kill) if kill_after is not None else None
    watch.start()
    if killer:
        killer.start()
    try:
        errors = _listen(tally, job.stdout)
        job.wait()
    finally:
        watch.cancel()
        if killer:
            killer.cancel()
        _kill_all(job.pid)
    if killed.is_set():  # that the others tell of it is right; that anything else is wrong is not
        tally.kills += 1
        errors = [error for error in errors if "wrong" in error or "newest" in error]
    elif job.returncode != 0 and not errors:
        errors = [f"a job ended with status {job.returncode}"]
    tally.errors += errors


def _listen(tally: Tally, lines: Iterable[str]) -> list[str]:
    """Counts what a job says; the errors that it tells of."""
    errors: list[str] = []
    commits = 0
    resident = files = 0
    for text in lines:
        if not text.startswith("{"):
            continue
        try:
            line = json.loads(text)
        except ValueError:  # a line cut by a kill
            continue
        if "error" in line:
            errors.append(line["error"])
        elif "restarted_at" in line:
            tally.restarts += 1
            tally.passed_over += len(line["passed_over"])
            if line["restarted_at"] < tally.committed:
                tally.lost += 1
                errors.append(f"{tally.committed} was the newest step, a restart found {line['restarted_at']}")
        else:
            tally.committed = line["committed"]
            tally.commits += 1
            commits += 1
            if commits == SETTLED_AFTER:
                tally.settled += 1
                resident, files = line["resident_kib"], line["open_files"]
            elif commits > SETTLED_AFTER:
                tally.most_growth_kib = max(tally.most_growth_kib, line["resident_kib"] - resident)
                tally.most_files_more = max(tally.most_files_more, line["open_files"] - files)
    return errors


def _processes(launcher: int) -> list[int]:
    """The job's processes, the launcher first; its ranks may be in sessions of their own."""
    found = [launcher]
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                stat = (folder / "stat").read_text().rsplit(")", 1)[1].split()
                if int(stat[1]) in found or int(stat[3]) == launcher:
                    found.append(int(folder.name))
    return list(dict.fromkeys(found))


def _kill_some(launcher: int, dice: random.Random) -> None:
    """One process of the job, as when its node dies; or all at once, as when the machine does."""
    processes = _processes(launcher)
    chosen = processes if dice.random() < 0.3 else [dice.choice(processes)]
    for process in chosen:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def _kill_all(launcher: int) -> None:
    for process in _processes(launcher):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGKILL)


def summary(tally: Tally) -> str:
    return "\n".join(
        [
            *tally.errors,
            f"{tally.jobs} jobs, {tally.kills} killed, {tally.commits} commits, {tally.restarts} restarts, each of "
            f"which read and compared the newest checkpoint; {tally.passed_over} files skipped, {tally.cleaned} "
            "left-overs of the killed removed",
            _growth(tally),
            f"{tally.lost} committed checkpoints lost, {tally.hangs} hangs, {len(tally.errors)} errors",
        ]
    )


def _growth(tally: Tally) -> str:
    if not tally.settled:
        return f"no job made {SETTLED_AFTER} commits: whether memory grows was not seen"
    return (
        f"after {SETTLED_AFTER} commits memory grew by {words.size(tally.most_growth_kib * 1024)} at most, open files "
        f"by {tally.most_files_more}, in {tally.settled} jobs"
    )
