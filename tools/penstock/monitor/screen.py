"""screen.py: a sample as tables, as wide and as high as the terminal is."""

from collections import deque
from collections.abc import Callable, Iterable

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from penstock.monitor.devices import DeviceRates
from penstock.monitor.file_systems import FileSystem
from penstock.monitor.jobs import Job
from penstock.monitor.outputs import Output
from penstock.monitor.sample import Sample
from penstock.report import words

WIDE, MIDDLE = 110, 80  # columns of a terminal from which on more is shown
REMEMBERED = 60
SPARKS = "▁▂▃▄▅▆▇█"
SPARK_CELLS = 12
BAR_CELLS = 14
FULL, LATE_SECONDS = 0.95, 2.0
NOTHING = "-"


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
        yield self.tables(
            self.sample, options.max_width, console.size.height if console.is_terminal else None, has_signs
        )

    def tables(self, sample: Sample, width: int, height: int | None, has_signs: bool = True) -> RenderableType:
        """Of a HEIGHT of None, all of them; else what is least busy is left out."""
        job_rows = sum(1 + len(job.outputs) for job in sample.jobs)
        left = 10_000 if height is None else height - 12
        systems = min(len(sample.file_systems), max(2, left // 3))
        lines = min(job_rows, max(2, (left - systems) // 2)) if sample.jobs else 0
        disks = _active(sample.devices)
        some = min(len(disks), max(1, (left - systems - lines) // 2))
        rest = min(max(1, left - systems - lines - some), 10_000 if height is None else 20)
        parts: list[RenderableType] = [_head(sample), self._file_systems(sample, systems, width, has_signs)]
        if sample.jobs:
            parts.append(_jobs(sample.jobs, lines, width))
        parts += [_devices(disks, some, width), _processes(sample, rest, width)]
        return Group(*parts, _foot(sample, self.note))

    def _file_systems(self, sample: Sample, most: int, width: int, has_signs: bool) -> Table:
        table = _table("file system")
        has_sparks = width >= MIDDLE and has_signs
        _columns(table, "read", "write")
        if has_sparks:
            table.add_column("", no_wrap=True)
        if width >= MIDDLE:
            _columns(table, "r/s", "w/s")
        if width >= WIDE:
            _columns(table, "other/s", "wait r", "wait w")
        _columns(table, "used", "free")
        busy = sorted(sample.file_systems, key=lambda one: -_weight(one))[:most]
        for one in (one for one in sample.file_systems if one in busy):
            row: list[RenderableType] = [_name(one, width), rate(one.read_bytes_per_second)]
            row.append(rate(one.write_bytes_per_second))
            if has_sparks:
                row.append(Text(sparks(self._rates.get(one.mount, ())), style="cyan"))
            if width >= MIDDLE:
                row += [_number(one.reads_per_second), _number(one.writes_per_second)]
            if width >= WIDE:
                row += [_number(one.metadata_per_second), _time(one.read_seconds), _time(one.write_seconds)]
            table.add_row(*row, *_space(one))
        return _with_rest(table, len(sample.file_systems) - most)


def rate(value: float | None) -> str:
    """ "12.3 MiB/s"; a dash for nothing, a question mark where it is not known."""
    if value is None:
        return "?"
    return f"{words.size(round(value))}/s" if value >= 0.5 else NOTHING


def sparks(rates: Iterable[float]) -> str:
    """A line of the last of them, the largest of all that are remembered at full height."""
    values = list(rates)
    most = max(values, default=0.0)
    if most <= 0:
        return " " * SPARK_CELLS
    cells = [" " if value <= 0 else SPARKS[min(7, int(value / most * 8))] for value in values[-SPARK_CELLS:]]
    return "".join(cells).rjust(SPARK_CELLS)


def progress_text(one: Output) -> str:
    """ "62 %, 1.2 of 2 GiB, 310 MiB/s, 3 s left" as far as it is known."""
    parts = []
    if one.progress is not None:
        parts.append(f"{one.progress:.0%}{' (estimate)' if one.estimated else ''}")
    if one.done_bytes is not None and one.total_bytes:
        parts.append(f"{words.size(one.done_bytes)} of {words.size(one.total_bytes)}")
    if one.bytes_per_second:
        parts.append(rate(one.bytes_per_second))
    if one.left_seconds is not None:
        parts.append(f"{words.duration(one.left_seconds)} left")
    elif one.progress == 1.0 and one.operation == "write":
        parts.append("to be synced and published")
    return ", ".join(parts) or "under way"


def job_text(job: Job) -> str:
    """ "write (3), exchange (1)" """
    return ", ".join(f"{phase} ({count})" for phase, count in sorted(job.phases.items(), key=lambda p: -p[1])) or "?"


def _head(sample: Sample) -> Text:
    node = sample.node
    text = Text.assemble(
        (sample.host, "bold"),
        f"  read {rate(node.read_bytes_per_second)}, write {rate(node.write_bytes_per_second)}",
    )
    if node.dirty_bytes is not None:
        waiting = node.dirty_bytes + (node.writeback_bytes or 0)
        text.append(f", {words.size(waiting)} in memory to be written")
    text.append(f"; over {words.seconds(sample.seconds)}")
    return text


def _foot(sample: Sample, note: str) -> Text:
    lines = [Text(trouble, style="red") for trouble in sample.troubles]
    lines += [Text(f"gone: {', '.join(sample.gone)}", style="yellow")] if sample.gone else []
    if sample.processes_refused:
        refused = f"{sample.processes_refused} of {sample.processes_seen} processes are not ours to look at"
        lines.append(Text(refused, style="dim"))
    lines += [Text(note, style="dim")] if note else []
    return Text("\n").join(lines)


def _jobs(jobs: list[Job], most: int, width: int) -> Table:
    table = _table("penstock job")
    table.add_column("phase (processes)" if width >= MIDDLE else "phase", overflow="fold")
    _columns(table, "read", "write")
    table.add_column("", min_width=BAR_CELLS if width >= WIDE else 0)
    rows: list[list[RenderableType]] = []
    for job in jobs:
        ranks = f", {job.ranks} ranks" if job.ranks else ""
        idle = f" for {words.duration(job.idle_seconds)}" if job.idle_seconds and job.phase == "compute" else ""
        title = Text(f"{job.program}, {job.id}{ranks if width >= MIDDLE else ''}", style="bold")
        phase = (job_text(job) if width >= MIDDLE else job.phase or "?") + idle
        rows.append([title, phase, rate(job.read_bytes_per_second), rate(job.write_bytes_per_second), ""])
        for one in job.outputs:
            bar: RenderableType = ""
            if one.progress is not None and width >= WIDE:
                bar = ProgressBar(total=1.0, completed=one.progress, width=BAR_CELLS)
            rows.append([Text("  " + _tail(one.path, max(20, width // 3))), Text(progress_text(one)), "", "", bar])
    for row in rows[:most]:
        table.add_row(*row)
    return _with_rest(table, len(rows) - most)


def _devices(disks: list[DeviceRates], most: int, width: int) -> Table:
    table = _table("device")
    _columns(table, "busy", "read", "write")
    if width >= MIDDLE:
        _columns(table, "r/s", "w/s", "queue")
    if width >= WIDE:
        _columns(table, "wait r", "wait w")
        table.add_column("")
    for one in disks[:most]:
        busy = NOTHING if one.utilisation is None else f"{one.utilisation:.0%}"
        name = (
            f"{one.name}{f' ({one.title})' if one.title else ''}{f' on {chr(44).join(one.below)}' if one.below else ''}"
        )
        row: list[RenderableType] = [
            Text(name),
            busy,
            rate(one.read_bytes_per_second),
            rate(one.write_bytes_per_second),
        ]
        if width >= MIDDLE:
            row += [_number(one.reads_per_second), _number(one.writes_per_second), _number(one.queue)]
        if width >= WIDE:
            row += [_time(one.read_seconds), _time(one.write_seconds)]
            row.append(ProgressBar(total=1.0, completed=one.utilisation or 0.0, width=BAR_CELLS))
        table.add_row(*row)
    return _with_rest(table, len(disks) - most)


def _processes(sample: Sample, most: int, width: int) -> Table:
    table = _table("process")
    _columns(table, "read", "write")
    if width >= MIDDLE:
        _columns(table, "calls read", "calls write", "calls/s")
    for one in sample.processes[:most]:
        row: list[RenderableType] = [Text(f"{one.pid} {one.name}")]
        row += [rate(one.read_bytes_per_second), rate(one.write_bytes_per_second)]
        if width >= MIDDLE:
            row += [rate(one.asked_read_bytes_per_second), rate(one.asked_write_bytes_per_second)]
            row.append(_number(one.calls_per_second))
        table.add_row(*row)
    return _with_rest(table, len(sample.processes) - most)


def _table(first: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True, show_edge=False)
    table.add_column(first, overflow="fold", ratio=1)
    return table


def _columns(table: Table, *titles: str) -> None:
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)


def _with_rest(table: Table, rest: int) -> Table:
    if rest > 0:
        table.add_row(Text(f"and {rest} more", style="dim"))
    return table


def _name(one: FileSystem, width: int) -> Text:
    text = Text(one.mount)
    if width >= WIDE:
        text.append(f" {one.type}, {one.figures or 'nobody counts'}", style="dim")
    if one.space_waiting_seconds >= LATE_SECONDS:
        text.append(f" does not answer for {words.duration(one.space_waiting_seconds)}", style="red bold")
    if one.retransmissions_per_second:
        text.append(f" {words.digits(one.retransmissions_per_second)} retransmissions/s", style="red")
    return text


def _space(one: FileSystem) -> list[RenderableType]:
    if one.used is None:
        return [Text(one.space_error or "?", style="dim"), ""]
    style = "red" if one.used >= FULL else ""
    return [Text(f"{one.used:.0%}", style=style), words.size(one.available_bytes or 0)]


def _weight(one: FileSystem) -> float:
    return (one.read_bytes_per_second or 0.0) + (one.write_bytes_per_second or 0.0) + (one.space_waiting_seconds > 0)


def _active(devices: list[DeviceRates]) -> list[DeviceRates]:
    key: Callable[[DeviceRates], float] = lambda one: -(one.utilisation or 0.0)  # noqa: E731
    return sorted(devices, key=key)


def _number(value: float | None) -> str:
    return NOTHING if not value else words.digits(value)


def _time(value: float | None) -> str:
    return NOTHING if value is None else words.seconds(value)


def _tail(path: str, most: int) -> str:
    return path if len(path) <= most else "…" + path[-(most - 1) :]
