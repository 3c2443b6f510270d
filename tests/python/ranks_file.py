"""ranks_file.py: what test_ranks.py runs on several ranks: FOLDER; ends with 0 where everything was as it should be."""

import sys
from pathlib import Path

import numpy as np
import xarray as xr
from mpi4py import MPI

import penstock
import penstock.xarray_backend

comm = MPI.COMM_WORLD
r, n = comm.rank, comm.size
folder = Path(sys.argv[1])


def says(error: Exception, words: str) -> None:
    assert words in str(error), error


def everything_comes_back() -> None:
    path = folder / "all.h5"
    ghosts = np.full((6, 8), -1.0)
    ghosts[1:5, 1:7] = r
    rows = np.full((r, 2), r, "f4")
    with penstock.create(path, comm) as f:
        f["rows"] = penstock.ragged(rows)
        f["id"] = penstock.per_rank(np.int32(r))
        f["t"] = penstock.block(ghosts[1:5, 1:7], shape=(4 * n, 6), start=(4 * r, 0), units="K")
        mine = slice(0, 5) if r == 0 else slice(5, 5)  # the others have nothing
        f["of_rank_0"] = penstock.block(np.arange(5)[mine], shape=5, start=mine.start)
        f["same"] = np.arange(3)
    with penstock.open(path, comm) as f:
        assert f["rows"][...].tolist() == [[float(k)] * 2 for k in range(n) for _ in range(k)]
        assert f["id"][...].tolist() == list(range(n))
        other = (r + 1) % n
        assert (f["t"][4 * other : 4 * other + 4, ::3] == np.full((4, 2), other)).all()
        part, ids = f["t"].get(slice(0, r)), f["id"].get()
        f.commit()
        assert part.shape == (r, 6)
        assert ids.tolist() == list(range(n))
        assert f["of_rank_0"][r:].tolist() == list(range(r, 5))
    penstock.verify(path, comm)


def an_error_on_one_rank_is_one_on_all() -> None:
    kinds: dict[int, type[Exception]] = {1: TypeError}
    try:
        with penstock.create(folder / "bad.h5", comm) as f:
            f["a"] = np.array([None]) if r == 1 else np.zeros(1)
    except kinds.get(r, penstock.Invalid) as error:
        says(error, "dtype object")
    else:
        raise AssertionError("no error")
    assert not (folder / "bad.h5").exists()
    f = penstock.open(folder / "all.h5", comm)
    try:
        f["t"][999 if r == 0 else 0]
    except (IndexError, penstock.Invalid) as error:
        says(error, "index 999")
    else:
        raise AssertionError("no error")
    f.abandon()


def xarray_writes_by_region() -> None:
    whole = xr.Dataset(
        {"t": (("time", "x"), np.arange(8.0 * n).reshape(2, 4 * n), {"units": "K"})},
        {"time": np.array(["2020-01-01", "2020-01-02T06:00"], "M8[ns]"), "x": np.arange(4 * n) / 2},
    )
    place = slice(4 * r, 4 * r + 4)
    mine = whole.isel(x=place)
    mine.penstock.to_file(folder / "x.nc", comm, region={"x": place})
    with xr.open_dataset(folder / "x.nc", engine="penstock") as found:
        xr.testing.assert_identical(found.load(), whole)
    try:
        mine.penstock.to_file(folder / "y.nc", comm, region={"x": slice(0, 1) if r == 0 else place})
    except (ValueError, penstock.Error) as error:
        says(error, "region")
    else:
        raise AssertionError("no error")


everything_comes_back()
an_error_on_one_rank_is_one_on_all()
xarray_writes_by_region()
