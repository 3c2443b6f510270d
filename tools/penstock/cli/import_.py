"""import_.py: `penstock import` makes one file of what a program wrote as a file for each process."""

import json
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from penstock.base import launch
from penstock.base.errors import must_be_there
from penstock.base.printable import printable
from penstock.cli import options, ranks
from penstock.files import records as descriptions

PROGRAM = "penstock-import"


def register(app: typer.Typer) -> None:
    commands = typer.Typer(no_args_is_help=True, help="Make one file of what each process wrote for itself.")
    commands.command()(ramses)
    commands.command()(records)
    app.add_typer(commands, name="import")


def ramses(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The output to import: output_00002, with info_00002.txt in it.")
    ],
    target: options.Output,
    plan: options.Plan = "",
    force: options.Force = False,
    np: options.Ranks = options.RANKS,
    mpi: options.Mpi = launch.HERE,
) -> None:
    """Import an output of the RAMSES code.

    The new file has all grids of each level with their positions, refinement, owners and variables.
    """
    must_be_there(folder)
    _run(["ramses", str(folder)], target, plan, force, np, mpi)
    typer.echo(printable(f"{target} holds all grids of {folder}"))


def records(
    description: Annotated[
        Path, typer.Argument(metavar="SET.toml", help="The description of the files; docs/import-records.md says how.")
    ],
    target: options.Output,
    plan: options.Plan = "",
    force: options.Force = False,
    np: options.Ranks = options.RANKS,
    mpi: options.Mpi = launch.HERE,
) -> None:
    """Import unformatted Fortran files, one per process, that a small TOML file describes."""
    described = descriptions.read(description)
    with tempfile.NamedTemporaryFile("w", suffix=".json", prefix="penstock-import-") as file:
        json.dump(described, file)
        file.flush()
        _run(["records", file.name], target, plan, force, np, mpi)
    typer.echo(printable(f"{target} holds what {description} describes, of {len(described['files'])} files"))


def _run(what: list[str], target: Path, plan: str, force: bool, np: int, mpi: launch.Mpi) -> None:
    words = [*what, str(target), *([plan] if plan else []), *(["--force"] if force else [])]
    ranks.run(PROGRAM, words, np, mpi)
