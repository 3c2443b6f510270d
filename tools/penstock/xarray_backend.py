"""xarray_backend.py: xr.open_dataset(path, engine="penstock"), lazily, and ds.penstock.to_file, region by region."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from xarray.backends import BackendEntrypoint, StoreBackendEntrypoint
from xarray.conventions import cf_encoder

from penstock.api import file, opening, put
from penstock.api.exceptions import Elsewhere
from penstock.api.xarray_series import SeriesStore
from penstock.api.xarray_store import Store
from penstock.base.nearest import instead

if TYPE_CHECKING:
    from mpi4py import MPI


class PenstockBackendEntrypoint(BackendEntrypoint):
    """Single files, sets and series of the three formats; opened to read by this process, a slice at a time."""

    description = "Files, sets and series of penstock: HDF5, netCDF CDF-5, raw"
    url = "https://penstock.readthedocs.io"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "group")

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Only raw files, which no other engine reads: HDF5 and netCDF are left to theirs unless asked for."""
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        return os.fspath(filename_or_obj).endswith(".raw")

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: bool = True,
        decode_times: bool = True,
        concat_characters: bool = True,
        decode_coords: bool = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: bool | None = None,
        decode_timedelta: bool | None = None,
        group: str | None = None,
    ) -> xr.Dataset:
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            raise TypeError(f"engine penstock opens paths, not a {type(filename_or_obj).__name__}")
        path = os.path.abspath(os.fspath(filename_or_obj))  # noqa: PTH100  a string for the library
        series = "*" in Path(path).name and not Path(path).exists()
        dropped = {drop_variables} if isinstance(drop_variables, str) else set(drop_variables or ())
        store: Store | SeriesStore = SeriesStore(path, group, dropped) if series else Store(path, group)
        try:
            opened: xr.Dataset = StoreBackendEntrypoint().open_dataset(
                store,
                mask_and_scale=mask_and_scale,
                decode_times=decode_times,
                concat_characters=concat_characters,
                decode_coords=decode_coords,
                drop_variables=drop_variables,
                use_cftime=use_cftime,
                decode_timedelta=decode_timedelta,
            )
            if series and "iteration" in opened:
                opened = opened.set_coords("iteration")
                opened.set_close(store.close)
            return opened
        except BaseException:
            store.close()
            raise


def _stable_times(variables: dict[Any, xr.Variable]) -> dict[Any, xr.Variable]:
    """Times get units that do not depend on the values, since ranks have different ones."""
    stable = {}
    for name, variable in variables.items():
        if variable.dtype.kind in "mM" and "units" not in variable.encoding:
            variable = variable.copy(deep=False)  # noqa: PLW2901
            since = " since 1970-01-01" if variable.dtype.kind == "M" else ""
            variable.encoding = variable.encoding | {"units": f"nanoseconds{since}", "dtype": np.dtype("int64")}
        stable[name] = variable
    return stable


def _texts(variable: xr.Variable, comm: Any, spread: bool) -> xr.Variable:
    """Texts as bytes of one length on all ranks; other variables as they are."""
    if variable.dtype.kind not in "UOS":
        return variable
    flat = [v if isinstance(v, bytes) else str(v).encode() for v in np.asarray(variable.data).flat]
    width = max([1, *map(len, flat)])
    if comm is not None and spread:
        from mpi4py import MPI

        width = comm.allreduce(width, MPI.MAX)
    data = np.array(flat, f"S{width}").reshape(variable.shape)
    return xr.Variable(variable.dims, data, variable.attrs)


def _region(dataset: xr.Dataset, region: Mapping[str, slice]) -> tuple[dict[str, int], dict[str, int]]:
    """Where this rank's part begins and ends in each dimension of REGION."""
    starts, ends = {}, {}
    for dim, where in region.items():
        if dim not in dataset.sizes:
            raise ValueError(f"region: no dimension '{dim}'; there are {sorted(map(str, dataset.sizes))}")
        start, end, size = where.start or 0, where.stop, dataset.sizes[dim]
        if where.step not in (None, 1) or end is None or start < 0 or end - start != size:
            raise ValueError(
                f"region: {dim}={where} must be slice(start, stop) of the {size} elements that this rank has"
            )
        starts[dim], ends[dim] = start, end
    return starts, ends


