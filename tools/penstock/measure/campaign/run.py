"""run.py: one run of a program under mpiexec, from its start to its last process, whatever happens in between."""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from penstock.base.relay import own_lines, relay
from penstock.measure.campaign.events import Event, parse_event

GRACE_SECONDS = 5.0


@dataclass(frozen=True)
class Outcome:
    """How a run ended: its exit status, and the lines that it wrote on standard error."""

    status: int
    errors: list[str]

    def complaint(self, program: str) -> str:
        """What PROGRAM itself complained of, else the end of all that was said: launchers add pages of their own."""
        own = "; ".join(own_lines(program, self.errors))
        return own or "\n".join(self.errors[-8:]) or f"{program} ended with status {self.status}"


def run(
    command: list[str],
    environment: dict[str, str],
    listen: Callable[[Event], None],
    most_seconds: float | None = None,
) -> Outcome:
    """Runs COMMAND, for MOST_SECONDS at most, and hands each event on its standard output to LISTEN. Whatever is raised
    meanwhile, Ctrl-C or an exception of LISTEN, passes on when no process of the run is left.
    """
    with (
        relay() as errors,
        _process(command, environment, errors.file.fileno()) as process,
        _ended_after(most_seconds, process),
    ):
        assert process.stdout is not None
        for line in process.stdout:
            if (event := parse_event(line)) is not None:
                listen(event)
        status = process.wait()
    return Outcome(status, errors.lines())


@contextlib.contextmanager
def _process(command: list[str], environment: dict[str, str], errors: int) -> Iterator[subprocess.Popen[str]]:
    # A session of its own: Ctrl-C reaches us alone, and every process that the launcher starts can be found again.
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    try:
        yield process
    finally:
        _end(process)


@contextlib.contextmanager
def _ended_after(seconds: float | None, process: subprocess.Popen[str]) -> Iterator[None]:
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, _stop, [process])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def _end(process: subprocess.Popen[str]) -> None:
    _stop(process)
    if process.stdout is not None:
        process.stdout.close()


def _stop(process: subprocess.Popen[str]) -> None:
    """Leaves no process of the run behind: the launcher is asked to end its ranks, then whatever is left is killed."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
    for pid in _members(process.pid):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


def _members(session: int) -> list[int]:
    """The living processes of a session. Launchers give each rank a process group of its own, but not a session."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            # "PID (NAME) STATE PPID PGRP SESSION ...", and the name may hold anything
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found
