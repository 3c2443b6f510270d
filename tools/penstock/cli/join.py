"""join.py: `penstock join` makes one file of a set of files, or another format of a file."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.campaign import launch
from penstock.cli import ranks

PROGRAM = "penstock-convert"


def register(app: typer.Typer) -> None:
    app.command()(join)


def join(
    source: Annotated[Path, typer.Argument(metavar="FROM", help="The master or index of a set, or any single file.")],
    target: Annotated[Path, typer.Argument(metavar="TO", help="The new file; its extension says the format.")],
    plan: Annotated[str, typer.Option("--plan", help="How the new file is written.")] = "",
    np: Annotated[int, typer.Option("--np", help="Ranks.")] = 2,
    mpi: Annotated[launch.Mpi, typer.Option("--mpi", help="The MPI library to run under.")] = launch.Mpi.openmpi,
) -> None:
    """Make one file of a set of files (per_process, subfiles, chunks), in parallel and in bounded memory.

    What is at TO is replaced; `penstock convert` asks first.
    """
    words = [str(source), str(target), "--force", *(["--plan", plan] if plan else [])]
    ranks.run(PROGRAM, words, np, mpi)
    typer.echo(f"{target} holds all of {source}")