def _sizes(ends: dict[str, int], failure: Exception | None, comm: Any) -> dict[str, int]:
    """How long the dimensions are, of all ranks. Collective: a rank that failed before says so here."""
    everybody = [(failure, ends)] if comm is None else comm.allgather((failure and str(failure), ends))
    if failure is not None:
        raise failure
    for rank, (failed, _) in enumerate(everybody):
        if failed:
            raise Elsewhere(f"rank {rank}: {failed}")
    return {dim: max(each.get(dim, 0) for _, each in everybody) for dim in ends}


def _put(opened: file.File, name: str, variable: xr.Variable, starts: dict[str, int], sizes: dict[str, int]) -> None:
    options = put.codec_options(variable.encoding, variable.dtype.kind, opened.plan.startswith("hdf5/"))
    if options:
        opened.options(name, **options)
    if not any(dim in starts for dim in variable.dims):
        opened[name] = np.asarray(variable.data)
    else:
        shape = [sizes.get(str(dim), size) for dim, size in variable.sizes.items()]
        for where in _pieces(variable):
            start = [starts.get(str(dim), 0) + piece.start for dim, piece in zip(variable.dims, where, strict=True)]
            opened[name] = put.block(np.asarray(variable[where].data), shape, start)
    attributes = opened[name].attrs
    if variable.dims:
        attributes["dimensions"] = [str(dim) for dim in variable.dims]
    for key, value in variable.attrs.items():
        attributes[str(key)] = value


def _with_encoding(dataset: xr.Dataset, encoding: Mapping[str, Mapping[str, Any]]) -> dict[Any, xr.Variable]:
    """The variables of DATASET, with what ENCODING says of them."""
    variables = dict(dataset.variables)
    for name, said in encoding.items():
        if name not in variables:
            raise ValueError(
                f"encoding: there is no variable '{name}'{instead(name, [str(each) for each in variables])}"
            )
        variables[name] = variables[name].copy(deep=False)
        variables[name].encoding = {**variables[name].encoding, **said}
    return variables


def _pieces(variable: xr.Variable) -> list[tuple[slice, ...]]:
    """The chunks of a dask array, one of which is in memory at a time before it is put; else the whole."""
    lengths = variable.chunks or tuple((size,) for size in variable.shape)
    edges = [[slice(end - n, end) for n, end in zip(each, np.cumsum(each).tolist(), strict=True)] for each in lengths]
    return list(itertools.product(*edges))


@xr.register_dataset_accessor("penstock")  # type: ignore[no-untyped-call]
class PenstockAccessor:
    """ds.penstock: writes datasets from the ranks of a parallel program."""

    def __init__(self, dataset: xr.Dataset) -> None:
        self._dataset = dataset

    def to_file(
        self,
        path: str | os.PathLike[str],
        comm: MPI.Comm | None = None,
        region: Mapping[str, slice] | None = None,
        plan: str | None = None,
        group: str | None = None,
        encoding: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Collective. This rank's part of a dataset into one file, at REGION={"x": slice(start, stop)} of it.

        The length of such a dimension is the largest stop of all ranks. What has none of these dimensions is the
        same on every rank. Nothing is published unless all is there. ENCODING is as in to_netcdf, and comes before
        that of the variables: dtype, scale_factor, add_offset, _FillValue, zlib, complevel, compression, and
        significant_digits with quantize_mode="BitRound".
        """
        prefix = f"{group.strip('/')}/" if group else ""
        failure: Exception | None = None
        starts: dict[str, int] = {}
        ends: dict[str, int] = {}
        try:
            starts, ends = _region(self._dataset, region or {})
            encoded = _with_encoding(self._dataset, encoding or {})
            variables, attributes = cf_encoder(_stable_times(encoded), dict(self._dataset.attrs))
        except Exception as error:
            failure = error
        sizes = _sizes(ends, failure, comm)
        with opening.create(path, comm, plan) as opened:
            for name, variable in variables.items():
                spread = any(dim in starts for dim in variable.dims)
                _put(opened, f"{prefix}{name}", _texts(variable, comm, spread), starts, sizes)
            for key, value in attributes.items():
                opened.attributes(prefix[:-1])[str(key)] = value
