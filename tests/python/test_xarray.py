"""test_xarray.py: xarray opens what penstock wrote, lazily, and writes it, from one process and from ranks."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import penstock
import penstock.xarray_backend
from penstock.base import launch
from penstock.xarray_backend import PenstockBackendEntrypoint

FORMATS = ["hdf5", "netcdf", "raw"]
EXTENSION = {"hdf5": "h5", "netcdf": "nc", "raw": "raw"}
SETS = ["", ":placement=per_rank", ":placement=parts,parts=2"]


def weather() -> xr.Dataset:
    """With coordinates, times, a fill value, texts and a scalar."""
    time = np.array(["2026-01-01T00", "2026-01-01T06", "2026-01-02T12"], "datetime64[ns]")
    temperature = np.random.default_rng(1).normal(280, 5, (3, 4, 5))
    temperature[1, 2, 3] = np.nan
    dataset = xr.Dataset(
        {
            "temperature": (("time", "lat", "lon"), temperature, {"units": "K", "valid": [200.0, 320.0]}),
            "count": (("lat",), np.arange(4, dtype="i4")),
            "flag": ((), np.int8(3)),
            "wet": (("lat",), np.array([True, False, True, True])),
        },
        coords={"time": time, "lat": np.linspace(-45, 45, 4), "lon": np.arange(5.0)},
        attrs={"title": "weather", "history": "made here"},
    )
    dataset["count"].encoding["_FillValue"] = -1
    return dataset


@pytest.mark.parametrize("placement", SETS)
@pytest.mark.parametrize("form", FORMATS)
def test_what_is_written_is_opened(tmp_path: Path, form: str, placement: str) -> None:
    path = tmp_path / f"weather.{EXTENSION[form]}"
    dataset = weather()
    dataset.penstock.to_file(path, plan=f"{form}/two_phase{placement}")
    with xr.open_dataset(path, engine="penstock") as opened:
        xr.testing.assert_identical(opened.drop_attrs(deep=False), dataset.drop_attrs(deep=False))
        assert opened.attrs["title"] == "weather"
        assert opened["time"].dtype.kind == "M"
        chosen = opened["temperature"].sel(lat=15, lon=slice(1, 3)).isel(time=[2, 0])
        xr.testing.assert_identical(chosen, dataset["temperature"].sel(lat=15, lon=slice(1, 3)).isel(time=[2, 0]))


def test_only_what_is_asked_for_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "weather.h5"
    weather().penstock.to_file(path)
    read: list[tuple[str, int]] = []
    whole = penstock.Dataset.outer

    def noted(self: penstock.Dataset, *keys: object) -> object:
        got = whole(self, *keys)
        read.append((self.name, np.size(got)))
        return got

    monkeypatch.setattr(penstock.Dataset, "outer", noted)
    with xr.open_dataset(path, engine="penstock") as opened:
        assert {name for name, _ in read} <= {"time", "lat", "lon"}  # indexes
        read.clear()
        opened["temperature"].isel(time=1, lat=slice(0, 2)).load()
        assert read == [("temperature", 10)]


def test_groups_and_files_of_others(tmp_path: Path) -> None:
    path = tmp_path / "plain.h5"
    with penstock.create(path) as file:
        file["fluid/rho"] = np.arange(6.0).reshape(2, 3)
        file["fluid/same"] = np.arange(4.0).reshape(2, 2)
        file["other"] = np.arange(3)
        file.attributes("fluid")["kind"] = "gas"
    with xr.open_dataset(path, engine="penstock") as all_of_it:
        assert set(all_of_it) == {"fluid/rho", "fluid/same", "other"}
    with xr.open_dataset(path, engine="penstock", group="fluid") as fluid:
        assert set(fluid) == {"rho", "same"}
        assert fluid.attrs["kind"] == "gas"
        assert fluid["rho"].dims == ("dim_2", "dim_3")
        assert fluid["same"].dims == ("dim_2", "dim_2_2")


@pytest.mark.parametrize("placement", [each for each in SETS if "per_rank" not in each])  # the file is changed
@pytest.mark.parametrize("engine", ["h5netcdf", "netcdf4"])
@pytest.mark.parametrize("extension", ["h5", "nc4"])
def test_other_readers_know_the_dimensions_of_hdf5_files(
    tmp_path: Path, extension: str, engine: str, placement: str
) -> None:
    path, plan = tmp_path / f"weather.{extension}", f"hdf5/two_phase{placement}"
    weather().drop_vars("wet").penstock.to_file(path, plan=plan)
    with penstock.reopen(path, plan=plan) as file:  # kept, and new ones
        file["more"] = penstock.block(np.zeros((4, 2)), (4, 2), (0, 0), dimensions=["lat", "corner"])
        file["names"] = ["Ünal", "b", ""]
    with xr.open_dataset(path, engine=engine) as opened:
        assert opened["temperature"].dims == ("time", "lat", "lon")
        assert opened["more"].dims == ("lat", "corner")
        assert dict(opened.sizes) == {"time": 3, "lat": 4, "lon": 5, "corner": 2}
        assert set(opened.coords) == {"time", "lat", "lon"}
        np.testing.assert_array_equal(opened["temperature"], weather()["temperature"])
        assert "dimensions" not in opened["temperature"].attrs
        assert opened["count"].dims == ("lat",)
        names = [name.decode() if isinstance(name, bytes) else name for name in opened["names"].values.tolist()]
        assert names == ["Ünal", "b", ""]


def test_dask_computes_by_chunks_and_its_workers_open_the_file_again(tmp_path: Path) -> None:
    path = tmp_path / "weather.h5"
    weather().penstock.to_file(path)
    with xr.open_dataset(path, engine="penstock", chunks={"lat": 2}) as opened:
        assert opened["temperature"].chunks == ((3,), (2, 2), (5,))
        mean = float(opened["temperature"].mean().compute(scheduler="threads"))
        assert mean == pytest.approx(float(weather()["temperature"].mean()))
        again = pickle.loads(pickle.dumps(opened))  # noqa: S301
        xr.testing.assert_identical(again.load(), opened.load())
        (tmp_path / "pickled").write_bytes(pickle.dumps(opened["temperature"]))
    program = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).load().mean().item())"
    command = [sys.executable, "-c", program, str(tmp_path / "pickled")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert float(ran.stdout or "nan") == pytest.approx(mean), ran.stderr


def test_larger_than_memory(tmp_path: Path) -> None:
    """A sparse file of 16 GiB in a process that may have 3."""
    path = tmp_path / "large.h5"
    with penstock.create(path, plan="hdf5/independent:checksums=none,durability=none,preallocate=false") as file:
        file.partial()
        file["huge"] = penstock.block(np.ones((1, 1 << 10)), shape=(1 << 21, 1 << 10), start=(12345, 0))
    program = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
import xarray as xr
with xr.open_dataset(sys.argv[1], engine="penstock") as opened:
    print(opened.nbytes, float(opened["huge"].isel({"dim_2097152": slice(12344, 12347)}).sum()))
"""
    ran = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False)
    assert ran.stdout.split() == [str(16 << 30), "1024.0"], ran.stderr


