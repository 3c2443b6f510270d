"""methods.py: `penstock methods` lists every way of writing that this build has, or why it has it not."""

import json
import subprocess
from typing import Annotated

import typer
from rich.console import Console

from penstock.base import launch
from penstock.base.errors import UserError
from penstock.cli import options
from penstock.measure.report.methods import Methods, cells, parameters, ways

PROGRAM = "penstock-bench"


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
    command = [*launch.command(PROGRAM, mpi, 1), "--methods-json"]
    ran = subprocess.run(command, env=launch.environment(), capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise UserError("; ".join(ran.stderr.strip().splitlines()) or f"{PROGRAM} failed", 1)
    if json_wanted:
        typer.echo(ran.stdout, nl=False)
        return
    found: Methods = json.loads(ran.stdout)
    console = Console()
    console = Console(width=max(console.width, 120))
    for title, table in (
        ("A plan is FORMAT/TRANSPORT[:name=value,...] or ENGINE[:name=value,...]", ways(found)),
        ("The accesses of the MPI standard's table: raw/mpiio:positioning=...,coordination=...", cells(found)),
        ("Parameters", parameters(found)),
    ):
        console.print(f"\n{title}", style="bold", highlight=False, markup=False)
        console.print(table)
