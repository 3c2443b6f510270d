"""hints.py: `penstock hints` lists the MPI-IO hints known, and which of them have an effect here."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from penstock.base.errors import UserError, must_be_folder
from penstock.measure.hints.probe import Finding, Honoured, Library, Probed, probe_hints
from penstock.measure.hints.tables import known_hints

FILE_WIDTH = 180  # of a table that goes to a file or a pipe
STYLES = {Honoured.yes: "bold", Honoured.no: "", Honoured.kills: "red", Honoured.not_probed: "dim"}


def register(app: typer.Typer) -> None:
    app.command()(hints)


def hints(
    mpi: Annotated[Library, typer.Option(help="Probe this implementation of MPI-IO.")] = Library.ompio,
    np: Annotated[int, typer.Option("--np", min=2, help="Use so many ranks.")] = 4,
    folder: Annotated[Path, typer.Option("--dir", help="Write the small files to this folder.")] = Path(),
    only: Annotated[list[str] | None, typer.Option("--hint", help="Probe only this hint. Repeatable.")] = None,
    as_json: Annotated[
        Path | None, typer.Option("--json", help="Write the full result as JSON to this file too.")
    ] = None,
) -> None:
    """Find out which MPI-IO hints have an effect here.

    All known hints are listed. Each is set for a small file, and its effect is looked for.
    """
    wanted = known_hints()
    if only:
        unknown = set(only) - {hint.name for hint in wanted}
        if unknown:
            raise UserError(f"no hint '{sorted(unknown)[0]}' is known; `penstock hints` lists them")
        wanted = [hint for hint in wanted if hint.name in only]
    must_be_folder(folder)
    probed = probe_hints(wanted, mpi, np, folder.resolve())
    if as_json:
        as_json.write_text(json.dumps(_record(probed, mpi), indent=1), encoding="utf-8")
    console = Console()
    if not console.is_terminal:
        console = Console(width=FILE_WIDTH)
    console.print(f"{probed.version}; {mpi}, {np} ranks on this host", highlight=False)
    console.print(_table(probed.findings))
    if probed.control is not Honoured.no:
        raise UserError("a hint that does not exist had an effect: these findings cannot be believed", 1)


def _record(probed: Probed, mpi: Library) -> dict[str, object]:
    return {
        "schema": "penstock.hints/1",
        "library": probed.version,
        "io": mpi,
        "np": probed.ranks,
        "control": probed.control,
        "hints": [finding.as_json() for finding in probed.findings],
    }


def _table(findings: list[Finding]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("hint", "set by", "honoured", "seen", "meaning", "allowed", "default"):
        made.add_column(name, overflow="fold", no_wrap=name in {"hint", "set by", "honoured"})
    layer = ""
    for finding in findings:
        hint = finding.hint
        if hint.layer != layer:
            made.add_section()
            made.add_row(Text(hint.layer, style="italic"))
            layer = hint.layer
        cells = (hint.name, hint.how, finding.honoured, finding.evidence, hint.meaning, hint.allowed, hint.default)
        made.add_row(*(Text(cell) for cell in cells), style=STYLES[finding.honoured])
    return made
