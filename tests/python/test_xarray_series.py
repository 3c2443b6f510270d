"""test_xarray_series.py: xarray opens a whole series: time as a dimension, lazily, with few open files."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import penstock

STEPS = range(0, 60, 10)
Put = Callable[[penstock.File, int], None]


def fluid(f: penstock.File, n: int) -> None:
    f["rho"] = penstock.replicated(np.arange(12.0).reshape(3, 4) + n, dimensions=["y", "x"], units="kg/m3", step=n)
    f["x"] = penstock.replicated(np.arange(4.0), units="m")
    f["count"] = np.int32(n)
    f["tracers/dye"] = penstock.replicated(np.full((2, 2), n, "i2"), scale_factor=0.5)
    f.attrs["title"] = "a run"
    f.attrs["host"] = f"node {n}"
    f.collect_provenance()
    f.provenance("input", "x" * (20000 + n))


def write(pattern: Path, put: Put = fluid, steps: range = STEPS) -> Path:
    with penstock.series(pattern) as series:
        for n in steps:
            with series.step(n, n / 4) as f:
                put(f, n)
    return pattern


@pytest.mark.parametrize("extension", ["h5", "nc", "raw"])
def test_a_series_has_a_dimension_time(tmp_path: Path, extension: str) -> None:
    pattern = write(tmp_path / f"out-*.{extension}")
    values = np.array([np.arange(12.0).reshape(3, 4) + n for n in STEPS])
    with xr.open_dataset(pattern, engine="penstock") as opened:
        assert set(opened) == {"rho", "count", "tracers/dye"}
        assert set(opened.coords) == {"time", "iteration", "x"}
        assert opened["time"].values.tolist() == [n / 4 for n in STEPS]
        assert opened["iteration"].dims == ("time",)
        assert opened["iteration"].values.tolist() == list(STEPS)
        assert opened["rho"].dims == ("time", "y", "x")
        assert opened["rho"].attrs == {"units": "kg/m3"}  # what differs from step to step is left out
        assert opened["x"].attrs == {"units": "m"}
        assert opened.attrs == {"title": "a run"}
        rho = opened["rho"]
        np.testing.assert_array_equal(rho.sel(time=2.5), values[1])
        np.testing.assert_array_equal(rho.isel(time=[5, 0, 2], x=slice(None, None, 2)), values[[5, 0, 2]][:, :, ::2])
        np.testing.assert_array_equal(rho.isel(time=-1, y=1, x=2), values[-1, 1, 2])
        np.testing.assert_array_equal(rho.isel(time=slice(4, 0, -2), y=[2, 0]), values[4:0:-2][:, [2, 0]])
        np.testing.assert_array_equal(
            rho.isel(time=xr.DataArray([0, 3], dims="k"), x=xr.DataArray([1, 2], dims="k")), values[[0, 3], :, [1, 2]]
        )
        assert rho.isel(time=slice(0, 0), y=0).load().shape == (0, 4)
        np.testing.assert_array_equal(opened["count"], list(STEPS))
        np.testing.assert_array_equal(rho, values)
    with xr.open_dataset(pattern, engine="penstock", group="tracers") as tracers:
        assert set(tracers) == {"dye"}
        np.testing.assert_array_equal(tracers["dye"].isel(time=3), np.full((2, 2), 15))


def test_only_what_is_asked_for_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = write(tmp_path / "out-*.h5")
    read: list[tuple[str, str, int]] = []
    whole = penstock.Dataset.outer

    def noted(self: penstock.Dataset, *keys: object) -> object:
        got = whole(self, *keys)
        assert isinstance(self._file, penstock.File)
        read.append((Path(self._file.path).name, self.name, np.size(got)))
        return got

    monkeypatch.setattr(penstock.Dataset, "outer", noted)
    with xr.open_dataset(pattern, engine="penstock") as opened:
        assert not read
        opened["rho"].isel(time=[1, 3], y=0).load()
        assert read == [("out-00000010.h5", "rho", 4), ("out-00000030.h5", "rho", 4)]


def test_dask_has_a_chunk_for_each_step_and_few_files_are_open(tmp_path: Path) -> None:
    steps = range(40)
    pattern = write(tmp_path / "out-*.h5", steps=steps)

    def open_files() -> int:
        links = [fd.readlink() for fd in Path("/proc/self/fd").iterdir() if os.path.lexists(fd)]
        return sum(link.name.startswith("out-") for link in links)

    few = xr.set_options(file_cache_maxsize=5)  # type: ignore[no-untyped-call]
    with few, xr.open_dataset(pattern, engine="penstock", chunks={}) as opened:
        assert open_files() <= 5
        assert opened["rho"].chunks == ((1,) * 40, (3,), (4,))
        mean = opened["rho"].mean(("x", "y"))
        np.testing.assert_array_equal(mean.compute(scheduler="threads"), [5.5 + n for n in steps])
        assert 0 < open_files() <= 5
        again = pickle.loads(pickle.dumps(opened))  # noqa: S301
        xr.testing.assert_identical(again.load(), opened.load())
        again.close()
    assert open_files() == 0


def test_steps_that_differ_are_one_clear_error(tmp_path: Path) -> None:
    def odd(change: Put) -> Put:
        def put(f: penstock.File, n: int) -> None:
            f["same"] = np.zeros(2)
            change(f, n)

        return put

    def shape(f: penstock.File, n: int) -> None:
        f["u"] = np.zeros(3 if n < 40 else 4)

    def dtype(f: penstock.File, n: int) -> None:
        f["u"] = np.zeros(3, "f8" if n != 20 else "f4")

    def missing(f: penstock.File, n: int) -> None:
        if n != 30:
            f["u"] = np.zeros(3)

    def fresh(f: penstock.File, n: int) -> None:
        if n == 50:
            f["u"] = np.zeros(3)

    def scale(f: penstock.File, n: int) -> None:
        f["u"] = penstock.replicated(np.zeros(3), scale_factor=1.0 + n)

    def mesh(f: penstock.File, n: int) -> None:
        f["u"] = penstock.replicated(np.arange(3.0) + n, dimensions=["u"])

    def time(f: penstock.File, n: int) -> None:
        f["u"] = penstock.replicated(np.zeros((1, 3)), dimensions=["time", "x"])

    for change, words in (
        (shape, r"dataset 'u' has shape \(3,\) in step 0, but \(4,\) in step 40 \(others: 50\): all"),
        (dtype, "'u' has elements of float64 in step 0, but of float32 in step 20: all"),
        (missing, "'u' is in step 0, but not in step 30: all"),
        (fresh, "'u' is not in step 0, but in step 50: all"),
        (scale, r"'u' has scale_factor=.*1\.0\)? in step 0, but .*11\.0\)? in step 10"),
        (mesh, "'u' is the coordinate of a dimension, with values in step 0 that are others in step 10"),
        (time, "'u' gives each step a dimension 'time' of its own"),
    ):
        pattern = write(tmp_path / f"{change.__name__}-*.h5", odd(change))
        with pytest.raises(penstock.Mismatch, match=words):
            xr.open_dataset(pattern, engine="penstock")
        with xr.open_dataset(pattern, engine="penstock", drop_variables="u") as opened:
            assert set(opened) == {"same"}
            assert opened["same"].sizes["time"] == len(STEPS)


def test_what_is_no_series(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="has no step"):
        xr.open_dataset(tmp_path / "out-*.h5", engine="penstock")
    with penstock.create(tmp_path / "a*.h5") as f:
        f["rho"] = np.zeros(3)
    with xr.open_dataset(tmp_path / "a*.h5", engine="penstock") as plain:
        assert plain["rho"].shape == (3,)
    write(tmp_path / "out-*.h5")
    with pytest.raises(penstock.NotFound, match="no group 'none'"):
        xr.open_dataset(tmp_path / "out-*.h5", engine="penstock", group="none")
