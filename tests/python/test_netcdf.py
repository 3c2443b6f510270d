"""test_netcdf.py: what penstock writes as netCDF, by the other libraries; what they write, by penstock."""

import json
import os
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import h5py
import netCDF4
import numpy as np
import pytest
import xarray

import penstock
from conftest import BUILD, ROOT
from penstock.files.catalogue import netcdf as catalogue_netcdf

PROGRAM = BUILD / "bin" / "netcdf_weather"
PLANS = ["netcdf/two_phase", "netcdf/independent", "netcdf/two_phase:writers=1,io=buffered"]
Weather = Callable[..., Path]
Classic = Literal["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]


def launch(*words: str | Path, ranks: int = 3) -> None:
    lines = (ROOT / "tools" / "penstock" / "mpi.env").read_text().splitlines()
    settings = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    command = ["mpiexec.openmpi", "-n", str(ranks), str(PROGRAM), *map(str, words)]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def tool(*words: str | Path) -> str:
    if shutil.which(str(words[0])) is None:
        pytest.skip(f"{words[0]} is missing: scripts/install-dependencies test")
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def weather(tmp_path: Path) -> Weather:
    """Writes three steps on three ranks, by PLAN, and two more on two others where GROWN."""
    if not PROGRAM.is_file():
        pytest.fail("build/bin has no netcdf_weather: 'make build' makes it")

    def make(plan: str = "netcdf/two_phase", grown: bool = True) -> Path:
        path = tmp_path / "weather.nc"
        launch("write", path, plan)
        if grown:
            launch("grow", path, plan, ranks=2)
        return path

    return make


def counting(*shape: int, dtype: Any = np.float64) -> Any:
    return (np.arange(np.prod(shape)) / 2).astype(dtype).reshape(shape)


@pytest.mark.parametrize("plan", PLANS)
def test_netcdf4_reads_every_value(weather: Weather, plan: str) -> None:
    with netCDF4.Dataset(weather(plan), auto_complex=True) as file:
        assert file.data_model == "NETCDF3_64BIT_DATA"
        assert file.dimensions["time"].isunlimited()
        assert file["temperature"].dimensions == ("time", "lat", "lon")
        for name, wanted in {
            "temperature": counting(5, 5, 7),
            "cloud__cover": counting(5, 5, dtype=np.int16),
            "time": counting(5),
            "lat": counting(5, dtype=np.float32),
            "lon": counting(7, dtype=np.float32),
            "spectrum": counting(9, 2, dtype=np.complex128),
            "phase": counting(9, dtype=np.complex64),
            "big": counting(11, 3, dtype=np.uint64),
            "odd bytes": counting(5, dtype=np.int8),
            "large": counting(700, 300, dtype=np.int32),
            "a%5F%5Fb__%5Fc%25": counting(6, dtype=np.uint16),
        }.items():
            values = np.asarray(file[name][...])
            assert values.dtype == wanted.dtype, name
            np.testing.assert_array_equal(values, wanted, err_msg=name)
        assert [bytes(row).rstrip(b"\0") for row in file["station__name"][...].filled(b"\0")] == [
            b"Aachen",
            b"Bern",
            b"",
        ]
        assert file.getncattr("cloud__source") == "a satellite"
        assert file.wide == 2**64 - 1
        assert json.loads(file["nothing"].getncattr("_penstock")) == {"shape": [0, 4]}


def test_xarray_has_coordinates_of_the_names_given(weather: Weather) -> None:
    with xarray.open_dataset(weather()) as data:
        temperature = data["temperature"]
        assert temperature.dims == ("time", "lat", "lon")
        assert set(temperature.coords) == {"time", "lat", "lon"}
        assert temperature.sel(lat=1.5, lon=2.0).shape == (5,)
        assert str(temperature["time"].values[2])[:10] == "2001-01-02"
        assert temperature.attrs["units"] == "K"
        assert "dimensions" not in temperature.attrs
        assert data.attrs["Conventions"] == "CF-1.11"
        np.testing.assert_array_equal(temperature.values, counting(5, 5, 7))
        assert (data["temperature"] - data["cloud__cover"]).dims == ("time", "lat", "lon")


@pytest.mark.parametrize("grown", [False, True])
@pytest.mark.parametrize("plan", PLANS)
def test_validators_find_nothing(weather: Weather, plan: str, grown: bool) -> None:
    path = weather(plan, grown)
    assert "is a valid NetCDF classic CDF-5 file" in tool("ncvalidator", path)
    header = tool("ncdump", "-h", path)
    assert f"time = UNLIMITED ; // ({5 if grown else 3} currently)" in header
    assert "double temperature(time, lat, lon) ;" in header
    tool("ncmpidump", path)


def test_parts_of_a_set_are_files_by_themselves(weather: Weather, tmp_path: Path) -> None:
    weather("netcdf/independent:placement=per_rank", grown=False)
    index = json.loads((tmp_path / "weather.nc.json").read_text())
    assert index["format"] == "netcdf"
    assert len(index["parts"]) == 3
    for part in index["parts"]:
        assert "is a valid NetCDF classic CDF-5 file" in tool("ncvalidator", tmp_path / part)
    seen = []
    for part in index["parts"]:
        with netCDF4.Dataset(tmp_path / part) as file:
            seen.append(np.asarray(file["temperature"][...]))
    np.testing.assert_array_equal(np.concatenate(seen), counting(3, 5, 7))
    launch("copy", tmp_path / "weather.nc", tmp_path / "copy.h5", ranks=2)
    with h5py.File(tmp_path / "copy.h5") as file:
        np.testing.assert_array_equal(file["temperature"][...], counting(3, 5, 7))


def test_hdf5_and_netcdf_hold_the_same(weather: Weather, tmp_path: Path) -> None:
    launch("copy", weather(), tmp_path / "copy.h5")
    launch("copy", tmp_path / "copy.h5", tmp_path / "back.nc", ranks=2)
    with netCDF4.Dataset(tmp_path / "weather.nc") as first, netCDF4.Dataset(tmp_path / "back.nc") as second:
        assert list(first.variables) == list(second.variables)
        for name, variable in first.variables.items():
            if name.startswith("_penstock"):  # it has the time of its commit in it
                continue
            assert variable.dimensions == second[name].dimensions
            assert variable.__dict__.keys() == second[name].__dict__.keys()
            np.testing.assert_array_equal(variable[...], second[name][...], err_msg=name)


def fill(path: Path, data_format: Classic) -> dict[str, Any]:
    """A file of netCDF4-python's with interleaved records, and what is in it."""
    kinds = ["i1", "i2", "i4", "f4", "f8"]
    if data_format == "NETCDF3_64BIT_DATA":
        kinds += ["u1", "u2", "u4", "i8", "u8"]
    wanted: dict[str, Any] = {}
    random = np.random.default_rng(3)
    with netCDF4.Dataset(path, "w", format=data_format) as file:
        for name, length in {"time": None, "x": 3, "two words": 5}.items():
            file.createDimension(name, length)
        file.title = "made by others"
        file.numbers = np.array([1, 2], "i4")
        for kind in kinds:
            for suffix, axes, shape in (("records", ("time", "x"), (4, 3)), ("fixed", ("two words", "x"), (5, 3))):
                name = f"{kind}.{suffix}"
                wanted[name] = random.integers(0, 100, shape).astype(kind)
                variable = file.createVariable(name, kind, axes)
                variable.units = "m"
                variable[:] = wanted[name]
    return wanted


def check_copy(path: Path, wanted: dict[str, Any]) -> None:
    with h5py.File(path) as file:
        for name, values in wanted.items():
            assert file[name].dtype == values.dtype, name
            np.testing.assert_array_equal(file[name][...], values, err_msg=name)
            assert (file[name].maxshape[0] is None) == name.endswith("records")


@pytest.mark.parametrize("data_format", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"])
def test_files_of_netcdf4_are_read(tmp_path: Path, weather: Weather, data_format: Classic) -> None:
    wanted = fill(tmp_path / "other.nc", data_format)
    launch("copy", tmp_path / "other.nc", tmp_path / "copy.h5")
    check_copy(tmp_path / "copy.h5", wanted)
    with h5py.File(tmp_path / "copy.h5") as file:
        assert file.attrs["title"] == b"made by others"
        assert list(file.attrs["numbers"]) == [1, 2]
        assert [scales[0].name for scales in file["i4.fixed"].dims] == ["/two words", "/x"]


@pytest.mark.parametrize("version", ["1", "2", "5"])
def test_files_of_pnetcdf_are_read(tmp_path: Path, weather: Weather, version: str) -> None:
    text = """netcdf other {
dimensions: time = unlimited; x = 3;
variables: double a.records(time, x); short b.records(time); float c.fixed(x);
data: a.records = 1, 2, 3, 4, 5, 6; b.records = 7, 8; c.fixed = 9, 10, 11;
}"""
    (tmp_path / "other.cdl").write_text(text)
    tool("ncmpigen", "-v", version, "-o", tmp_path / "other.nc", tmp_path / "other.cdl")
    launch("copy", tmp_path / "other.nc", tmp_path / "copy.h5", ranks=2)
    wanted = {
        "a.records": np.arange(1.0, 7).reshape(2, 3),
        "b.records": np.array([7, 8], "i2"),
        "c.fixed": np.array([9, 10, 11], "f4"),
    }
    check_copy(tmp_path / "copy.h5", wanted)


def test_characters_along_an_unlimited_dimension_are_a_list_that_grows(tmp_path: Path) -> None:
    path = tmp_path / "other.nc"
    with netCDF4.Dataset(path, "w") as file:
        for name, length in {"time": None, "length": 4}.items():
            file.createDimension(name, length)
        file.createVariable("flag", "S1", ("time",))[:] = np.array([b"a", b"b", b"c"])
        file.createVariable("word", "S1", ("time", "length"))[:] = np.array([list("abcd"), list("efgh")] * 2)[:3]
        file.createVariable("one", "S1", ("length",))[:] = np.array(list("text"))
    with penstock.open(path) as f:
        assert {name: (f[name].dtype, f[name].shape, f[name].is_unlimited) for name in f} == {
            "flag": (np.dtype("S1"), (3,), True),
            "one": (np.dtype("S4"), (), False),
            "word": (np.dtype("S4"), (3,), True),
        }
        assert list(f["flag"][...]) == [b"a", b"b", b"c"]
    for extension in ("h5", "nc"):
        copy = tmp_path / f"copy.{extension}"
        penstock.copy(path, copy)
        with penstock.reopen(copy) as f:
            f["more"] = np.arange(2)
        with penstock.open(copy) as f:
            assert list(f["flag"][...]) == [b"a", b"b", b"c"]
            assert list(f["word"][...]) == [b"abcd", b"efgh", b"abcd"]


def padded(version: int) -> bytes:
    """One variable of three ints; all names are padded with NUL inside their length, as some writers do."""

    def word(number: int) -> bytes:
        return struct.pack(">i", number)

    def name(text: bytes) -> bytes:
        whole = text + bytes(4 - len(text) % 4)
        return word(len(whole)) + whole

    begin = struct.Struct(">i" if version == 1 else ">q")
    head = b"CDF" + bytes([version]) + word(0)
    head += word(0x0A) + word(1) + name(b"x") + word(3)
    head += word(0x0C) + word(1) + name(b"title") + word(2) + word(4) + b"four"
    head += word(0x0B) + word(1) + name(b"data") + word(1) + word(0)
    head += word(0x0C) + word(1) + name(b"units") + word(2) + word(1) + b"m\0\0\0"
    head += word(4) + word(12)
    return head + begin.pack(len(head) + begin.size) + struct.pack(">3i", 7, 8, 9)


@pytest.mark.parametrize("version", [1, 2])
def test_names_that_are_padded_are_read(tmp_path: Path, version: int) -> None:
    path = tmp_path / "other.nc"
    path.write_bytes(padded(version))
    tool("ncvalidator", path)
    with netCDF4.Dataset(path) as file:
        assert list(file.variables["data"][:]) == [7, 8, 9]
    with penstock.open(path) as f:
        assert list(f) == ["data"]
        assert list(f["data"][...]) == [7, 8, 9]
        assert dict(f.attrs) == {"title": "four"}
        assert dict(f["data"].attrs) == {"dimensions": ["x"], "units": "m"}
    assert [each.name for each in catalogue_netcdf.read(path).datasets] == ["data"]


@pytest.mark.parametrize("value", ["3 of them", "one", "", ["y"], np.int64(3), np.array([2.0, 3.0])], ids=str)
def test_an_attribute_called_dimensions_that_names_none_is_as_any_other(tmp_path: Path, value: Any) -> None:
    told = []
    for plan in ("hdf5/independent", "netcdf/independent", "raw/independent"):
        path = tmp_path / plan.partition("/")[0]
        with penstock.create(path, plan=plan) as file:
            file["t"] = penstock.replicated(np.ones((2, 3)))
            file["t"].attrs["dimensions"] = value
        with penstock.open(path) as file:
            assert file["t"].dims == ()
            told.append(np.asarray(file["t"].attrs["dimensions"]).tolist())
        copy = tmp_path / f"{path.name}.copy"
        penstock.copy(path, copy, plan="netcdf/independent")
        with penstock.open(copy) as file:
            assert np.asarray(file["t"].attrs["dimensions"]).tolist() == told[-1]
    assert told == [np.asarray(value).tolist()] * 3


def test_names_of_dimensions_fit_the_dataset_in_every_format(tmp_path: Path) -> None:
    for plan in ("hdf5/independent", "netcdf/independent", "raw/independent"):
        with penstock.create(tmp_path / "f", plan=plan) as file:
            file["t"] = penstock.replicated(np.ones((2, 3)))
            file["t"].dims = ("y", "x", "z")
            with pytest.raises(penstock.Invalid, match="'t' has 2 dimensions, but names of 3"):
                file.commit()
            file.abandon()
