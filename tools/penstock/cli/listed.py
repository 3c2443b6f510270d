"""listed.py: the short lists of `penstock info`: a line for each dataset of a file, or for each file of a folder."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from penstock.base import launch, words
from penstock.base.errors import UserError
from penstock.base.printable import printable, printable_in
from penstock.cli import file_info, lines
from penstock.files.catalogue import series
from penstock.files.catalogue.contents import kind_of
from penstock.files.container import MAGIC
from penstock.operate.leftovers import names

MOST_VALUE = 60
MOST_UNREAD = 20


def keep_only(line: lines.Line, patterns: list[str] | None) -> None:
    """Leaves of LINE the datasets whose names are like one of PATTERNS; there must be one."""
    found = line.get("found", {})
    if not patterns or "datasets" not in found:
        return
    found["datasets"] = [
        each for each in found["datasets"] if any(fnmatchcase(each["name"], wanted.strip("/")) for wanted in patterns)
    ]
    if not found["datasets"]:
        names = tuple(f"'{wanted.strip('/')}' " for wanted in patterns)
        for reason in found.get("unread", []):
            if reason.startswith(names):
                raise UserError(f"'{line['file']}': not read: {reason}", 1)
        raise UserError(f"'{line['file']}' has no dataset like {' or '.join(patterns)}", 1)
    kept = {"", *(each["name"] for each in found["datasets"])}
    found["attributes"] = {name: each for name, each in found["attributes"].items() if name in kept}


def datasets(found: file_info.Found, long: bool) -> str:
    return _columns([_row(found, each, long) for each in found["datasets"]])


def unread(found: file_info.Found, everything: bool) -> list[str]:
    """A line for each thing in the file that is not shown, or not as it is, and why."""
    there = found.get("unread", [])
    shown = there if everything else there[:MOST_UNREAD]
    text = [f"  not read: {each}" for each in shown]
    if len(shown) < len(there):
        text.append(f"  not read: {len(there) - len(shown)} more (--all)")
    if found.get("left_out") and found["left_out"] not in there:
        text.append(f"  not shown as it is: {found['left_out']}")
    return text


def folder(path: Path, mpi: launch.Mpi) -> tuple[list[lines.Line], str]:
    """What the files in PATH are, parts of sets not among them, and the same as a list that has left-overs too."""
    entries = sorted(entry for entry in path.iterdir() if entry.is_file())
    ours = [entry for entry in entries if not entry.name.startswith(".") and _is_readable(entry)]
    results = file_info.look(ours, mpi)
    parts = {
        str(Path(file["path"]).resolve())
        for line in results
        if "found" in line and line["found"].get("set")
        for file in line["found"]["files"]
        if Path(file["path"]).resolve() != Path(line["file"]).resolve()
    }
    results = [line for line in results if str(Path(line["file"]).resolve()) not in parts]
    rows = [
        (Path(line["file"]).name, summary(line["found"]) if "found" in line else f"cannot be read: {line['error']}")
        for line in printable_in(results)
    ]
    rows += [
        (printable(entry.name), "left over, or being written: 'penstock clean' tells which")
        for entry in entries
        if names.parse(entry.name)
    ]
    if not rows:
        raise UserError(f"'{path}' has no file that penstock reads", 1)
    return results, _columns(rows)


def _row(found: file_info.Found, dataset: dict[str, Any], long: bool) -> tuple[str, ...]:
    attributes = found["attributes"].get(dataset["name"], {})
    shown = attributes if long else {name: each for name, each in attributes.items() if name == "units"}
    notes = [f"{name}={file_info.value_text(each, MOST_VALUE)}" for name, each in shown.items()]
    if long:
        where = f"chunks {file_info.shape_text(dataset['chunk'])}" if "chunk" in dataset else ""
        if "offset" in dataset:
            where = f"at byte {dataset['offset']}"
        notes[:0] = [
            where or f"in {words.count(len(found['files']), 'file', 'files')}",
            "checksums" if dataset["checksums"] else "no checksums",
        ]
    shape = file_info.shape_text(dataset["shape"]) + (" unlimited" if dataset["unlimited"] else "")
    return dataset["name"], dataset["type"], shape, words.size(dataset["bytes"]), "  ".join(notes)


def _is_readable(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC or kind_of(path) != "" or path.name.endswith(series.ENDING)
    except OSError:
        return True  # who looks at it says why it cannot


def summary(found: file_info.Found) -> str:
    if found["format"] == "streams":
        return "streams of bytes"
    if found["format"] == "series":
        return f"a series of {words.count(len(found['steps']), 'step', 'steps')}"
    count, total = len(found["datasets"]), sum(file["bytes"] for file in found["files"])
    kind = (
        f"{found['format']}, {words.count(len(found['files']), 'file', 'files')}" if found["set"] else found["format"]
    )
    lost = ", PARTS ARE MISSING" if found["lost"] else ""
    return f"{kind}, {words.count(count, 'dataset', 'datasets')}, {words.size(total)}{lost}"


def _columns(rows: Sequence[tuple[str, ...]]) -> str:
    wide = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, wide, strict=True)).rstrip() for row in rows
    )
