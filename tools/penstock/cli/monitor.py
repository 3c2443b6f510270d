"""monitor.py: `penstock monitor`: what the file systems of this node are doing, and for whom."""

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.base.errors import UserError

if TYPE_CHECKING:
    from penstock.operate.monitor.schedule import Schedule

LEAST_INTERVAL = 0.1


def register(app: typer.Typer) -> None:
    app.command("monitor")(monitor)


def monitor(
    interval: Annotated[
        float, typer.Option("--interval", metavar="SECONDS", help="Read after so long each time.")
    ] = 1.0,
    seconds: Annotated[float | None, typer.Option("--for", metavar="SECONDS", help="End after so long.")] = None,
    count: Annotated[int | None, typer.Option("--count", metavar="N", min=1, help="End after N intervals.")] = None,
    once: Annotated[bool, typer.Option("--once", help="Measure one interval, print it, and end.")] = False,
    json_wanted: Annotated[bool, typer.Option("--json", help="Print one line of JSON for each interval.")] = False,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="FILE", help="Record a history in this SQLite file.")
    ] = None,
    keep: Annotated[float, typer.Option("--keep", metavar="DAYS", help="Drop records that are older.")] = 7.0,
    history: Annotated[
        list[Path] | None,
        typer.Option(
            "--history", metavar="FILE", help="Show what was recorded in this file. Repeatable, for several nodes."
        ),
    ] = None,
    job: Annotated[
        str | None, typer.Option("--job", metavar="ID", help="Show this job of --history, and what happened meanwhile.")
    ] = None,
) -> None:
    """Watch the file systems and the jobs of this node.

    Rates of file systems, devices and processes come from /proc and from the clients of NFS, Lustre and GPFS. Jobs that
    use penstock are shown with their phase, and each file that they write or read with its progress and the time left.
    At a terminal the view is renewed until you press q; elsewhere lines are printed.
    """
    if history:
        _say_history(history, job, json_wanted)
        return
    if job is not None:
        raise UserError("--job ID is about what was recorded: name its file with --history FILE")
    if not LEAST_INTERVAL <= interval <= 86400:
        raise UserError(f"--interval {interval:g}: {LEAST_INTERVAL} seconds to a day")
    if not keep > 0:
        raise UserError(f"--keep {keep:g}: more than no days")
    if seconds is not None and not seconds > 0:
        raise UserError(f"--for {seconds:g}: more than no seconds")
    from penstock.operate.monitor.record import Record
    from penstock.operate.monitor.sampler import Sampler
    from penstock.operate.monitor.schedule import Schedule

    with contextlib.ExitStack() as open_now:
        recorded = open_now.enter_context(Record(record, keep)) if record is not None else None
        sampler = open_now.enter_context(Sampler())
        schedule = Schedule(sampler, recorded, interval, 1 if once else count, seconds)
        with contextlib.suppress(KeyboardInterrupt):
            _show(schedule, once, json_wanted, f"recording to {record}" if record else "")
        if recorded is not None and recorded.lost:
            raise UserError(recorded.trouble or f"'{record}': {recorded.lost} samples were not recorded", status=1)


def _show(schedule: "Schedule", once: bool, json_wanted: bool, note: str) -> None:
    from rich.console import Console

    from penstock.operate.monitor import live
    from penstock.operate.monitor.sample import Sample, to_record
    from penstock.operate.monitor.screen import Screen

    console = Console()

    def show_tables(sample: Sample) -> None:
        screen = Screen()
        console.print(screen.tables(sample, console.width, None, console.encoding.startswith("utf")))

    if json_wanted:
        live.show_each(schedule, lambda sample: typer.echo(json.dumps(to_record(sample))))
    elif once:
        live.show_each(schedule, show_tables)
    elif console.is_terminal:
        live.show_live(schedule, console, f"q ends{f'; {note}' if note else ''}")
    else:
        live.show_each(schedule, lambda sample: typer.echo("\n".join(live.lines(sample)) or "nothing moves"))


def _say_history(paths: list[Path], job: str | None, json_wanted: bool) -> None:
    from rich.console import Console

    from penstock.operate.monitor.history import read_history, to_record
    from penstock.operate.monitor.history_text import print_history

    found = read_history(paths, job)
    if json_wanted:
        typer.echo(json.dumps(to_record(found, paths), indent=1))
    else:
        print_history(found, Console(), job)
