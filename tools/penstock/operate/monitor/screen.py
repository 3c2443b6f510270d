"""screen.py: a sample as tables, as wide and as high as the terminal is."""

from collections import deque
from collections.abc import Iterable
from itertools import chain

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from penstock.base import words
from penstock.base.printable import printable
from penstock.operate.monitor.file_systems import FileSystem
from penstock.operate.monitor.job_lines import job_lines
from penstock.operate.monitor.sample import Sample
from penstock.operate.monitor.tables import (
    MIDDLE,
    WIDE,
    add_columns,
    by_use,
    devices,
    number,
    processes,
    rate,
    table_of,
    time_of,
    with_rest,
)

NARROW = 60
LEAST_HEIGHT = 20  # of a terminal, for devices and processes
WHOLE_JOB = 5  # lines, with that which counts the others
REMEMBERED = 60
SPARKS = "▁▂▃▄▅▆▇█"
SPARK_CELLS = 12
SPARKED = 96  # columns from which on there is room for them beside the names
FULL, LATE_SECONDS = 0.95, 2.0


class Screen:
    """Remembers the rates of the last intervals, to draw them."""

    def __init__(self) -> None:
        self._rates: dict[str, deque[float]] = {}
        self.sample: Sample | None = None
        self.note = ""

    def show(self, sample: Sample) -> None:
        self.sample = sample
        for one in sample.file_systems:
            rate = (one.read_bytes_per_second or 0.0) + (one.write_bytes_per_second or 0.0)
            self._rates.setdefault(one.mount, deque(maxlen=REMEMBERED)).append(rate)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.sample is None:
            yield Text("Measuring the first interval")
            return
        has_signs = options.encoding.startswith("utf")
        height = console.size.height if console.is_terminal else None
        shown = self._body(self.sample, options.max_width, height, has_signs), _foot(self.sample, self.note)
        body, foot = (console.render_lines(one, options.update(height=None), pad=False) for one in shown)
        if height is not None:  # lines that had to be broken do not push the foot off the screen
            foot = foot[-(height // 2) :]
            body = body[: height - len(foot)]
        yield Segments(list(chain.from_iterable([*line, Segment.line()] for line in [*body, *foot]))[:-1])

    def tables(self, sample: Sample, width: int, height: int | None, has_signs: bool = True) -> RenderableType:
        """Returns SAMPLE as tables that leave out what is least busy to fit into HEIGHT lines; all of it if that is
        None.
        """
        return Group(self._body(sample, width, height, has_signs), _foot(sample, self.note))

    def _body(self, sample: Sample, width: int, height: int | None, has_signs: bool) -> Group:
        job_rows = sum((1 if width >= WIDE else 2) + 2 * len(job.outputs) for job in sample.jobs)
        left = 10_000 if height is None else height - 12
        systems = min(
            len(sample.file_systems), max(2, left // 3 if (height or LEAST_HEIGHT) >= LEAST_HEIGHT else left // 2)
        )
        least = WHOLE_JOB if height is None or height >= LEAST_HEIGHT else 2
        lines = min(job_rows, max(least, (left - systems) // 2)) if sample.jobs else 0
        disks = by_use(sample.devices)
        some = min(len(disks), max(1, (left - systems - lines) // 2))
        rest = min(max(1, left - systems - lines - some), 10_000 if height is None else 20)
        parts: list[RenderableType] = [_head(sample, width), self._file_systems(sample, systems, width, has_signs)]
        if sample.jobs:
            parts += job_lines(sample.jobs, lines, width)
        if height is None or height >= LEAST_HEIGHT:
            parts += [devices(disks, some, width), processes(sample.processes, rest, width)]
        return Group(*parts)

    def _file_systems(self, sample: Sample, most: int, width: int, has_signs: bool) -> Table:
        table = table_of("file system", width < NARROW)
        has_sparks = width >= SPARKED and has_signs and bool(self._rates)
        add_columns(table, "read", "write")
        if has_sparks:
            table.add_column("", no_wrap=True)
        if width >= MIDDLE:
            add_columns(table, "r/s", "w/s")
        if width >= WIDE:
            add_columns(table, "other/s", "wait r", "wait w")
        add_columns(table, "used", *(["free"] if width >= NARROW else []))
        busy = sorted(sample.file_systems, key=lambda one: -_weight(one))[:most]
        for one in (one for one in sample.file_systems if one in busy):
            row: list[RenderableType] = [_name(one, width), rate(one.read_bytes_per_second)]
            row.append(rate(one.write_bytes_per_second))
            if has_sparks:
                row.append(Text(sparks(self._rates.get(one.mount, ())), style="cyan"))
            if width >= MIDDLE:
                row += [number(one.reads_per_second), number(one.writes_per_second)]
            if width >= WIDE:
                row += [number(one.metadata_per_second), time_of(one.read_seconds), time_of(one.write_seconds)]
            table.add_row(*row, *_space(one)[: 2 if width >= NARROW else 1])
        return with_rest(table, len(sample.file_systems) - most)


def sparks(rates: Iterable[float]) -> str:
    """A line of the last of them, the largest of all that are remembered at full height."""
    values = list(rates)
    most = max(values, default=0.0)
    if most <= 0:
        return " " * SPARK_CELLS
    cells = [" " if value <= 0 else SPARKS[min(7, int(value / most * 8))] for value in values[-SPARK_CELLS:]]
    return "".join(cells).rjust(SPARK_CELLS)


def _head(sample: Sample, width: int) -> Text:
    """Returns the headline: as much about the node as fits in one line of WIDTH."""
    node = sample.node
    rates = f"  read {rate(node.read_bytes_per_second)}, write {rate(node.write_bytes_per_second)}"
    waiting = "" if node.dirty_bytes is None else f", {words.size(node.dirty_bytes + (node.writeback_bytes or 0))}"
    over = f"; over {words.seconds(sample.seconds)}"
    memory, short = (f"{waiting} {what}" if waiting else "" for what in ("in memory to be written", "to be written"))
    host = sample.host.partition(".")[0]
    forms = [(sample.host, memory + over), (host, memory + over), (host, short + over), (host, short), (host, "")]
    first, rest = next((one for one in forms if len(one[0] + rates + one[1]) <= width), forms[-1])
    return Text.assemble((first, "bold"), rates + rest, no_wrap=True, overflow="ellipsis")


def _foot(sample: Sample, note: str) -> Text:
    lines = [Text(printable(trouble), style="red") for trouble in sample.troubles]
    lines += [Text(f"gone: {printable(', '.join(sample.gone))}", style="yellow")] if sample.gone else []
    if sample.processes_refused:
        refused = f"{sample.processes_refused} of {sample.processes_seen} processes are not ours to look at"
        lines.append(Text(refused, style="dim"))
    lines += [Text(note, style="dim")] if note else []
    return Text("\n").join(lines)


def _name(one: FileSystem, width: int) -> Text:
    text = Text(printable(one.mount))
    if width >= WIDE:
        text.append(f" {one.type}, {one.figures or 'nobody counts'}", style="dim")
    if one.space_waiting_seconds >= LATE_SECONDS:
        text.append(f" does not answer for {words.duration(one.space_waiting_seconds)}", style="red bold")
    if one.retransmissions_per_second:
        text.append(f" {words.digits(one.retransmissions_per_second)} retransmissions/s", style="red")
    return text


def _space(one: FileSystem) -> list[RenderableType]:
    if one.used is None:
        return [Text(printable(one.space_error or "?"), style="dim"), ""]
    style = "red" if one.used >= FULL else ""
    return [Text(f"{one.used:.0%}", style=style), words.size(one.available_bytes or 0)]


def _weight(one: FileSystem) -> float:
    return (one.read_bytes_per_second or 0.0) + (one.write_bytes_per_second or 0.0) + (one.space_waiting_seconds > 0)
