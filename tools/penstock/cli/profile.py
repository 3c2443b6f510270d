"""profile.py: `penstock profile`: runs a program that knows nothing of penstock, and says where its I/O is called."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from penstock.base import preload
from penstock.base.errors import UserError
from penstock.base.printable import printable
from penstock.jobs.profile.run import NAME, Collector, darshan_library, make_folder, probe, settings

_PASSED = {"allow_interspersed_args": False}  # what follows the program is its own


def register(app: typer.Typer) -> None:
    app.command("profile", context_settings=_PASSED)(profile)


def profile(
    command: Annotated[
        list[str], typer.Argument(metavar="-- COMMAND", help="The command as you run it otherwise, with mpiexec.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Record in this folder, which all nodes must see."),
    ] = None,
    collector: Annotated[
        Collector | None,
        typer.Option(
            "--with", help="Record with this library; without it, Darshan's where there is one, else our own."
        ),
    ] = None,
) -> None:
    """Run any program and record what it does to files.

    The program is not changed, and its output and exit status are its own. The functions and the places in its source
    that take most of the time are printed on standard error; `penstock doctor DIR` says more.
    """
    darshan = darshan_library() if collector is not Collector.own else None
    if collector is Collector.darshan and darshan is None:
        raise UserError("no libdarshan.so: name it with DARSHAN_RUNTIME, or take --with own")
    chosen = Collector.darshan if darshan is not None else Collector.own
    library = darshan if darshan is not None else preload.library(NAME)
    preload.preloaded(library)  # says what is wrong with its path before there is a folder
    folder = make_folder(output)
    words, changes = preload.with_ranks(command, settings(library, folder, chosen, command))
    status = preload.run(words, os.environ | changes)
    sys.stdout.flush()
    _tell(folder, chosen)
    if status > 128 and chosen is Collector.own:
        typer.echo(
            "penstock: the program was killed: of each process there is what it had saved, every "
            "PENSTOCK_PROFILE_EVERY (30) seconds",
            err=True,
        )
    raise typer.Exit(status)


def _tell(folder: Path, collector: Collector) -> None:
    shown = os.path.relpath(folder) if folder.is_relative_to(Path.cwd()) else str(folder)
    if collector is Collector.darshan:
        logs = sorted(folder.glob("*.darshan"))
        typer.echo(
            f"penstock: {shown}/{logs[0].name}; next: penstock doctor {shown}/{logs[0].name}"
            if logs
            else "penstock: Darshan left no log: the program may be linked statically, or was killed",
            err=True,
        )
        return
    if next(folder.glob("*.profile"), None) is None:
        try:
            probe(folder)
            why = "no calls on files were seen: the program does none, is linked statically, or was killed early"
        except OSError as error:
            why = f"the profile could not be written: {shown}: {error.strerror}"
        typer.echo(f"penstock: {why}", err=True)
        return
    from penstock.diagnose.facts import Facts
    from penstock.diagnose.record import call_sites
    from penstock.diagnose.rules.common import share
    from penstock.jobs.profile.overhead import describe_overhead
    from penstock.jobs.profile.reader import read_profile

    try:
        job = read_profile(folder)
    except UserError as error:
        typer.echo(f"penstock: {printable(str(error))}", err=True)
        return
    outer = Facts(job).outermost
    typer.echo(f"penstock: I/O is {share(outer.mean_share)} of the mean rank's time, {job.seconds:.4g} s", err=True)
    for part, one in call_sites(job)[:3]:
        typer.echo(f"  {share(part)} of it in {printable(one.function)} called from {printable(one.place)}", err=True)
    for trouble in job.troubles:
        typer.echo(f"  note: {printable(trouble)}", err=True)
    typer.echo(f"  {describe_overhead(folder, job.seconds)}\n  {shown}; next: penstock doctor {shown}", err=True)
