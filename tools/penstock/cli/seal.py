"""seal.py: `penstock seal` renews the checksums of files that another tool changed on purpose."""

from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.campaign import launch
from penstock.cli import lines

PROGRAM = "penstock-seal"
MOST_PLACES = 20


def register(app: typer.Typer) -> None:
    app.command()(seal)


def seal(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Single files, or masters of sets.")],
    force: Annotated[
        bool, typer.Option("--force", help="Also where nobody has written to the file since its commit: it is damage.")
    ] = False,
    np: Annotated[int, typer.Option("--np", help="Ranks that read and write.")] = 2,
    mpi: Annotated[launch.Mpi, typer.Option("--mpi", help="The MPI library to run under.")] = launch.Mpi.openmpi,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON for each file.")] = False,
) -> None:
    """Renew the checksums of files that another tool changed on purpose: `penstock verify` agrees afterwards.

    What differs from the commit is named, so look whether it is what you changed. A file that nobody has written to
    since its commit, by its time, was damaged: it is refused unless you say --force, which believes what is there now.
    A single file is cloned, and the clone takes its place in one step, with all that the other tool put in it; datasets
    that were added have checksums as far as the file's record has room, and are named where it has none. The parts of
    a set stay where they are; its index, and its parity, are made anew.
    """
    results = lines.run(PROGRAM, ["--force"] if force else [], files, np, mpi)
    lines.conclude(results, as_json, _describe, lambda result: "error" not in result)


def _describe(result: dict[str, Any]) -> str:
    if not result["renewed"]:
        return f"{result['file']}: all agrees with its checksums, there is nothing to seal"
    found = result["found"]
    text = [f"{result['file']}: sealed as it is now"]
    text += [f"  was: {what}" for what in found[:MOST_PLACES]]
    if len(found) > MOST_PLACES:
        text.append(f"  and {len(found) - MOST_PLACES} places more (--json lists all)")
    text += [f"  '{dataset}' has no checksums" for dataset in result["unchecked"]]
    return "\n".join(text)
