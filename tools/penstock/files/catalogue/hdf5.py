"""hdf5.py: what h5py says of an HDF5 file; called in a process that may die of it."""

from pathlib import Path
from typing import Any

import h5py
import numpy

from penstock.files.catalogue.contents import (
    MOST_OBJECTS,
    MOST_TEXT,
    Attribute,
    Contents,
    Dataset,
    UnreadableError,
    type_name,
    value_of,
)

MOST_ATTRIBUTE_BYTES = 1 << 20


def read(path: Path) -> Contents:
    contents = Contents("hdf5")
    with h5py.File(path, "r", locking=False) as file:
        _attributes(file, "", contents)

        def visit(name: str, item: Any) -> None:
            if name == "_penstock" or name.startswith("_penstock/"):
                return
            if len(contents.datasets) + len(contents.attributes) > MOST_OBJECTS:
                raise UnreadableError(f"more than {MOST_OBJECTS} datasets and attributes")
            if isinstance(item, h5py.Dataset):
                shape = [] if item.shape is None else [int(n) for n in item.shape]
                contents.datasets.append(Dataset(name, type_name(item.dtype), shape))
            _attributes(item, name, contents)

        file.visititems(visit)
    return contents


def _attributes(item: Any, owner: str, contents: Contents) -> None:
    for name in item.attrs:
        found = item.attrs.get_id(name)
        if found.get_storage_size() > MOST_ATTRIBUTE_BYTES:
            contents.attributes.append(Attribute(owner, name, f"({found.get_storage_size()} bytes)"))
            continue
        try:
            value = item.attrs[name]
        except (OSError, TypeError, ValueError):  # a type that h5py has not
            continue
        contents.attributes.append(Attribute(owner, name, _value(value)))


def _value(value: Any) -> str | float:
    if isinstance(value, bytes):
        return value_of(value.decode("utf-8", "backslashreplace"))
    if isinstance(value, numpy.ndarray):
        one = [
            v.decode("utf-8", "backslashreplace") if isinstance(v, bytes) else v
            for v in value.ravel()[:MOST_TEXT].tolist()
        ]
        return value_of(one)
    if isinstance(value, numpy.generic):
        return value_of(value.item()) if not isinstance(value, numpy.bytes_) else _value(bytes(value))
    return value_of(value)
