"""catalogue.py: `penstock catalogue` searches the files of a folder by attribute and by dataset."""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from penstock.base import words
from penstock.base.errors import must_be_folder
from penstock.base.printable import printable
from penstock.cli import options
from penstock.files.catalogue import search
from penstock.files.catalogue.database import NAME, Catalogue, Changes, Row

SCHEMA = "penstock.catalogue/1"
MOST_SHOWN = 4


def register(app: typer.Typer) -> None:
    app.command()(catalogue)


def catalogue(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Look at all files below this folder.")],
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="CONDITION",
            help="List files with such an attribute: units=K, time>0.5, a/user!=ada; = != < <= > >=. All must hold.",
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            metavar="PATTERN",
            help="List files with such a dataset: rho, 'fluid/*'. All must hold.",
        ),
    ] = None,
    database: Annotated[
        Path | None, typer.Option("--database", metavar="FILE", help=f"Keep the catalogue in this file [DIR/{NAME}].")
    ] = None,
    no_update: Annotated[
        bool, typer.Option("--no-update", help="Search the catalogue as it is; look at no file.")
    ] = False,
    json_wanted: options.Json = False,
) -> None:
    """Search a tree of files by attribute and dataset.

    An SQLite database keeps the attributes and the names, types and shapes of datasets of HDF5 files, classic netCDF
    files, sets and indexes of series. Files whose size or time has changed are read again. A file that cannot be read
    is listed with the reason.
    """
    must_be_folder(folder)
    conditions = [search.parse(text) for text in where or []]
    known = Catalogue(folder, database)
    try:
        changes = Changes() if no_update else known.update()
        rows = known.find(conditions, name or [])
        broken = [] if no_update or not (conditions or name) else [row for row in known.find([], []) if row.error]
    finally:
        known.close()
    if json_wanted:
        found = {"schema": SCHEMA, "folder": str(folder), **asdict(changes), "files": [asdict(row) for row in rows]}
        typer.echo(json.dumps(found | {"unreadable": [asdict(row) for row in broken]}, indent=1))
        return
    _print(rows)
    for place, why in changes.unsearched.items():
        typer.echo(f"not searched: {printable(place)}: {printable(why)}")
    for row in broken:
        typer.echo(f"not searched: {printable(row.path)}: {printable(row.error or '')}")
    typer.echo(f"{len(rows)} file{'' if len(rows) == 1 else 's'}; {changes.read} read, {changes.known} as they were")


def _print(rows: list[Row]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("file", "format", "size", "modified", "attributes", "datasets"):
        table.add_column(title, overflow="fold", justify="right" if title == "size" else "left")
    for row in rows:
        modified = datetime.fromtimestamp(row.modified / 1e9, UTC).strftime("%Y-%m-%d %H:%M")
        shown = row.matched or [one for one in row.attributes if not one["object"]]
        attributes = [
            f"{one['object']}{'/' if one['object'] else ''}{one['name']}={_value(one['value'])}" for one in shown
        ]
        datasets = [f"{one['name']} ({', '.join(map(str, one['shape']))})" for one in row.datasets]
        cells = [printable(row.path), printable(row.format), words.size(row.bytes), modified]
        cells += [f"unreadable: {printable(row.error)}", ""] if row.error else [_few(attributes), _few(datasets)]
        table.add_row(*(Text(cell) for cell in cells), style="red" if row.error else "")
    if rows:
        console = Console()
        if not console.is_terminal:
            console.width = 200  # for grep
        console.print(table)


def _value(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.10g}"


def _few(texts: list[str]) -> str:
    more = len(texts) - MOST_SHOWN
    return "\n".join(printable(text[:80]) for text in texts[:MOST_SHOWN]) + (f"\n... {more} more" if more > 0 else "")
