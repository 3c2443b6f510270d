"""progress.py: how a campaign is going: a live bar with running medians at a terminal, else a line per repetition."""

import contextlib
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from penstock.base import words
from penstock.measure.campaign.events import Event, Failed, Finished, Run, Started


class Progress(Protocol):
    def show(self, event: Event) -> None: ...


class Clock:
    """How long the rest will take, from what is done: all runs of a campaign are of one size."""

    def __init__(self) -> None:
        self.start = time.monotonic()

    def elapsed(self) -> float:
        return time.monotonic() - self.start

    def left(self, done: int, of: int) -> float | None:
        return self.elapsed() / done * (of - done) if done > 0 else None


class PlainProgress:
    """A line each time a repetition begins, and for each failure."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._clock = Clock()
        self._repetition = -1

    def show(self, event: Event) -> None:
        match event:
            case Started():
                self._clock = Clock()
                self._say(f"{event.total_runs} runs to do.")
            case Run() if event.repetition != self._repetition:
                self._repetition = event.repetition
                name = f"Repetition {event.repetition}" if event.repetition else "Warm-up"
                left = self._clock.left(event.done, event.of)
                hope = f", about {words.duration(left)} left" if left is not None and event.repetition else ""
                self._say(f"{name}: {event.done} of {event.of} runs done{hope}")
            case Failed():
                self._say(f"{event.method} failed: {event.error}")
            case Finished():
                self._say(f"Measured in {words.duration(self._clock.elapsed())}.")
            case _:
                pass

    def _say(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)


class LiveProgress:
    """A bar with the time left, and the median of each method so far."""

    def __init__(self) -> None:
        self._clock = Clock()
        self._done, self._of = 0, 0
        self._seconds: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self._failed: dict[str, str] = {}

    def show(self, event: Event) -> None:
        match event:
            case Started():
                self._clock, self._of = Clock(), event.total_runs
            case Run():
                self._done, self._of = event.done, event.of
                times = self._seconds[event.method][event.operation]
                if event.repetition:  # the warm-up does not count
                    times.append(event.seconds)
            case Failed():
                self._failed[event.method] = event.error
            case Finished():
                self._done = self._of

    def __rich__(self) -> RenderableType:
        if not self._of:
            return Text(f"Measuring the device first, for {words.duration(self._clock.elapsed())}")
        left = self._clock.left(self._done, self._of)
        line = Table.grid(padding=(0, 2))
        line.add_row(
            ProgressBar(total=self._of, completed=self._done, width=40),
            f"{self._done} of {self._of} runs",
            f"about {words.duration(left)} left" if left is not None else "",
        )
        medians = Table.grid(padding=(0, 2))
        for method, operations in self._seconds.items():
            cells = [f"{name} {words.seconds(statistics.median(times))}" for name, times in operations.items() if times]
            medians.add_row(Text(method), Text(self._failed.get(method) or ", ".join(cells), style="cyan"))
        return Group(line, medians)


@contextlib.contextmanager
def make_progress(console: Console) -> Iterator[Progress]:
    """The kind of progress that suits CONSOLE."""
    if not console.is_terminal:
        yield PlainProgress(console)
        return
    progress = LiveProgress()
    with Live(progress, console=console, refresh_per_second=4, transient=True):
        yield progress


def watching(console: Console) -> Callable[[str, int], AbstractContextManager[Callable[[Event], None]]]:
    """For several runs, one after another: each has a name and a number of plans, and a progress of its own."""

    @contextmanager
    def watch(name: str, plans: int) -> Iterator[Callable[[Event], None]]:
        console.print(f"{name.capitalize()}: {words.count(plans, 'plan', 'plans')}", highlight=False)
        with make_progress(console) as progress:
            yield progress.show

    return watch
