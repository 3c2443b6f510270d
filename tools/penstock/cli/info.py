"""info.py: `penstock info` says what files are and what is in them, without reading their data."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.base import launch, words
from penstock.base.errors import UserError
from penstock.base.printable import printable
from penstock.cli import file_info, lines, listed, options

MOST_VALUE = 60
MOST_ROWS = 40
NAMES = {"hdf5": "HDF5", "netcdf": "classic netCDF", "raw": "raw binary"}


def register(app: typer.Typer) -> None:
    app.command()(info)
    app.command(hidden=True)(ls)


def info(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Files, masters or indexes of sets, indexes of series, or folders."),
    ],
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="PATTERN", help="Show datasets with such a name: 'level_*/rho'. Repeatable."),
    ] = None,
    short: Annotated[bool, typer.Option("--list", "-l", help="Print one line for each dataset.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show all datasets and all attributes in full.")] = False,
    as_json: options.JsonLines = False,
    mpi: options.BuildOf = launch.HERE,
) -> None:
    """Show what files are and what is in them; list a folder.

    Of a file you see its format, commit, checksums, datasets and attributes, and the files of a set; of a folder, one
    line for each file that penstock reads. No data is read. The exit status is 1 where a file cannot be read, or parts
    of a set are missing, and 2 where there is no such file.
    """
    files = [path for path in paths if not file_info.is_folder(path)]
    told = iter(file_info.look(files, mpi) if files else [])
    results: list[lines.Line] = []
    for path in paths:
        heading = f"{printable(str(path))}:\n" if len(paths) > 1 else ""
        if file_info.is_folder(path):
            found, text = listed.folder(path, mpi)
            typer.echo("\n".join(map(json.dumps, found)) if as_json else heading + text)
            results += found
            continue
        line = next(told)
        listed.keep_only(line, only)
        lines.tell(line, as_json, partial(_describe, heading=heading, short=short, everything=everything))
        results.append(line)
    if not all(map(_is_good, results)):
        raise typer.Exit(lines.status_of(results))


def ls(
    path: Annotated[Path, typer.Argument(metavar="FILE|FOLDER")],
    patterns: Annotated[list[str] | None, typer.Argument(metavar="NAME")] = None,
    long: Annotated[bool, typer.Option("--long", "-l")] = False,
    mpi: options.BuildOf = launch.HERE,
) -> None:
    """The same as `penstock info FOLDER`, or `penstock info --list FILE`; --long is --all."""
    if file_info.is_folder(path):
        typer.echo(listed.folder(path, mpi)[1])
        return
    (line,) = file_info.look([path], mpi)
    if "found" in line and line["found"]["format"] in ("series", "streams"):
        raise UserError(f"'{path}' is {listed.summary(line['found'])}: 'penstock info {path}' says more", 1)
    listed.keep_only(line, patterns)
    lines.conclude([line], False, partial(_listed, long=long), lambda line: "found" in line)


def _listed(line: lines.Line, long: bool) -> str:
    return "\n".join([listed.datasets(line["found"], long), *listed.unread(line["found"], long)])


def _is_good(line: lines.Line) -> bool:
    return "found" in line and not line["found"].get("lost")


def _describe(line: lines.Line, heading: str, short: bool, everything: bool) -> str:
    found = line["found"]
    if found["format"] == "streams":
        return f"{line['file']}: streams of bytes, one for each rank\n  penstock streams {line['file']}    # lists them"
    if found["format"] == "series":
        return _series(line["file"], found, everything)
    if short:
        return heading + "\n".join([listed.datasets(found, everything), *listed.unread(found, everything)])
    text = [_head(line["file"], found)]
    text += [f"  MISSING: {why}" for why in found["lost"]]
    if found["set"]:
        text += _rows([(Path(file["path"]).name, _file_size(file)) for file in found["files"]], everything, "files")
    datasets = found["datasets"]
    total = words.size(sum(each["bytes"] for each in datasets))
    text.append(f"  {len(datasets)} dataset{'' if len(datasets) == 1 else 's'}, {total}:")
    text += _rows([_dataset(found, each, everything) for each in datasets], everything, "datasets")
    own = found["attributes"].get("", {})
    if own:
        text.append("  attributes of the file:")
        text += _rows([(name, _value(each, everything)) for name, each in own.items()], everything, "attributes")
    groups = [name for name in found["attributes"] if name and name not in {each["name"] for each in datasets}]
    for group in groups if everything else groups[:MOST_ROWS]:
        text.append(f"  attributes of {group}:")
        pairs = found["attributes"][group].items()
        text += _rows([(name, _value(each, everything)) for name, each in pairs], everything, "attributes")
    text += listed.unread(found, everything)
    return "\n".join(text)


def _head(name: str, found: file_info.Found) -> str:
    files = found["files"]
    total = sum(file["bytes"] for file in files)
    what = NAMES.get(found["format"]) or str(found["format"])
    if found["set"]:
        what = f"a set of {len(files)} files, {what}"
    if found["parity"]:
        what += ", with parity"
    if found["committed_at"]:
        when = datetime.fromtimestamp(found["committed_at"] / 1e9, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
        summed = sum(each["checksums"] for each in found["datasets"])
        commit = f"committed {when}, checksums of {'all' if summed == len(found['datasets']) else summed} datasets"
    else:
        commit = "no checksums: not written by penstock, or without them"
    return f"{name}: {what}, {words.size(total)}\n  {commit}"


def _file_size(file: dict[str, Any]) -> str:
    if file["missing"]:
        return "MISSING"
    return words.size(file["bytes"])


def _dataset(found: file_info.Found, dataset: dict[str, Any], everything: bool) -> tuple[str, ...]:
    attributes = found["attributes"].get(dataset["name"], {})
    notes = []
    if "units" in attributes:
        notes.append(f"units {file_info.value_text(attributes['units'], MOST_VALUE)}")
    if dataset["unlimited"]:
        notes.append("unlimited")
    if "chunk" in dataset:
        notes.append(f"chunks {file_info.shape_text(dataset['chunk'])}")
        notes += _stored(dataset)
    elif not dataset["plain"]:
        notes.append("packed")
    if everything:
        notes += [f"{name}={_value(each, True)}" for name, each in attributes.items() if name != "units"]
    elif len(attributes) > ("units" in attributes):
        more = len(attributes) - ("units" in attributes)
        notes.append(f"{more} attribute{'' if more == 1 else 's'}" + (" more" if "units" in attributes else ""))
    size = words.size(dataset["bytes"])
    return dataset["name"], dataset["type"], file_info.shape_text(dataset["shape"]), size, ", ".join(notes)


def _stored(dataset: dict[str, Any]) -> list[str]:
    """By which filters, in how many bytes, and how much smaller that is: "shuffle, deflate 4: 1.2 MiB, 4.5 : 1"."""
    if not dataset.get("filters"):
        return []
    stored = dataset["stored_bytes"]
    ratio = f", {dataset['bytes'] / stored:.3g} : 1" if stored else ""
    return [f"{' and '.join(dataset['filters'])}: {words.size(stored)}{ratio}"]


def _value(attribute: dict[str, Any], everything: bool) -> str:
    return file_info.value_text(attribute, 1 << 20 if everything else MOST_VALUE)


def _series(name: str, found: file_info.Found, everything: bool) -> str:
    steps = found["steps"]
    text = [f"{name}: a series of {len(steps)} step{'' if len(steps) == 1 else 's'}, files {found['pattern']}"]
    text += [f"  warning: {each}" for each in found["warnings"]]
    text += _rows([(file, f"iteration {i}", f"time {time:g}") for i, time, file in steps], everything, "steps")
    return "\n".join(text)


def _rows(rows: Sequence[tuple[str, ...]], everything: bool, what: str) -> list[str]:
    """Columns one under another, the first MOST_ROWS of them."""
    shown = rows if everything else rows[:MOST_ROWS]
    wide = [max(len(row[i]) for row in shown) for i in range(len(shown[0]))] if shown else []
    text = [
        "    " + "  ".join(cell.ljust(width) for cell, width in zip(row, wide, strict=True)).rstrip() for row in shown
    ]
    if len(shown) < len(rows):
        text.append(f"    and {len(rows) - len(shown)} {what} more (--all lists them)")
    return text
