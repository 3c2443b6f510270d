"""verify.py: `penstock verify` compares files with the checksums that were committed with them."""

import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from penstock.campaign import launch
from penstock.errors import UserError
from penstock.report import words

PROGRAM = "penstock-verify"
MOST_PLACES = 20
Line = dict[str, Any]


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
    if np < 1:
        raise UserError(f"--np must be at least 1, not {np}")
    ranks = 1 if mpi is launch.Mpi.serial else np
    command = [*launch.mpiexec(mpi, ranks), str(launch.program(PROGRAM, mpi)), *map(str, files)]
    results = list(_run(command, quiet=as_json))
    if len(results) < len(files):
        raise UserError(f"{PROGRAM} ended before it had seen all files", 1)
    for result in results:
        typer.echo(json.dumps(result) if as_json else _describe(result))
    if not all(_agrees(result) for result in results):
        raise typer.Exit(1)


def _run(command: list[str], quiet: bool) -> Iterator[Line]:
    """The last line of each file; those before it move the bar."""
    console = Console(stderr=True)
    with (
        subprocess.Popen(
            command, env=launch.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as ran,
        Progress(console=console, transient=True, disable=quiet or not console.is_terminal) as bar,
    ):
        assert ran.stdout is not None
        assert ran.stderr is not None
        tasks: dict[str, Any] = {}
        for text in ran.stdout:
            if not text.startswith("{"):
                continue
            line = json.loads(text)
            name = line["file"]
            if name not in tasks:
                tasks[name] = bar.add_task(Path(name).name, total=1.0)
            bar.update(tasks[name], completed=line.get("share", 1.0))
            if "share" not in line:
                yield line
        said = [line for line in ran.stderr.read().splitlines() if line.startswith(f"{PROGRAM}: ")]
    if said:
        raise UserError(said[0].removeprefix(f"{PROGRAM}: "), 1)


def _agrees(result: Line) -> bool:
    found = result.get("found")
    return found is not None and not found["damages"] and not found["metadata_differ"] and not found["files"]


def _describe(result: Line) -> str:
    name = result["file"]
    if "error" in result:
        error: str = result["error"]
        return error if name in error else f"'{name}': {error}"
    found = result["found"]
    when = datetime.fromtimestamp(found["committed_at"] / 1e9, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    lines = [f"{name}: {words.size(found['bytes'])} compared with the checksums of its commit, {when}"]
    lines += [f"  lost: {what}" for what in found["lost"][:MOST_PLACES]]
    if len(found["lost"]) > MOST_PLACES:
        lines.append(f"  and {len(found['lost']) - MOST_PLACES} pieces more (--json lists all)")
    lines += [f"  {damage['what']}" for damage in found["damages"][:MOST_PLACES]]
    if len(found["damages"]) > MOST_PLACES:
        lines.append(f"  and {len(found['damages']) - MOST_PLACES} places more")
    lines += [f"  {what}" for what in found["files"][:MOST_PLACES]]
    if len(found["files"]) > MOST_PLACES:
        lines.append(f"  and {len(found['files']) - MOST_PLACES} files more")
    if found["metadata_differ"]:
        lines.append("  the header before the data, or the index, is not as it was committed")
    lines += [f"  '{dataset}' has no checksums" for dataset in found["unchecked"]]
    lines.append(f"  {_verdict(found)}")
    if found["modified"] and not _agrees(result):
        lines.append(f"  if it was meant: penstock seal {name}")
    if len(found["files"]) == 1:
        lines.append(f"  that one file can be rebuilt: penstock repair {name}")
    return "\n".join(lines)


def _verdict(found: Line) -> str:
    if found["lost"]:
        return "DAMAGED: parts of the set are lost; what is left can be read with lost_parts=zeros"
    if not found["damages"] and not found["metadata_differ"] and not found["files"]:
        return "all agree" if not found["unchecked"] else "all others agree"
    if found["modified"]:
        return "modified since its commit: another tool wrote to it, which may be meant, or a copy of it was damaged"
    return "DAMAGED: nobody has written to it since its commit"
