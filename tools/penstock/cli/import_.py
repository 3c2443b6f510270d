"""import_.py: `penstock import` makes one file of what a program wrote as a file for each process."""

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from penstock import records as descriptions
from penstock.campaign import launch
from penstock.errors import UserError

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
    target: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Write this file.")],
    plan: Annotated[str, typer.Option("--plan", help="Write the new file by this plan.")] = "",
    np: Annotated[int, typer.Option("--np", help="Use so many ranks, which share the files among them.")] = 2,
    mpi: Annotated[launch.Mpi, typer.Option("--mpi", help="Run under this MPI library.")] = launch.HERE,
) -> None:
    """Import an output of the RAMSES code.

    The new file has all grids of each level with their positions, refinement, owners and variables.
    """
    _run(["ramses", str(folder)], target, plan, np, mpi)
    typer.echo(f"{target} holds all grids of {folder}")


def records(
    description: Annotated[
        Path, typer.Argument(metavar="SET.toml", help="The description of the files; docs/import-records.md says how.")
    ],
    target: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Write this file.")],
    plan: Annotated[str, typer.Option("--plan", help="Write the new file by this plan.")] = "",
    np: Annotated[int, typer.Option("--np", help="Use so many ranks, which share the files among them.")] = 2,
    mpi: Annotated[launch.Mpi, typer.Option("--mpi", help="Run under this MPI library.")] = launch.HERE,
) -> None:
    """Import unformatted Fortran files, one per process, that a small TOML file describes."""
    described = descriptions.read(description)
    with tempfile.NamedTemporaryFile("w", suffix=".json", prefix="penstock-import-") as file:
        json.dump(described, file)
        file.flush()
        _run(["records", file.name], target, plan, np, mpi)
    typer.echo(f"{target} holds what {description} describes, of {len(described['files'])} files")


def _run(what: list[str], target: Path, plan: str, np: int, mpi: launch.Mpi) -> None:
    if np < 1:
        raise UserError(f"--np must be at least 1, not {np}")
    ranks = 1 if mpi is launch.Mpi.serial else np
    words = [str(launch.program(PROGRAM, mpi)), *what, str(target), *([plan] if plan else [])]
    ran = subprocess.run(
        [*launch.mpiexec(mpi, ranks), *words], env=launch.environment(), stderr=subprocess.PIPE, text=True, check=False
    )
    if ran.returncode != 0:
        said = [line for line in ran.stderr.splitlines() if line.startswith(f"{PROGRAM}: ")]
        raise UserError(said[0].removeprefix(f"{PROGRAM}: ") if said else ran.stderr.strip() or f"{PROGRAM} failed", 1)
