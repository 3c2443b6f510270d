"""xarray_store.py: one file or set as xarray reads it: what is in it at once, the data by slices."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import AbstractDataStore, BackendArray, CachingFileManager
from xarray.backends.locks import SerializableLock
from xarray.core import indexing

from penstock.api import file, opening
from penstock.api.dataset import Dataset
from penstock.api.elements import MARKS
from penstock.api.exceptions import NotThere

LOCK = SerializableLock()  # HDF5 is used by one thread at a time
_CHUNK_BYTES = 64 << 20


def _open(path: str, mode: str) -> file.File:
    del mode  # xarray's manager forgets, in another process, that there was none
    return opening.open(path)


def manager_of(path: str) -> Any:
    """Opens the file at PATH when it is used: again in other processes, and where too many were open since."""
    return CachingFileManager(_open, path, mode="r")


class _LazyArray(BackendArray):  # type: ignore[no-untyped-call, misc, unused-ignore]
    def __init__(self, manager: Any, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.manager, self.name, self.shape, self.dtype = manager, name, shape, dtype

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        with LOCK:
            return np.asarray(self.manager.acquire(needs_lock=False)[self.name].outer(*key))


def _named(attribute: Any, rank: int) -> list[str] | None:
    names = attribute.split() if isinstance(attribute, str) else attribute
    return [str(name) for name in names] if isinstance(names, list) and len(names) == rank else None


def _dimensions(name: str, shape: tuple[int, ...], attribute: Any, known: Mapping[str, int]) -> tuple[str, ...]:
    """As docs/formats/netcdf.md says: those named by the attribute, a coordinate's own, or dim_LENGTH."""
    named = _named(attribute, len(shape))
    if named is not None:
        return tuple(named)
    if len(shape) == 1 and known.get(name) == shape[0]:
        return (name,)
    dims: list[str] = []
    for extent in shape:
        base, again = f"dim_{extent}", 2
        dim = base
        while dim in dims:
            dim, again = f"{base}_{again}", again + 1
        dims.append(dim)
    return tuple(dims)


@dataclass
class Header:
    """What a file says of one dataset; NAME is that in the file, with its group."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    attributes: dict[str, Any]


def prefix_of(group: str | None) -> str:
    return f"{group.strip('/')}/" if group and group.strip("/") else ""


def unmarked(dataset: Dataset) -> dict[str, Any]:
    """Its attributes, but for those that say as what its elements are read: xarray would decode once more."""
    marked = dataset.dtype != dataset.stored
    return {key: value for key, value in dataset.attrs.items() if not (marked and key in MARKS)}


def headers(opened: file.File, prefix: str) -> dict[str, Header]:
    """Returns the headers of all datasets in the group PREFIX, keyed by their names within it. Raises NotThere if a
    group that PREFIX names has none.
    """
    found = {}
    for name in opened:
        if name.startswith(prefix):
            dataset = opened[name]
            found[name.removeprefix(prefix)] = Header(name, dataset.shape, dataset.dtype, unmarked(dataset))
    if prefix and not found:
        raise NotThere(f"'{opened.path}' has no group '{prefix[:-1]}'")
    return found


def dimensions(found: Mapping[str, Header]) -> dict[str, tuple[str, ...]]:
    """Those of each dataset."""
    known: dict[str, int] = {}
    for each in found.values():
        known.update(zip(_named(each.attributes.get("dimensions"), len(each.shape)) or [], each.shape, strict=False))
    return {
        name: _dimensions(name, each.shape, each.attributes.get("dimensions"), known) for name, each in found.items()
    }


class Store(AbstractDataStore):
    def __init__(self, path: str, group: str | None) -> None:
        self.manager = manager_of(path)
        self.prefix = prefix_of(group)

    def get_variables(self) -> dict[str, xr.Variable]:
        with LOCK:
            found = headers(self.manager.acquire(needs_lock=False), self.prefix)
        variables = {}
        for short, dims in dimensions(found).items():
            each = found[short]
            data = indexing.LazilyIndexedArray(_LazyArray(self.manager, each.name, each.shape, each.dtype))
            encoding = {"preferred_chunks": chunks(dims, each.shape, each.dtype)}
            attributes = {key: value for key, value in each.attributes.items() if key != "dimensions"}
            variables[short] = xr.Variable(dims, data, attributes, encoding)
        return variables

    def get_attrs(self) -> dict[str, Any]:
        with LOCK:
            return dict(self.manager.acquire(needs_lock=False).attributes(self.prefix[:-1]))

    def get_dimensions(self) -> dict[str, int]:
        return {str(dim): size for var in self.get_variables().values() for dim, size in var.sizes.items()}

    def close(self) -> None:
        self.manager.close()


def chunks(dims: tuple[str, ...], shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, int]:
    """Whole slabs of some MiB, which lie together in the file."""
    if not shape:
        return {}
    row = max(1, math.prod(shape[1:]) * dtype.itemsize)
    return dict(zip(dims, (max(1, min(shape[0], _CHUNK_BYTES // row)), *shape[1:]), strict=True))
