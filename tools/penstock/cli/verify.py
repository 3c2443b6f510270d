"""verify.py: `penstock verify` compares files with the checksums of their commit; it also repairs and seals them."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from penstock.base import launch, words
from penstock.base.errors import UserError
from penstock.base.printable import printable
from penstock.cli import lines, options
from penstock.cli.against import Limits, compare_with

PROGRAM = "penstock-verify"
REPAIR_PROGRAM = "penstock-repair"
SEAL_PROGRAM = "penstock-seal"
MOST_PLACES = 20
Line = lines.Line
Files = Annotated[list[Path], typer.Argument(metavar="FILE", help="Single files, or masters or indexes of sets.")]
Believe = Annotated[
    bool, typer.Option("--force", help="With --seal: believe what is there even where it looks like damage.")
]


def register(app: typer.Typer) -> None:
    app.command()(verify)
    app.command(hidden=True)(repair)
    app.command(hidden=True)(seal)


def verify(
    files: Files,
    repair: Annotated[
        bool, typer.Option("--repair", help="Rebuild the one file of a set that is lost or damaged, from its parity.")
    ] = False,
    seal: Annotated[
        bool, typer.Option("--seal", help="Renew the checksums of files that another tool changed on purpose.")
    ] = False,
    force: Believe = False,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            metavar="REFERENCE",
            help="Compare values with this file or set, not with checksums; say by how much they differ.",
        ),
    ] = None,
    max_error: Annotated[
        float | None, typer.Option("--max-error", min=0, help="With --against: values may differ by so much.")
    ] = None,
    max_relative_error: Annotated[
        float | None,
        typer.Option("--max-relative-error", min=0, help="With --against: or by so much of the reference's value."),
    ] = None,
    only: options.Only = None,
    np: options.Ranks = options.RANKS,
    mpi: options.Mpi = launch.HERE,
    as_json: options.JsonLines = False,
) -> None:
    """Compare files with their checksums; repair or seal them.

    All data is read and compared with what was committed; what is damaged is named. The exit status is 1 where anything
    differs, has no checksums, or is lost, and 2 where there is no such file.

    --repair works on sets that were written with parity=1 in their plan. Every file of the set is compared first; the
    one that is missing or damaged is rebuilt bit for bit, and whole ones are never touched. Two or more, or a set
    without parity, are an error that says what is lost.

    --seal names what differs from the commit, so look whether it is what you changed; verify agrees afterwards. A file
    whose modification time is still that of its commit was damaged: it is refused without --force. A single file
    is cloned, and the clone takes its place in one step, with all that the other tool put in it; added datasets get
    checksums as far as the record has room, and those that get none are named. The parts of a set stay in place; its
    index and parity are written again.

    --against compares the values of all datasets with those of REFERENCE, which may have another format, other types
    and another compression, and needs no checksums. For each dataset the largest error and the largest relative error
    are said, with the element's index, and whether all bits are the same. Values with scale_factor and add_offset are
    unpacked first. A dataset that only one of both has differs.
    """
    if against is not None:
        if repair or seal or force:
            raise UserError("--against compares values only: --repair, --seal and --force cannot stand beside it")
        compare_with(against, files, only, Limits(max_error, max_relative_error), np, mpi, as_json)
        return
    for name, given in (("--max-error", max_error), ("--max-relative-error", max_relative_error), ("--only", only)):
        if given is not None:
            raise UserError(f"{name} is about --against")
    if repair and seal:
        raise UserError("--repair and --seal: one at a time")
    if force and not seal:
        raise UserError("--force is about --seal")
    if repair or seal:
        program, describe = (REPAIR_PROGRAM, _repaired) if repair else (SEAL_PROGRAM, _sealed)
        results = lines.run(program, ["--force"] if force else [], files, np, mpi)
        lines.conclude(results, as_json, describe, lambda result: "error" not in result)
        return
    lines.conclude(_compare(files, np, mpi, as_json), as_json, _compared, agrees)


def repair(
    files: Files,
    np: options.Ranks = options.RANKS,
    mpi: options.Mpi = launch.HERE,
    as_json: options.JsonLines = False,
) -> None:
    """The same as `penstock verify --repair`."""
    verify(files, repair=True, np=np, mpi=mpi, as_json=as_json)


def seal(
    files: Files,
    force: Believe = False,
    np: options.Ranks = options.RANKS,
    mpi: options.Mpi = launch.HERE,
    as_json: options.JsonLines = False,
) -> None:
    """The same as `penstock verify --seal`."""
    verify(files, seal=True, force=force, np=np, mpi=mpi, as_json=as_json)


def _compare(files: list[Path], np: int, mpi: launch.Mpi, quiet: bool) -> list[Line]:
    if quiet or not sys.stderr.isatty():
        return lines.run(PROGRAM, [], files, np, mpi)
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress, TaskID

    with Progress(console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def moved(file: str, share: float) -> None:
            if file not in tasks:
                tasks[file] = bar.add_task(escape(printable(Path(file).name)), total=1.0)
            bar.update(tasks[file], completed=share)

        return lines.run(PROGRAM, ["--progress"], files, np, mpi, moved)


def agrees(result: Line) -> bool:
    found = result.get("found")
    return found is not None and not any(found[what] for what in ("lost", "damages", "metadata_differ", "files"))


def _compared(result: Line) -> str:
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
        text.append(f"  if it was meant: penstock verify --seal {name}")
    if found["rebuildable"]:
        text.append(f"  that one file can be rebuilt: penstock verify --repair {name}")
    return "\n".join(text)


def _verdict(found: Line) -> str:
    if found["lost"]:
        return "DAMAGED: parts of the set are lost; what is left can be read with lost_parts=zeros"
    if not found["damages"] and not found["metadata_differ"] and not found["files"]:
        return "all agree" if not found["unchecked"] else "all others agree"
    if found["modified"]:
        return "modified since its commit: another tool wrote to it, which may be meant, or a copy of it was damaged"
    return "DAMAGED: nobody has written to it since its commit"


def _repaired(result: Line) -> str:
    if not result["rebuilt"]:
        looked = f"its {result['files']} files are" if result["files"] else "it is"
        return f"{result['file']}: {looked} as committed, there is nothing to repair"
    text = f"{result['file']}: rebuilt {result['rebuilt']} ({words.size(result['bytes'])}): {result['why']}"
    if result["kept"]:
        text += f"\n  it was changed after its commit: what was there is now {result['kept']}"
    return text


def _sealed(result: Line) -> str:
    if not result["renewed"]:
        return f"{result['file']}: all agrees with its checksums, there is nothing to seal"
    found = result["found"]
    text = [f"{result['file']}: sealed as it is now"]
    text += [f"  was: {what}" for what in found[:MOST_PLACES]]
    if len(found) > MOST_PLACES:
        text.append(f"  and {len(found) - MOST_PLACES} places more (--json lists all)")
    text += [f"  '{dataset}' has no checksums" for dataset in result["unchecked"]]
    return "\n".join(text)
