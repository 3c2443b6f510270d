"""history_text.py: what was recorded, as tables."""

from datetime import datetime

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from penstock.base import words
from penstock.base.printable import printable
from penstock.operate.monitor.history import Figure, History, JobHistory, Subject
from penstock.operate.monitor.tables import rate

MOST_OUTPUTS = 5


def print_history(history: History, console: Console, job: str | None) -> None:
    """Prints JOB in detail; without one, the nodes, the file systems and a line for each job."""
    if job is not None:
        for one in history.jobs:
            _print_job(one, console)
        return
    for node in history.nodes:
        times = f"{_date(node.first)} to {_date(node.last)}, {node.intervals} intervals"
        console.print(Text.assemble((printable(node.host), "bold"), f"  {times}"), highlight=False)
    if not history.nodes:
        console.print("nothing was recorded")
        return
    console.print(_rates("node", [(one.host, one) for one in history.nodes]))
    systems = [(_place(one, history), one) for one in history.file_systems]
    console.print(_rates("file system", systems))
    if history.jobs:
        console.print(_jobs(history.jobs))


def _print_job(one: JobHistory, console: Console) -> None:
    ranks = f", {one.ranks} ranks" if one.ranks else ""
    console.print(
        Text.assemble((printable(one.id), "bold"), printable(f" on {one.host}: {one.command or one.program}")),
        highlight=False,
    )
    times = f"{_date(one.first)} to {_date(one.last)}"
    console.print(Text(printable(f"{one.user}{ranks}, {times}, {one.commits} commits")))
    phases = ", ".join(f"{name} {part:.0%}" for name, part in one.phases.items())
    console.print(Text(printable(f"phases: {phases}")))
    table = _frame("job")
    _add(table, one.id, {"read": one.read, "write": one.write})
    console.print(table)
    if one.meanwhile:
        console.print(_rates("meanwhile", [(subject.name, subject) for subject in one.meanwhile]))
    for path in one.outputs[:MOST_OUTPUTS]:
        console.print(Text(printable(f"output {path}")), soft_wrap=True)
    if len(one.outputs) > MOST_OUTPUTS:
        console.print(f"and {len(one.outputs) - MOST_OUTPUTS} more outputs", highlight=False)


def _rates(title: str, rows: list[tuple[str, Subject]]) -> Table:
    table = _frame(title)
    for name, one in rows:
        _add(table, name, {what: one.figures[what] for what in ("read", "write")})
    return table


def _jobs(jobs: list[JobHistory]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("job", overflow="fold")
    for title in ("from", "for"):
        table.add_column(title, no_wrap=True)
    for title in ("read", "write", "at most"):
        table.add_column(title, justify="right", no_wrap=True)
    for one in jobs:
        moved = (words.size(round(one.read.total)), words.size(round(one.write.total)))
        lasted = words.duration(one.last - one.first)
        name = Text(printable(f"{one.id} {one.program}"))
        table.add_row(name, _time(one.first), lasted, *moved, _rate(one.write.maximum))
    return table


def _frame(title: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(title, overflow="fold")
    table.add_column("")
    for name in ("last", "average", "maximum"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("at", no_wrap=True)
    return table


def _add(table: Table, name: str, figures: dict[str, Figure]) -> None:
    """A line for each that was ever known."""
    for what, figure in figures.items():
        if figure.maximum is not None:
            rates = (_rate(figure.last), _rate(figure.average), _rate(figure.maximum))
            table.add_row(
                Text(printable(name)), what, *rates, _time(figure.maximum_time) if figure.maximum >= 0.5 else ""
            )
            name = ""
    if name:
        table.add_row(Text(f"{printable(name)} (not counted)", style="dim"))


def _rate(value: float | None) -> str:
    return rate(value) if value is not None else "?"


def _place(one: Subject, history: History) -> str:
    return one.name if len(history.nodes) == 1 else f"{one.host}:{one.name}"


def _time(time: float) -> str:
    return datetime.fromtimestamp(time).astimezone().strftime("%m-%d %H:%M:%S")


def _date(time: float) -> str:
    return datetime.fromtimestamp(time).astimezone().strftime("%Y-%m-%d %H:%M:%S")
