"""methods.py: `penstock methods` lists every way of writing that this build has, or why it has it not."""

import json
from typing import Annotated

import typer
from rich.console import Console

from penstock.base import launch
from penstock.cli import options
from penstock.measure.campaign.program import ask
from penstock.measure.report.methods import Methods, cells, parameters, ways


def register(app: typer.Typer) -> None:
    app.command()(methods)


def methods(
    mpi: options.BuildOf = launch.HERE,
    json_wanted: Annotated[bool, typer.Option("--json", help="Print the full table as JSON.")] = False,
) -> None:
    """List the ways to write that this build has.

    You see formats, placements, transports and engines with their parameters, why one is missing, and when each is
    good.
    """
    told = ask(mpi, "--methods-json")
    if json_wanted:
        typer.echo(told, nl=False)
        return
    found: Methods = json.loads(told)
    console = Console()
    console = Console(width=max(console.width, 120))
    for title, table in (
        ("A plan is FORMAT/TRANSPORT[:name=value,...] or ENGINE[:name=value,...]", ways(found)),
        ("The accesses of the MPI standard's table: raw/mpiio:positioning=...,coordination=...", cells(found)),
        ("Parameters", parameters(found)),
    ):
        console.print(f"\n{title}", style="bold", highlight=False, markup=False)
        console.print(table)
