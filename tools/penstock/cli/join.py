"""join.py: `penstock join` makes one file of a set of files, or another format of a file."""

import subprocess
from pathlib import Path
from typing import Annotated

import typer

from penstock.campaign import launch
from penstock.errors import UserError

PROGRAM = "penstock-join"


def register(app: typer.Typer) -> None:
    app.command()(join)


def join(
    source: Annotated[Path, typer.Argument(metavar="FROM", help="The master or index of a set, or any single file.")],
    target: Annotated[Path, typer.Argument(metavar="TO", help="The new file; its extension says the format.")],
    plan: Annotated[str, typer.Option("--plan", help="How the new file is written.")] = "",
    np: Annotated[int, typer.Option("--np", help="Ranks.")] = 2,
    mpi: Annotated[launch.Mpi, typer.Option("--mpi", help="The MPI library to run under.")] = launch.Mpi.openmpi,
) -> None:
    """Make one file of a set of files (per_process, subfiles, chunks), in parallel and in bounded memory."""
    if np < 1:
        raise UserError(f"--np must be at least 1, not {np}")
    words = [str(launch.program(PROGRAM, mpi)), str(source), str(target), *([plan] if plan else [])]
    ran = subprocess.run(
        [*launch.mpiexec(mpi, np), *words], env=launch.environment(), stderr=subprocess.PIPE, text=True, check=False
    )
    if ran.returncode != 0:
        said = [line for line in ran.stderr.splitlines() if line.startswith(f"{PROGRAM}: ")]
        raise UserError(said[0].removeprefix(f"{PROGRAM}: ") if said else ran.stderr.strip() or f"{PROGRAM} failed", 1)
    typer.echo(f"{target} holds all of {source}")
