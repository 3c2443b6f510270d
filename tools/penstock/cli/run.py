"""run.py: `penstock run`: an unchanged program, whose MPI-IO calls are taken over by a library that is preloaded."""

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.base import preload
from penstock.base.errors import UserError
from penstock.base.printable import printable
from penstock.measure.unmodified import text
from penstock.measure.unmodified.compare import Comparison, compare, told, verdict
from penstock.measure.unmodified.report import SCHEMA, Report, left_in_background, read_reports
from penstock.measure.unmodified.request import NAME, OFF, PREFIX, Defer, folder_in, hdf5_driver, request, without

_PASSED = {"allow_interspersed_args": False}  # what follows the program is its own
_PROBE = "probe"


class Form(StrEnum):
    text = "text"
    json = "json"
    html = "html"


@dataclass
class _Ran:
    """What runs with the library left: their reports, and what else is to be said."""

    reports: list[Report] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)  # bytes, after the program had closed their file


def register(app: typer.Typer) -> None:
    app.command("run", context_settings=_PASSED)(run)


def run(
    command: Annotated[
        list[str], typer.Argument(metavar="-- COMMAND", help="The command as you run it otherwise, with mpiexec.")
    ],
    plan: Annotated[
        list[str] | None,
        typer.Option(
            "--plan",
            metavar="[PATTERN=]PLAN",
            help="Move the bytes of files with names of this PATTERN, else of all files, by PLAN: two_phase:writers=4, "
            "independent, auto; servers writes in the background, so that a crash loses more; "
            "none leaves them to the MPI library. Repeatable; the first pattern that fits counts.",
        ),
    ] = None,
    defer: Annotated[
        Defer | None,
        typer.Option("--defer", help="Keep collective writes back and move them together, or move each at once."),
    ] = None,
    memory: Annotated[
        str | None, typer.Option("--memory", metavar="BYTES", help="Keep back so much in each rank at most [64MiB].")
    ] = None,
    report: Annotated[Form, typer.Option("--report", help="Report in this form.")] = Form.text,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Report to this file, not to standard error."),
    ] = None,
    compare_pairs: Annotated[
        int | None,
        typer.Option(
            "--compare",
            min=1,
            metavar="N",
            help="Run the command N times with the library and N times without, in turn, and compare the wall times. "
            "Files that it writes are overwritten each time.",
        ),
    ] = None,
) -> None:
    """Run an unchanged MPI program with penstock's MPI-IO.

    HDF5, netCDF-4, PnetCDF and MPI-IO all end in calls of MPI_File, which a preloaded library takes over. The program,
    its output, its exit status and the contents of its files stay the same. A report of what became of its calls
    follows at the end. If data was lost in the background (plan servers) and no call could say so, status 0 becomes 1.
    """
    if not command[0]:
        raise UserError("the command is empty")
    asked = request(plan or [], defer, memory)
    if report is Form.html and output is None:
        raise UserError("--report html is a page: name its file with -o")
    mpi = preload.mpi_of(command)
    preloaded = preload.preloaded(preload.library(NAME, mpi), last=True)
    given = {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}
    variables = given | {"LD_PRELOAD": preloaded} | hdf5_driver(mpi, preloaded) | asked.variables()
    _must_be_writable(output)
    place = Path.cwd() if output is None else output.absolute().parent
    ran = _Ran()

    def once(with_us: bool = True) -> int:
        if not with_us:
            words, named = preload.with_ranks(command, OFF)
            return preload.run(words, without() | named)
        with folder_in(place) as folder:
            words, changes = preload.with_ranks(command, variables | {f"{PREFIX}REPORT": folder})
            status = preload.run(words, os.environ | changes)
            _take(ran, Path(folder), status)
            return status

    compared = None if compare_pairs is None else _compared(compare_pairs, once)
    if compared is not None:
        compared.io_seconds = sum(one.io_mean for one in ran.reports)
    status = once() if compared is None else compared.status
    if sys.stdout is not None:
        sys.stdout.flush()
    _tell(_content(report, command, status, ran, compared), ran, compared, output)
    for one in ran.lost:
        typer.echo(f"penstock: {printable(one)}", err=True)
    raise typer.Exit(1 if ran.lost and status == 0 else status)


def _compared(pairs: int, once: Callable[[bool], int]) -> Comparison:
    typer.echo(
        f"penstock: the command runs {2 * pairs} times, in turn without and with the library; what it writes is "
        "overwritten each time",
        err=True,
    )
    return compare(pairs, once, lambda one: typer.echo(f"penstock: {told(one)}", err=True))


def _take(ran: _Ran, folder: Path, status: int) -> None:
    """The reports in FOLDER; those of the last run count."""
    ran.reports, ran.notes = read_reports(folder)
    ran.lost += [line for one in ran.reports for line in text.lost(one)] + left_in_background(folder)
    if ran.reports or ran.notes:
        return
    if status == 0:
        why = (
            "no MPI-IO call was taken over: the program uses no MPI, is linked statically, or its launcher did not "
            "pass the environment on"
        )
        try:
            (folder / _PROBE).write_bytes(bytes(1 << 14))
        except OSError as error:
            why = f"the report could not be written: {folder}: {error.strerror}"
    else:
        why = "there is no report: the program ended before MPI_Finalize"
        why += "; writes that were kept back are lost (--defer none keeps none)" if status > 128 else ""
    ran.notes = [why]


def _content(form: Form, command: Sequence[str], status: int, ran: _Ran, compared: Comparison | None) -> str:
    if form is Form.json:
        content: dict[str, Any] = {
            "schema": SCHEMA,
            "command": list(command),
            "status": status,
            "reports": [one.raw for one in ran.reports],
            "notes": ran.notes,
            "compare": None if compared is None else compared.as_json(),
        }
        return json.dumps(content, indent=1) + "\n"
    if form is Form.html:
        from penstock.measure.unmodified.page import page

        return page(ran.reports, ran.notes, compared)
    lines = [] if compared is None else verdict(compared)
    for one in ran.reports:
        lines += text.lines(one)
    lines += [printable(one) for one in ran.notes]
    if ran.reports and compared is None:
        lines.append("  these are counts; penstock run --compare 6 -- COMMAND measures the time that it saves")
    return "".join(f"{line if line.startswith(' ') else f'penstock: {line}'}\n" for line in lines)


def _tell(content: str, ran: _Ran, compared: Comparison | None, output: Path | None) -> None:
    """CONTENT to OUTPUT, and the sentences that matter to standard error; all to standard error where it is None."""
    if output is None:
        typer.echo(content, nl=False, err=True)
        return
    lines = [] if compared is None else verdict(compared)
    lines += [printable(line) for line in (*map(text.headline, ran.reports), *ran.notes)]
    try:
        output.write_text(content, encoding="utf-8", errors="replace")  # of names that are no UTF-8
        lines.append(f"the report is {printable(str(output))}")
    except OSError as error:  # the status stays the program's
        lines.append(f"the report was not written: {printable(str(output))}: {error.strerror}")
    for line in lines:
        typer.echo(line if line.startswith(" ") else f"penstock: {line}", err=True)


def _must_be_writable(output: Path | None) -> None:
    """Finds out before the program runs, and leaves what is there."""
    if output is None:
        return
    try:
        output.open("ab").close()
    except OSError as error:
        raise UserError(f"{output}: {error.strerror}") from None
