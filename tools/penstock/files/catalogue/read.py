"""read.py: the contents of a file, by whoever reads its format; of indexes and series, which are JSON, by itself."""

import json
import re
from pathlib import Path
from typing import Any

from penstock.files.catalogue import hdf5, netcdf, series
from penstock.files.catalogue.contents import (
    INDEX,
    SERIES,
    Attribute,
    Contents,
    Dataset,
    UnreadableError,
    type_name,
    value_of,
)

MOST_JSON_BYTES = 256 << 20


def read(path: Path, kind: str) -> Contents:
    """What is in PATH, whose kind_of() is KIND. UnreadableError, or any other, where it is not what it seems."""
    if kind == "hdf5":
        return hdf5.read(path)
    if kind == "netcdf":
        return netcdf.read(path)
    return _read_json(path, kind)


def _read_json(path: Path, kind: str) -> Contents:
    if path.stat().st_size > MOST_JSON_BYTES:
        raise UnreadableError(f"an index of more than {MOST_JSON_BYTES >> 20} MiB")
    text = path.read_bytes()
    root = json.loads(text)
    contents = Contents("series" if kind == "series" else str(root["format"]))
    if kind == "series":
        if root["schema"] != SERIES:
            raise UnreadableError("its schema is another")
        if not series.is_whole(text, root):
            raise UnreadableError("its checksum is another")
        steps = root["steps"]
        contents.attributes.append(Attribute("", "pattern", value_of(root["pattern"])))
        contents.attributes.append(Attribute("", "steps", float(len(steps))))
        if steps:
            contents.attributes.append(Attribute("", "first_time", float(steps[0]["time"])))
            contents.attributes.append(Attribute("", "last_time", float(steps[-1]["time"])))
        return contents
    if root["schema"] != INDEX:
        raise UnreadableError("its schema is another")
    for name, dataset in _datasets(root["datasets"]):
        contents.datasets.append(Dataset(_bytes(name), type_name(dataset["dtype"]), [int(n) for n in dataset["shape"]]))
    for owner, attributes in root.get("attributes", {}).items():
        for name, attribute in attributes.items():
            contents.attributes.append(Attribute(_bytes(owner), _bytes(name), value_of(attribute["value"])))
    return contents


def _datasets(found: Any) -> list[tuple[str, dict[str, Any]]]:
    if isinstance(found, dict):
        return list(found.items())
    return [(one["name"], one) for one in found]


def _bytes(text: str) -> str:
    """U+0000 and two hexadecimal digits stand for a byte (docs/formats/raw.md): shown as \\xNN."""
    return re.sub("\0([0-9a-f]{2})", r"\\x\1", text)
