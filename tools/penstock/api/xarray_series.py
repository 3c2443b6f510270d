"""xarray_series.py: a series as xarray reads it: the datasets of all steps along a dimension time, step by step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import AbstractDataStore, BackendArray
from xarray.core import indexing

from penstock.api.exceptions import Mismatch
from penstock.api.steps import open_series
from penstock.api.xarray_store import LOCK, Header, chunks, dimensions, headers, manager_of, prefix_of

_OF_THE_STEP = {"iteration", "time", "series"}  # attributes of its file
# How elements are to be understood: the same in all steps, since xarray has one of each for all of them.
_DECODING = (
    "dimensions",
    "units",
    "calendar",
    "scale_factor",
    "add_offset",
    "_FillValue",
    "missing_value",
    "_Unsigned",
)


class _LazySteps(BackendArray):  # type: ignore[no-untyped-call, misc, unused-ignore]
    """Dataset NAME of all steps. xarray's cache of open files bounds how many are open (file_cache_maxsize)."""

    def __init__(self, managers: Sequence[Any], name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.managers, self.name, self.dtype = managers, name, dtype
        self.shape = (len(managers), *shape)

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        steps = np.arange(len(self.managers))[key[0]]
        if steps.ndim == 0:
            return self._read_step(int(steps), key[1:])
        counts = [_count(each, extent) for each, extent in zip(key[1:], self.shape[1:], strict=True)]
        out = np.empty((len(steps), *(count for count in counts if count is not None)), self.dtype)
        for place, step in enumerate(steps.tolist()):
            out[place] = self._read_step(step, key[1:])
        return out

    def _read_step(self, step: int, key: tuple[Any, ...]) -> Any:
        with LOCK:
            return np.asarray(self.managers[step].acquire(needs_lock=False)[self.name].outer(*key))


def _count(key: Any, extent: int) -> int | None:
    """How many elements KEY leaves of a dimension; None where the dimension goes."""
    if isinstance(key, slice):
        return len(range(extent)[key])
    return None if np.ndim(key) == 0 else len(key)


def _same(one: Any, other: Any) -> bool:
    return np.array_equal(np.asarray(one), np.asarray(other))


def _is_time_of_cf(header: Header | None) -> bool:
    """Whether it is the one time of a step, as `conventions("CF")` writes it (docs/conventions.md)."""
    return header is not None and header.shape == () and header.attributes.get("standard_name") == "time"


class SeriesStore(AbstractDataStore):
    """Opens each step once, to see that all have the same datasets, and keeps what is the same of their attributes."""

    def __init__(self, pattern: str, group: str | None, dropped: set[str]) -> None:
        self.pattern, self.prefix, self.dropped = pattern, prefix_of(group), dropped
        with open_series(pattern) as series:
            self.iterations, self.times = series.iterations, series.times
            self.managers = [manager_of(step.path) for step in series]
        self.attributes: dict[str, Any] = {}
        self.found: dict[str, Header] = {}
        self.dims: dict[str, tuple[str, ...]] = {}
        self.fixed: dict[str, Any] = {}  # coordinates of dimensions: they have no time
        try:
            self._look()
        except BaseException:
            self.close()
            raise

    def _look(self) -> None:
        differing: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for number in range(len(self.managers)):
            with LOCK:
                opened = self.managers[number].acquire(needs_lock=False)
                found = {name: each for name, each in headers(opened, self.prefix).items() if self._is_wanted(name)}
                own_time = found.pop("time") if _is_time_of_cf(found.get("time")) else None
                attributes = dict(opened.attributes(self.prefix[:-1]))
                if number == 0:
                    self.found, self.attributes, self.dims = found, attributes, dimensions(found)
                    self.time_attributes = dict(own_time.attributes) if own_time else {}
                    self._check_names()
                values = {
                    name: opened[found[name].name][...]
                    for name, dims in self.dims.items()
                    if dims == (name,) and name in found
                }
            if number == 0:
                self.fixed = values
            for name, how in self._differences(found, values):
                differing[name].append((self.iterations[number], how))
            self._keep_what_is_the_same(found, attributes)
        for name, differences in differing.items():
            step, how = differences[0]
            others = ", ".join(str(other) for other, _ in differences[1:6]) + (", ..." if len(differences) > 6 else "")
            raise Mismatch(
                f"series '{self.pattern}': dataset '{name}' {how} in step {step}"
                f"{f' (others: {others})' if others else ''}: all steps must have the same; "
                f"drop_variables=['{name}'] leaves it out, penstock.open_series opens step by step"
            )

    def _is_wanted(self, name: str) -> bool:
        return name not in self.dropped and not (not self.prefix and name.startswith("provenance/"))

    def _check_names(self) -> None:
        for name, dims in self.dims.items():
            its_own = f"'{name}'" if name in ("time", "iteration") else "a dimension 'time'" if "time" in dims else ""
            if its_own:
                raise Mismatch(
                    f"series '{self.pattern}': dataset '{name}' gives each step {its_own} of its own, where the series "
                    f"has one: drop_variables=['{name}'] leaves it out, xr.open_mfdataset joins files by theirs"
                )

    def _differences(self, found: dict[str, Header], values: dict[str, Any]) -> list[tuple[str, str]]:
        """Datasets of a step that are not as in the first one, and how."""
        first = self.iterations[0]
        differences = [(name, f"is in step {first}, but not") for name in self.found if name not in found]
        differences += [(name, f"is not in step {first}, but") for name in found if name not in self.found]
        for name, mine in found.items():
            one = self.found.get(name, mine)
            if mine.shape != one.shape:
                differences.append((name, f"has shape {one.shape} in step {first}, but {mine.shape}"))
            elif mine.dtype != one.dtype:
                differences.append((name, f"has elements of {one.dtype} in step {first}, but of {mine.dtype}"))
            elif name in values and values[name].tobytes() != self.fixed[name].tobytes():
                differences.append(
                    (name, f"is the coordinate of a dimension, with values in step {first} that are others")
                )
            else:
                for key in _DECODING:
                    old, new = one.attributes.get(key), mine.attributes.get(key)
                    if not _same(old, new):
                        differences.append((name, f"has {key}={old!r} in step {first}, but {new!r}"))
                        break
        return differences

    def _keep_what_is_the_same(self, found: dict[str, Header], attributes: dict[str, Any]) -> None:
        for name, one in self.found.items():
            theirs = found[name].attributes if name in found else {}
            one.attributes = {k: v for k, v in one.attributes.items() if k in _DECODING or _same(v, theirs.get(k))}
        self.attributes = {k: v for k, v in self.attributes.items() if _same(v, attributes.get(k))}

    def get_variables(self) -> dict[str, xr.Variable]:
        variables = {
            "time": xr.Variable(("time",), self.times, self.time_attributes),
            "iteration": xr.Variable(("time",), self.iterations),
        }
        for short, dims in self.dims.items():
            each = self.found[short]
            attributes = {key: value for key, value in each.attributes.items() if key != "dimensions"}
            if short in self.fixed:
                variables[short] = xr.Variable(dims, self.fixed[short], attributes)
                continue
            data = indexing.LazilyIndexedArray(_LazySteps(self.managers, each.name, each.shape, each.dtype))
            encoding = {"preferred_chunks": {"time": 1} | chunks(dims, each.shape, each.dtype)}
            variables[short] = xr.Variable(("time", *dims), data, attributes, encoding)
        return variables

    def get_attrs(self) -> dict[str, Any]:
        dropped = set() if self.prefix else _OF_THE_STEP
        return {key: value for key, value in self.attributes.items() if key not in dropped}

    def get_dimensions(self) -> dict[str, int]:
        return {str(dim): size for var in self.get_variables().values() for dim, size in var.sizes.items()}

    def close(self) -> None:
        with LOCK:
            for manager in self.managers:
                manager.close()