def test_which_files_are_guessed(tmp_path: Path) -> None:
    weather().penstock.to_file(tmp_path / "set.raw", plan="raw/two_phase")
    weather().penstock.to_file(tmp_path / "single.h5")
    backend = PenstockBackendEntrypoint()
    assert backend.guess_can_open(tmp_path / "set.raw")
    assert not backend.guess_can_open(tmp_path / "single.h5")
    assert not backend.guess_can_open(17)


def test_wrong_regions_are_named(tmp_path: Path) -> None:
    dataset = weather()
    with pytest.raises(ValueError, match="no dimension 'depth'"):
        dataset.penstock.to_file(tmp_path / "a.h5", region={"depth": slice(0, 3)})
    with pytest.raises(ValueError, match="of the 4 elements that this rank has"):
        dataset.penstock.to_file(tmp_path / "a.h5", region={"lat": slice(0, 3)})
    assert not list(tmp_path.iterdir())


PARALLEL = """
import sys, numpy as np, xarray as xr, penstock.xarray_backend
from mpi4py import MPI
comm = MPI.COMM_WORLD
rows = 0 if comm.rank == 1 else comm.rank + 2
first = sum(0 if r == 1 else r + 2 for r in range(comm.rank))
lat = np.arange(first, first + rows, dtype=float)
t = lat[:, None] * 10 + np.arange(3.0)
part = xr.Dataset({"t": (("lat", "lon"), t)}, coords={"lat": lat, "lon": np.arange(3.0)})
part.penstock.to_file(sys.argv[1], comm, region={"lat": slice(first, first + rows)})
"""


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_ranks_write_their_regions(build: Path, tmp_path: Path, ranks: int) -> None:
    pytest.importorskip("mpi4py")
    path = tmp_path / "regions.h5"
    command = [*launch.mpiexec(launch.Mpi.openmpi, ranks), sys.executable, "-c", PARALLEL, str(path)]
    subprocess.run(command, cwd=tmp_path, env=launch.environment(), check=True, timeout=300)
    rows = sum(0 if r == 1 else r + 2 for r in range(ranks))
    lat = np.arange(float(rows))
    expected = xr.Dataset(
        {"t": (("lat", "lon"), lat[:, None] * 10 + np.arange(3.0))}, coords={"lat": lat, "lon": np.arange(3.0)}
    )
    with xr.open_dataset(path, engine="penstock") as opened:
        xr.testing.assert_equal(opened, expected)
