"""repair.py: `penstock repair` rebuilds the lost or damaged file of sets that were written with parity=1."""

from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.campaign import launch
from penstock.cli import lines
from penstock.report import words

PROGRAM = "penstock-repair"


def register(app: typer.Typer) -> None:
    app.command()(repair)


def repair(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Masters or indexes of sets.")],
    np: Annotated[int, typer.Option("--np", help="Ranks that read and write.")] = 2,
    mpi: Annotated[launch.Mpi, typer.Option("--mpi", help="The MPI library to run under.")] = launch.Mpi.openmpi,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON for each file.")] = False,
) -> None:
    """Rebuild the one file of a set that is missing or damaged, bit for bit, from the others and their parity.

    The set must have been written with parity=1 in its plan. Every file of it is compared with its checksum first;
    those that are whole are never touched. Two or more that are not, or a set without parity, are an error that says
    what is lost. The exit status is 1 where anything is lost.
    """
    results = lines.run(PROGRAM, [], files, np, mpi)
    lines.conclude(results, as_json, _describe, lambda result: "error" not in result)


def _describe(result: dict[str, Any]) -> str:
    if not result["rebuilt"]:
        looked = f"its {result['files']} files are" if result["files"] else "it is"
        return f"{result['file']}: {looked} as committed, there is nothing to repair"
    text = f"{result['file']}: rebuilt {result['rebuilt']} ({words.size(result['bytes'])}): {result['why']}"
    if result["kept"]:
        text += f"\n  it was changed after its commit: what was there is now {result['kept']}"
    return text
