"""test_conventions.py: files that follow CF and openPMD, read by the tools of those who made them."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import openpmd_api
import pytest
import xarray as xr

import penstock
from test_ranks import on_ranks

RANKS = Path(__file__).with_name("ranks_conventions.py")


@pytest.mark.parametrize("plan", ["netcdf/two_phase", "netcdf/independent", "pnetcdf"])
@pytest.mark.parametrize("ranks", [1, 3])
def test_xarray_finds_the_coordinates_of_meshes(tmp_path: Path, plan: str, ranks: int) -> None:
    path = tmp_path / "cf.nc"
    on_ranks(ranks, RANKS, "cf", path, plan)
    with xr.open_dataset(path) as found:
        assert found.attrs["Conventions"] == "CF-1.11"
        rho = found["rho"]
        assert rho.dims == ("z", "y", "x")
        np.testing.assert_array_equal(rho["z"], 0.25 + 0.5 * np.arange(4 * ranks))
        np.testing.assert_array_equal(rho["x"], [2.5, 3.5])
        assert (rho["x"].attrs["axis"], rho["x"].attrs["units"]) == ("X", "m")
        assert rho.sel(z=0.3, y=1.1, x=3.4, method="nearest") == 0
        assert found["t"].dims == ("g__y", "g__x")
        np.testing.assert_array_equal(found["t"]["g__x"], [0, 1, 4])
        assert set(found["sst"].coords) == {"lon", "lat", "time"}
        assert set(found["p__m"].coords) == {"p__x", "p__y", "time"}
        assert found["time"].values == np.datetime64("2000-01-04T12:00")
    said = subprocess.run(["ncdump", "-h", path], capture_output=True, text=True, check=True).stdout  # noqa: S607
    assert 'sst:coordinates = "time lon lat" ;' in said


def test_a_series_of_them_has_one_time(tmp_path: Path) -> None:
    with penstock.series(tmp_path / "out-*.nc") as series:
        for iteration in (0, 10):
            with series.step(iteration, iteration * 0.5) as f:
                f.attributes("grid")["mesh"] = "uniform,spacing=1:1"
                f.attrs["time_units"] = "days since 2000-01-01"
                f["rho"] = penstock.block(np.full((2, 3), float(iteration)), shape=(2, 3), start=(0, 0), on="grid")
                f.conventions("CF")
    with xr.open_dataset(f"{tmp_path}/out-*.nc", engine="penstock") as run:
        assert run["rho"].dims == ("time", "y", "x")
        assert run["time"].values[1] == np.datetime64("2000-01-06")
        np.testing.assert_array_equal(run["rho"][:, 0, 0], [0, 10])
        np.testing.assert_array_equal(run["x"], [0, 1, 2])


@pytest.mark.parametrize("plan", ["hdf5/two_phase", "hdf5/independent", "phdf5"])
@pytest.mark.parametrize("ranks", [1, 3])
def test_openpmd_reads_it_and_its_validator_finds_no_fault(tmp_path: Path, plan: str, ranks: int) -> None:
    path = tmp_path / "pmd.h5"
    on_ranks(ranks, RANKS, "openPMD", path, plan)
    validator = Path(sys.executable).with_name("openPMD_check_h5")
    done = subprocess.run([validator, "-i", path], capture_output=True, text=True, check=False)
    assert "Result: 0 Errors" in done.stdout, done.stdout + done.stderr
    series = openpmd_api.Series(str(path), openpmd_api.Access.read_only)
    iteration = series.iterations[100]
    assert iteration.time == 3.5
    field = iteration.meshes["E"]
    assert (field.axis_labels, field.grid_spacing, field.grid_global_offset) == (["y", "x"], [0.5, 0.25], [0, 1])
    assert field["y"].position == [0.5, 0.5]
    electrons = iteration.particles["e"]
    values = field["y"].load_chunk()
    places, offsets = electrons["position"]["x"].load_chunk(), electrons["positionOffset"]["x"].load_chunk()
    series.flush()
    np.testing.assert_array_equal(values[:, 0], np.repeat(np.arange(ranks) + 1.0, 4))
    np.testing.assert_array_equal(places, np.concatenate([np.arange(2 * rank + 1) + rank for rank in range(ranks)]))
    assert not offsets.any()
    assert electrons["mass"][openpmd_api.Record_Component.SCALAR].unit_SI == 9.1e-31


def test_a_series_of_openpmd_is_one_of_files(tmp_path: Path) -> None:
    with penstock.series(tmp_path / "out-*.h5") as series:
        for iteration in (0, 10):
            with series.step(iteration, iteration * 0.5) as f:
                f[f"data/{iteration}/fields/rho"] = np.full((3, 4), float(iteration))
                f.attrs["iterationEncoding"], f.attrs["iterationFormat"] = "fileBased", "out-%08T.h5"
                f.conventions("openPMD")
    found = openpmd_api.Series(f"{tmp_path}/out-%T.h5", openpmd_api.Access.read_only)
    assert [(number, one.time) for number, one in found.iterations.items()] == [(0, 0), (10, 5)]


def put(f: Any) -> None:
    f["rho"] = np.zeros(4)


@pytest.mark.parametrize(
    ("path", "plan", "convention", "kind", "words"),
    [
        ("a.h5", "", "CF", penstock.Unsupported, ["names of dimensions", "'hdf5'"]),
        ("a.nc", "netcdf4", "CF", penstock.Unsupported, ["pnetcdf", "'netcdf4'"]),
        ("a.nc", "", "openPMD", penstock.Unsupported, ["HDF5", "'netcdf'"]),
        ("a.h5", "hdf5/independent:placement=per_rank", "openPMD", penstock.Unsupported, ["placement=single"]),
        ("a.h5", "", "openPMD", penstock.Invalid, ["data/ITERATION/fields/NAME", "data/100/fields/rho"]),
    ],
)
def test_what_cannot_be_followed_is_named(
    tmp_path: Path, path: str, plan: str, convention: str, kind: type[Exception], words: list[str]
) -> None:
    def write() -> None:
        with penstock.create(tmp_path / path, plan=plan) as f:
            put(f)
            f.conventions(convention)

    with pytest.raises(kind) as caught:
        write()
    assert all(word in str(caught.value) for word in words), caught.value
    assert not list(tmp_path.iterdir())


def test_a_word_that_is_no_convention(tmp_path: Path) -> None:
    with (
        pytest.raises(penstock.Invalid, match=r"'COARDS' is no convention: CF"),
        penstock.create(tmp_path / "a.nc") as f,
    ):
        f.conventions("COARDS")
