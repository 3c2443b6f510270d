"""job_lines.py: jobs as lines: what each does, and a bar for each file that it writes or reads."""

import math

from rich.console import RenderableType
from rich.progress_bar import ProgressBar
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from penstock.base import words
from penstock.base.printable import printable
from penstock.operate.monitor.jobs import COMPUTE, Job
from penstock.operate.monitor.outputs import Output
from penstock.operate.monitor.tables import BAR_CELLS, MIDDLE, WIDE, rate

MOST_RANKS = 4


def job_lines(jobs: list[Job], most: int, width: int) -> list[RenderableType]:
    """Returns a heading and at MOST lines about JOBS; the last one counts what is left out."""
    lines: list[RenderableType] = []
    for job in jobs:
        ranks = f", {words.count(job.ranks, 'rank', 'ranks')}" if job.ranks else ""
        user = f", {job.user}" if job.user and width >= MIDDLE else ""
        rates = f"read {rate(job.read_bytes_per_second)}, write {rate(job.write_bytes_per_second)}"
        text = Text.assemble((printable(job.program), "bold"), f" {printable(job.id)}{ranks}{user}: {job_text(job)}")
        if width < WIDE:
            lines += [_line(text), _line(Text("  " + rates))]
        else:
            lines.append(_line(text.append(f"; {rates}")))
        for one in job.outputs:
            lines += _output(one, width)
    rest = len(lines) - most
    if rest > 0:
        lines = [*lines[: most - 1], Text(f"and {rest + 1} more lines", style="dim")]
    return [Text("penstock jobs", style="bold"), Rule(style=""), *lines]


def job_text(job: Job) -> str:
    """ "write (3), exchange (1)" """
    phases = sorted(job.phases.items(), key=lambda pair: -pair[1])
    text = ", ".join(f"{phase} ({count})" for phase, count in phases) or "?"
    if job.idle_seconds is not None and job.phase == COMPUTE:
        text += f" for {words.duration(job.idle_seconds)}"
    return text


def ranks_text(ranks: list[int]) -> str:
    """ "rank 3", "ranks 1, 2, 3 and 5 more" """
    named = ranks if len(ranks) <= MOST_RANKS else ranks[: MOST_RANKS - 1]
    rest = f" and {len(ranks) - len(named)} more" if len(named) < len(ranks) else ""
    return f"rank{'' if len(ranks) == 1 else 's'} {', '.join(map(str, named))}{rest}"


def progress_text(one: Output, is_short: bool = False) -> str:
    """ "62%, 1.2 GiB of 2 GiB, 310 MiB/s, 3 s left" as far as it is known; IS_SHORT: what comes last may be cut off."""
    parts, last = [], []
    if one.waits_for:
        parts.append(f"waits for {ranks_text(one.waits_for)}")
    if one.progress is not None:
        parts.append(f"{one.progress:.0%}{' (estimate)' if one.estimated else ''}")
    if one.done_bytes is not None and one.total_bytes:
        parts.append(f"{words.size(min(one.done_bytes, one.total_bytes))} of {words.size(one.total_bytes)}")
    if one.bytes_per_second:
        parts.append(rate(one.bytes_per_second))
    if one.left_seconds is not None:
        last.append(f"{words.duration(math.ceil(one.left_seconds))} left")
    elif one.progress == 1.0 and one.operation == "write":
        last.append("to be synced and published")
    parts = [*parts[:1], *last, *parts[1:]] if is_short else [*parts, *last]
    return ", ".join(parts) or f"{one.operation} under way"


def _output(one: Output, width: int) -> list[RenderableType]:
    text = Text(f"  {one.operation} ")
    text.append(_tail(printable(one.path), max(12, width - len(text))), style="cyan")
    if one.progress is None:
        return [_line(text), _line(Text("    " + progress_text(one)))]
    cells = BAR_CELLS if width < WIDE else 2 * BAR_CELLS
    progress = progress_text(one, is_short=width < WIDE)
    row = Table.grid(padding=(0, 1))
    row.add_row("   ", ProgressBar(total=1.0, completed=one.progress, width=cells), _line(Text(progress)))
    return [_line(text), row]


def _line(text: Text) -> Text:
    text.no_wrap = True
    text.overflow = "ellipsis"
    return text


def _tail(path: str, most: int) -> str:
    return path if len(path) <= most else "…" + path[-(most - 1) :]
