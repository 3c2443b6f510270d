"""import_.py: `penstock import ramses` makes one file of what a program wrote as a file for each process."""

import subprocess
from pathlib import Path
from typing import Annotated

import typer

from penstock.campaign import launch
from penstock.errors import UserError

PROGRAM = "penstock-import"


def register(app: typer.Typer) -> None:
    commands = typer.Typer(
        no_args_is_help=True, help="Make one file of what a program wrote as a file for each process."
    )
    commands.command()(ramses)
    commands.callback()(lambda: None)  # a group, even with one command
    app.add_typer(commands, name="import")


def ramses(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The output: output_00002, with info_00002.txt in it.")
    ],
    target: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The new file.")],
    plan: Annotated[str, typer.Option("--plan", help="How the new file is written.")] = "",
    np: Annotated[int, typer.Option("--np", help="Ranks, among which the processes' files are dealt out.")] = 2,
    mpi: Annotated[launch.Mpi, typer.Option("--mpi", help="The MPI library to run under.")] = launch.Mpi.openmpi,
) -> None:
    """Import an output of the RAMSES code: all grids of each level, their positions, refinement, owners, variables."""
    if np < 1:
        raise UserError(f"--np must be at least 1, not {np}")
    words = [str(launch.program(PROGRAM, mpi)), "ramses", str(folder), str(target), *([plan] if plan else [])]
    ran = subprocess.run(
        [*launch.mpiexec(mpi, np), *words], env=launch.environment(), stderr=subprocess.PIPE, text=True, check=False
    )
    if ran.returncode != 0:
        said = [line for line in ran.stderr.splitlines() if line.startswith(f"{PROGRAM}: ")]
        raise UserError(said[0].removeprefix(f"{PROGRAM}: ") if said else ran.stderr.strip() or f"{PROGRAM} failed", 1)
    typer.echo(f"{target} holds all grids of {folder}")
