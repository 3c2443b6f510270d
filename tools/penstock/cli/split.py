"""split.py: `penstock split` makes a set of files of one file."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.campaign import launch
from penstock.cli import ranks
from penstock.errors import UserError

PROGRAM = "penstock-convert"


def register(app: typer.Typer) -> None:
    app.command()(split)


def split(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="Any file or set that penstock reads.")],
    target: Annotated[Path, typer.Argument(metavar="TO", help="The new set's master; its extension says the format.")],
    parts: Annotated[int | None, typer.Option("--parts", help="So many files, each a slab of every dataset.")] = None,
    per_rank: Annotated[int | None, typer.Option("--per-rank", help="A file for each of so many ranks.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is at TO.")] = False,
    np: Annotated[int, typer.Option("--np", help="Ranks that work, with --parts.")] = 2,
    mpi: Annotated[launch.Mpi, typer.Option("--mpi", help="The MPI library to run under.")] = launch.Mpi.openmpi,
) -> None:
    """Make a set of files of FILE: --parts M subfiles, or --per-rank N files as N processes would have written them.

    Readers open TO, which knows the parts that lie beside it; `penstock join` makes one file of them again.
    """
    if (parts is None) == (per_rank is None):
        raise UserError("say either --parts M or --per-rank N")
    count = parts if parts is not None else per_rank
    if count is None or count < 1:
        raise UserError(f"--{'parts' if parts is not None else 'per-rank'} must be at least 1, not {count}")
    if per_rank is not None and mpi is launch.Mpi.serial and per_rank != 1:
        raise UserError(f"--per-rank {per_rank} needs as many ranks, and a serial build has one: use --parts, or MPI")
    plan = f"subfiles:parts={parts}" if parts is not None else "per_process"
    words = [str(source), str(target), "--plan", plan, *(["--force"] if force else [])]
    ranks.run(PROGRAM, words, np if per_rank is None else per_rank, mpi)
    typer.echo(f"{target} holds all of {source}")
