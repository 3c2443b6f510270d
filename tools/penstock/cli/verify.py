"""verify.py: `penstock verify` compares files with the checksums that were committed with them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, TaskID

from penstock.campaign import launch
from penstock.cli import lines
from penstock.report import words

PROGRAM = "penstock-verify"
MOST_PLACES = 20
Line = lines.Line


def register(app: typer.Typer) -> None:
    app.command()(verify)


def verify(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Single files, or masters of sets.")],
    np: Annotated[int, typer.Option("--np", help="Ranks that read.")] = 2,
    mpi: Annotated[launch.Mpi, typer.Option("--mpi", help="The MPI library to run under.")] = launch.Mpi.openmpi,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON for each file.")] = False,
) -> None:
    """Compare all data of files with the checksums that were committed with them; say what is damaged.

    The exit status is 1 where anything differs, or has no checksums.
    """
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=as_json or not console.is_terminal) as bar:
        tasks: dict[str, TaskID] = {}

        def moved(file: str, share: float) -> None:
            if file not in tasks:
                tasks[file] = bar.add_task(Path(file).name, total=1.0)
            bar.update(tasks[file], completed=share)

        results = lines.run(PROGRAM, [], files, np, mpi, moved)
    lines.conclude(results, as_json, _describe, agrees)


def agrees(result: Line) -> bool:
    found = result.get("found")
    return found is not None and not any(found[what] for what in ("lost", "damages", "metadata_differ", "files"))


def _describe(result: Line) -> str:
    name = result["file"]
    found = result["found"]
    when = datetime.fromtimestamp(found["committed_at"] / 1e9, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    text = [f"{name}: {words.size(found['bytes'])} compared with the checksums of its commit, {when}"]
    text += [f"  lost: {what}" for what in found["lost"][:MOST_PLACES]]
    if len(found["lost"]) > MOST_PLACES:
        text.append(f"  and {len(found['lost']) - MOST_PLACES} pieces more (--json lists all)")
    text += [f"  {damage['what']}" for damage in found["damages"][:MOST_PLACES]]
    if len(found["damages"]) > MOST_PLACES:
        text.append(f"  and {len(found['damages']) - MOST_PLACES} places more")
    text += [f"  {what}" for what in found["files"][:MOST_PLACES]]
    if len(found["files"]) > MOST_PLACES:
        text.append(f"  and {len(found['files']) - MOST_PLACES} files more")
    if found["metadata_differ"]:
        text.append("  the header before the data, or the index, is not as it was committed")
    text += [f"  '{dataset}' has no checksums" for dataset in found["unchecked"]]
    text.append(f"  {_verdict(found)}")
    if found["modified"] and not agrees(result):
        text.append(f"  if it was meant: penstock seal {name}")
    if found["rebuildable"]:
        text.append(f"  that one file can be rebuilt: penstock repair {name}")
    return "\n".join(text)


def _verdict(found: Line) -> str:
    if found["lost"]:
        return "DAMAGED: parts of the set are lost; what is left can be read with lost_parts=zeros"
    if not found["damages"] and not found["metadata_differ"] and not found["files"]:
        return "all agree" if not found["unchecked"] else "all others agree"
    if found["modified"]:
        return "modified since its commit: another tool wrote to it, which may be meant, or a copy of it was damaged"
    return "DAMAGED: nobody has written to it since its commit"
