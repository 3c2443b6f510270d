"""tables.py: what the tables of the screen have in common; those of devices and processes."""

from rich import box
from rich.console import RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from penstock.base import words
from penstock.base.printable import printable
from penstock.operate.monitor.devices import DeviceRates
from penstock.operate.monitor.processes import ProcessRates

WIDE, MIDDLE = 110, 80  # columns of a terminal from which on more is shown
BAR_CELLS = 14
NOTHING = "-"


def rate(value: float | None) -> str:
    """ "12.3 MiB/s"; a dash for nothing, a question mark where it is not known."""
    if value is None:
        return "?"
    return f"{words.size(round(value))}/s" if value >= 0.5 else NOTHING


def devices(disks: list[DeviceRates], most: int, width: int) -> Table:
    table = table_of("device")
    add_columns(table, "busy", "read", "write")
    if width >= MIDDLE:
        add_columns(table, "r/s", "w/s", "queue")
    if width >= WIDE:
        add_columns(table, "wait r", "wait w")
        table.add_column("")
    for one in disks[:most]:
        busy = NOTHING if one.utilisation is None else f"{one.utilisation:.0%}"
        name = (
            f"{one.name}{f' ({one.title})' if one.title else ''}{f' on {chr(44).join(one.below)}' if one.below else ''}"
        )
        row: list[RenderableType] = [
            Text(printable(name)),
            busy,
            rate(one.read_bytes_per_second),
            rate(one.write_bytes_per_second),
        ]
        if width >= MIDDLE:
            row += [number(one.reads_per_second), number(one.writes_per_second), number(one.queue)]
        if width >= WIDE:
            row += [time_of(one.read_seconds), time_of(one.write_seconds)]
            row.append(ProgressBar(total=1.0, completed=one.utilisation or 0.0, width=BAR_CELLS))
        table.add_row(*row)
    return with_rest(table, len(disks) - most)


def processes(found: list[ProcessRates], most: int, width: int) -> Table:
    table = table_of("process")
    add_columns(table, "read", "write")
    if width >= MIDDLE:
        add_columns(table, "calls read", "calls write", "calls/s")
    for one in found[:most]:
        row: list[RenderableType] = [Text(printable(f"{one.pid} {one.name}"))]
        row += [rate(one.read_bytes_per_second), rate(one.write_bytes_per_second)]
        if width >= MIDDLE:
            row += [rate(one.asked_read_bytes_per_second), rate(one.asked_write_bytes_per_second)]
            row.append(number(one.calls_per_second))
        table.add_row(*row)
    return with_rest(table, len(found) - most)


def table_of(first: str, is_cut: bool = True) -> Table:
    """Returns an empty table with names in its FIRST column, which cuts long ones if IS_CUT, else folds them."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True, show_edge=False)
    table.add_column(first, overflow="ellipsis" if is_cut else "fold", no_wrap=is_cut, min_width=12, ratio=1)
    return table


def add_columns(table: Table, *titles: str) -> None:
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)


def with_rest(table: Table, rest: int) -> Table:
    if rest > 0:
        table.add_row(Text(f"and {rest} more", style="dim"))
    return table


def by_use(found: list[DeviceRates]) -> list[DeviceRates]:
    """The busiest first."""
    return sorted(found, key=lambda one: -(one.utilisation or 0.0))


def number(value: float | None) -> str:
    return NOTHING if not value else words.digits(value)


def time_of(value: float | None) -> str:
    return NOTHING if value is None else words.seconds(value)
