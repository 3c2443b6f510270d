"""file_info.py: what penstock-info, or our own readers of indexes and streams, say of a file."""

import json
from pathlib import Path
from typing import Any

from penstock.base import launch
from penstock.base.errors import MISSING
from penstock.cli import lines
from penstock.files.catalogue import series
from penstock.files.catalogue.contents import kind_of
from penstock.files.container import MAGIC

PROGRAM = "penstock-info"
BP_INDEX = "md.idx"
Found = dict[str, Any]


def is_folder(path: Path) -> bool:
    """And no folder that is a file, as engine adios2 makes it."""
    return path.is_dir() and not (path / BP_INDEX).exists()


def look(files: list[Path], mpi: launch.Mpi) -> list[lines.Line]:
    """One line for each of FILES, in their order: with "found", or with "error"."""
    own = {path: _own(path, mpi) for path in files}
    asked = [path for path in files if own[path] is None]
    told = iter(lines.run(PROGRAM, [], asked, None, mpi) if asked else [])
    return [own[path] or next(told) for path in files]


def _own(path: Path, mpi: launch.Mpi) -> lines.Line | None:
    """What is no file of arrays: an index of a series, streams, a folder, nothing."""
    if not path.exists():
        return {"file": str(path), "error": f"'{path}': {MISSING}"}
    if not path.is_file():
        return None  # a folder may be ADIOS2's; of others the program says what they are
    try:
        found = _read(path, mpi)
    except OSError as error:
        return {"file": str(path), "error": str(error.strerror or error)}
    except ValueError as error:
        return {"file": str(path), "error": str(error)}
    return found and {"file": str(path), "found": found}


def _read(path: Path, mpi: launch.Mpi) -> Found | None:
    with path.open("rb") as file:
        if file.read(len(MAGIC)) == MAGIC:
            return {"format": "streams"}
    of_series = kind_of(path) == "series"
    if not of_series and not path.name.endswith(series.ENDING):
        return None
    found = series.read(path, lambda asked: lines.run(PROGRAM, [], asked, None, mpi))
    if found is None:
        if of_series:
            raise ValueError("its index cannot be read: it is damaged, and no step of it lies beside it")
        return None
    steps = [(step.iteration, step.time, step.file) for step in found.steps]
    return {"format": "series", "pattern": found.pattern, "steps": steps, "warnings": found.warnings}


def shape_text(shape: list[int]) -> str:
    return "scalar" if not shape else "(" + ", ".join(str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"


def value_text(attribute: dict[str, Any], most: int) -> str:
    """Cut to MOST characters; the shape goes before the values, unless it is that of a list."""
    value = attribute["value"]
    listed = json.dumps(value, ensure_ascii=False).replace(r"\\", "\\")  # texts are printable already
    text = value if isinstance(value, str) else listed
    if len(attribute["shape"]) > 1:
        text = f"{shape_text(attribute['shape'])} {text}"
    return text if len(text) <= most else text[: most - 3] + "..."
