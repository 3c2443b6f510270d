"""many_text.py: a folder of logs in the terminal."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from penstock.base.printable import printable
from penstock.diagnose.many import Summary, Used, areas, libraries, ranked, usage
from penstock.diagnose.rules.common import share, size


def print_jobs(found: Sequence[Summary], console: Console, most: int) -> None:
    whole = [one for one in found if not one.error]
    hours, io, lost = (
        sum(getattr(one, name) for one in whole) for name in ("core_hours", "io_core_hours", "lost_core_hours")
    )
    part = share(io / hours) if hours else "0 %"
    console.print(
        Text(
            f"{len(whole)} jobs, {hours:,.4g} core-hours, {io:,.4g} of them ({part}) I/O; "
            f"{lost:,.4g} could be saved by the first finding of each about I/O itself.",
            style="bold",
        )
    )
    worst = [one for one in ranked(found) if one.lost_core_hours > 0][:most]
    if worst:
        console.print(_jobs(worst))
    console.print(_used("Libraries", "library", libraries(found)))
    console.print(_used("Patterns", "most bytes move by", usage(found, lambda one: (one.pattern,))))
    console.print(_used("Areas", "mount", areas(found), hours=False))
    broken = [one for one in found if one.error]
    for one in broken[:most]:
        console.print(printable(f"not read: {one.source}: {one.error}"))
    if len(broken) > most:
        console.print(f"and {len(broken) - most} more that could not be read")


def _jobs(worst: Sequence[Summary]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="Jobs that lose the most core-hours", title_justify="left")
    for name in ("lost", "core-hours", "I/O"):
        made.add_column(name, justify="right")
    made.add_column("log", ratio=1, overflow="fold")
    made.add_column("first finding", ratio=2)
    for one in worst:
        made.add_row(
            f"{one.lost_core_hours:,.3g}", f"{one.core_hours:,.3g}", share(one.io_share),
            printable(Path(one.source).name), printable(f"{one.severity} {one.rule} {one.title}"),
        )  # fmt: skip
    return made


def _used(title: str, kind: str, found: Mapping[str, Used], hours: bool = True) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    made.add_column(kind)
    for name in ("jobs", *(("core-hours of I/O",) if hours else ()), "read", "written"):
        made.add_column(name, justify="right")
    for name, used in found.items():
        told = [f"{used.core_hours:,.3g}"] if hours else []
        made.add_row(printable(name), str(used.jobs), *told, size(used.read_bytes), size(used.written_bytes))
    return made
