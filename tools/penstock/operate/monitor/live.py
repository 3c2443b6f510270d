"""live.py: keeps showing samples: as tables that renew themselves at a terminal, else as lines."""

import contextlib
import os
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from datetime import datetime

from rich.console import Console
from rich.live import Live

from penstock.base import words
from penstock.base.printable import printable
from penstock.operate.monitor.job_lines import job_text, progress_text
from penstock.operate.monitor.outputs import Output
from penstock.operate.monitor.sample import Sample
from penstock.operate.monitor.schedule import Schedule
from penstock.operate.monitor.screen import Screen
from penstock.operate.monitor.tables import rate

LOOKS_SECONDS = 0.25  # between two looks at the keyboard, and at the size of the terminal
QUIT = (b"q", b"Q", b"\x03")


def show_live(schedule: Schedule, console: Console, note: str) -> None:
    """Until there is no more, or somebody presses q."""
    screen = Screen()
    screen.note = note
    with _keys() as pressed, Live(screen, console=console, screen=True, auto_refresh=False) as live:
        size = console.size
        while not schedule.ended():
            while (left := schedule.left()) > 0:
                if pressed(min(left, LOOKS_SECONDS)) in QUIT:
                    return
                if console.size != size:
                    size = console.size
                    live.refresh()
            screen.show(schedule.next_sample())
            live.refresh()


def show_each(schedule: Schedule, show: Callable[[Sample], None]) -> None:
    """Until there is no more."""
    while not schedule.ended():
        time.sleep(max(0.0, schedule.left()))
        show(schedule.next_sample())


def lines(sample: Sample) -> Iterator[str]:
    """The time, what it is about, and the figures, of file systems on which something happens."""
    return map(printable, _lines(sample))


def _lines(sample: Sample) -> Iterator[str]:
    at = datetime.fromtimestamp(sample.clock).astimezone().strftime("%H:%M:%S")
    for one in sample.file_systems:
        moved = (one.read_bytes_per_second or 0.0) + (one.write_bytes_per_second or 0.0)
        if not (moved or one.space_waiting_seconds):
            continue
        text = f"read {rate(one.read_bytes_per_second)}, write {rate(one.write_bytes_per_second)}"
        if one.used is not None:
            text += f", {one.used:.0%} used"
        if one.space_waiting_seconds:
            text += f", does not answer for {words.duration(one.space_waiting_seconds)}"
        yield f"{at} {one.mount}: {text}"
    for job in sample.jobs:
        rates = f"read {rate(job.read_bytes_per_second)}, write {rate(job.write_bytes_per_second)}"
        yield f"{at} job {job.id} ({job.program}): {job_text(job)}, {rates}"
        yield from (f"{at}   {_output_text(one)}" for one in job.outputs)
    yield from (f"{at} {trouble}" for trouble in sample.troubles)


def _output_text(one: Output) -> str:
    return f"{one.operation} {one.path}: {progress_text(one)}"


@contextlib.contextmanager
def _keys() -> Iterator[Callable[[float], bytes]]:
    """What waits so many seconds for a key: b"" for none. The terminal is as it was afterwards."""

    def wait(seconds: float) -> bytes:
        time.sleep(seconds)
        return b""

    if not sys.stdin.isatty():
        yield wait
        return
    terminal = sys.stdin.fileno()

    def pressed(seconds: float) -> bytes:
        ready, _, _ = select.select([terminal], [], [], seconds)
        return os.read(terminal, 1) if ready else b""

    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        yield pressed
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
