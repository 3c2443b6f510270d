"""ls.py: `penstock ls` lists the datasets of files, or the files of a folder, a line for each."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.campaign import launch
from penstock.catalogue.contents import kind_of
from penstock.cli import lines, looked_at
from penstock.container import MAGIC
from penstock.errors import UserError
from penstock.leftovers import names
from penstock.report import words

MOST_VALUE = 60


def register(app: typer.Typer) -> None:
    app.command()(ls)


def ls(
    path: Annotated[
        Path, typer.Argument(metavar="FILE|FOLDER", help="A file, the master of a set, or a folder of them.")
    ],
    patterns: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Only datasets like 'level_*/rho'.")
    ] = None,
    long: Annotated[bool, typer.Option("--long", "-l", help="Attributes, too, and where the data is.")] = False,
    mpi: Annotated[launch.Mpi, typer.Option("--mpi", help="The build of the library that looks.")] = launch.Mpi.openmpi,
) -> None:
    """List the datasets of a file: name, type, shape, bytes, units; or the files of a folder."""
    if path.is_dir():
        _folder(path, mpi)
        return
    (line,) = looked_at.look([path], mpi)
    if "error" in line:
        raise UserError(lines.error_of(line), 1)
    found = line["found"]
    if found["format"] in ("series", "streams"):
        raise UserError(f"'{path}' is {_summary(found)}: 'penstock info {path}' says more", 1)
    chosen = [each for each in found["datasets"] if _is_wanted(each["name"], patterns)]
    if patterns and not chosen:
        raise UserError(f"'{path}' has no dataset like {' or '.join(patterns)}", 1)
    _print([_row(found, each, long) for each in chosen])


def _is_wanted(name: str, patterns: list[str] | None) -> bool:
    return not patterns or any(fnmatchcase(name, pattern.strip("/")) for pattern in patterns)


def _row(found: looked_at.Found, dataset: dict[str, Any], long: bool) -> tuple[str, ...]:
    attributes = found["attributes"].get(dataset["name"], {})
    shown = attributes if long else {name: each for name, each in attributes.items() if name == "units"}
    notes = [f"{name}={looked_at.value_text(each['value'], MOST_VALUE)}" for name, each in shown.items()]
    if long:
        where = f"chunks {looked_at.shape_text(dataset['chunk'])}" if "chunk" in dataset else ""
        if "offset" in dataset:
            where = f"at byte {dataset['offset']}"
        notes[:0] = [
            where or f"in {len(found['files'])} files",
            "checksums" if dataset["checksums"] else "no checksums",
        ]
    shape = looked_at.shape_text(dataset["shape"]) + (" unlimited" if dataset["unlimited"] else "")
    return dataset["name"], dataset["type"], shape, words.size(dataset["bytes"]), "  ".join(notes)


def _folder(folder: Path, mpi: launch.Mpi) -> None:
    entries = sorted(entry for entry in folder.iterdir() if entry.is_file())
    ours = [entry for entry in entries if not entry.name.startswith(".") and _is_readable(entry)]
    results = looked_at.look(ours, mpi)
    parts = {
        str(Path(file["path"]).resolve())
        for line in results
        if "found" in line and line["found"].get("set")
        for file in line["found"]["files"]
        if Path(file["path"]).resolve() != Path(line["file"]).resolve()
    }
    rows = [
        (path.name, _summary(line["found"]) if "found" in line else f"cannot be read: {line['error']}")
        for path, line in zip(ours, results, strict=True)
        if str(path.resolve()) not in parts
    ]
    rows += [
        (entry.name, "left over, or being written: 'penstock clean' tells which")
        for entry in entries
        if names.parse(entry.name)
    ]
    if not rows:
        raise UserError(f"'{folder}' has no file that penstock reads", 1)
    _print(rows)


def _is_readable(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC or kind_of(path) != ""
    except OSError:
        return False


def _summary(found: looked_at.Found) -> str:
    if found["format"] == "streams":
        return "streams of bytes"
    if found["format"] == "series":
        return f"a series of {len(found['steps'])} steps"
    count, total = len(found["datasets"]), sum(file["bytes"] for file in found["files"])
    kind = f"{found['format']}, {len(found['files'])} files" if found["set"] else found["format"]
    lost = ", PARTS ARE MISSING" if found["lost"] else ""
    return f"{kind}, {count} dataset{'' if count == 1 else 's'}, {words.size(total)}{lost}"


def _print(rows: Sequence[tuple[str, ...]]) -> None:
    wide = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    for row in rows:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, wide, strict=True)).rstrip())
