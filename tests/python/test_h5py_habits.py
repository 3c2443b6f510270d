"""test_h5py_habits.py: what users of h5py write, names of dimensions, and what a mistaken call is told."""

import copy
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray as xr

import penstock


@pytest.mark.parametrize("extension", ["h5", "nc", "raw"])
def test_what_users_of_h5py_write(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"a.{extension}"
    expected = np.zeros((4, 6), "f4")
    with penstock.create(path) as f:
        t = f.create_dataset("g/t", (4, 6), "f4", dims=("y", "x"))
        assert (t.shape, t.dtype) == ((4, 6), np.dtype("f4"))
        t[0:2] = 1
        f["g/t"][2:, ::2] = expected[2:, ::2] = np.arange(6, dtype="f4").reshape(2, 3)
        f["g/t"][2:, 1::2] = expected[2:, 1::2] = [[7, 8, 9]]
        expected[:2] = 1
        f.create_dataset("whole", data=[1, 2, 3], dtype="i2")
        f.create_dataset("grows", (1, 2), "i4", maxshape=(None, 2))[...] = 5
        f.create_dataset("on", 3, bool)[...] = [True, False, True]
        f.create_dataset("words", 2, "U4")[...] = ["a", "bb"]
        group = f.create_group("h")
        group["x"] = np.arange(3)
        group.create_dataset("y", data=1.0)
        group.attrs["note"] = "mine"
    with penstock.open(path, "r+") as f:
        np.testing.assert_array_equal(f["g/t"][...], expected)
        assert f["g/t"].dims == ("y", "x")
        assert f["grows"].is_unlimited
        assert f["on"][...].tolist() == [True, False, True]
        assert f["words"][...].tolist() == ["a", "bb"]
        assert dict(f.group("h").attrs) == {"note": "mine"}
        assert sorted(f.group("h")) == ["x", "y"]
        f["g/t"][3] = 0
        f["g/t"][1, [5, 0]] = [10, 11]
        f["on"][1] = True
        f["words"][1:] = "ccc"
        f["whole"][[2, 0]] = [30, 10]
        with pytest.raises(FileExistsError, match="'whole' is there already"):
            f.create_dataset("whole", 3, "f8")
        with pytest.raises(TypeError, match="float32, which cannot hold those of float64"):
            f["g/t"][0] = np.zeros(6)
        with pytest.raises(TypeError, match="int16, which cannot hold"):
            f["whole"][0] = 2**20
        with pytest.raises(ValueError, match="texts of 16 bytes"):
            f["words"][0] = "a" * 17
    expected[3], expected[1, 5], expected[1, 0] = 0, 10, 11
    with penstock.open(path, "r") as f:
        np.testing.assert_array_equal(f["g/t"][...], expected)
        assert f["on"][...].tolist() == [True, True, True]
        assert f["words"][...].tolist() == ["a", "ccc"]
        assert f["whole"][...].tolist() == [10, 2, 30]
    penstock.verify(path)


@pytest.mark.parametrize("extension", ["h5", "nc", "raw"])
def test_what_is_deleted_is_gone_and_may_be_put_anew(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"a.{extension}"
    with penstock.create(path) as f:
        for name in ("g/t", "h/x", "h/y", "whole", "flag"):
            f[name] = np.arange(3) > 1
        f["never"] = 1
        del f["never"]
    with penstock.open(path, "r+") as f:
        del f["h/x"]
        assert "h/x" not in f
        del f["whole"]
        f["whole"] = np.arange(5.0)
        del f["flag"]
        f.create_dataset("flag", 2, "i1")[...] = [7, 8]
        with pytest.raises(KeyError, match="no dataset or group 'wole'; did you mean 'whole'"):
            del f["wole"]
    with penstock.open(path) as f:
        assert list(f) == ["flag", "g/t", "h/y", "whole"]
        assert f["whole"][...].tolist() == [0, 1, 2, 3, 4]
        assert f["flag"][...].tolist() == [7, 8]
        assert f["g/t"][...].tolist() == [False, False, True]
        with pytest.raises(penstock.Error, match="reopen"):
            del f["flag"]
    penstock.verify(path)
    with penstock.reopen(path) as f:
        del f["h"]
        del f["g"]
    with penstock.open(path) as f:
        assert list(f) == ["flag", "whole"]


def test_an_empty_group_is_one(tmp_path: Path) -> None:
    with penstock.create(tmp_path / "a.h5") as f:
        f.create_group("g/h")
    with h5py.File(tmp_path / "a.h5") as h:
        assert isinstance(h["g/h"], h5py.Group)


def test_other_tools_see_the_names_of_dimensions(tmp_path: Path) -> None:
    t = np.arange(6.0).reshape(2, 3)
    with penstock.create(tmp_path / "a.h5") as f:
        f["t"] = penstock.block(t, shape=(2, 3), start=(0, 0), dims=("y", "x"))
        f["x"] = penstock.replicated(np.arange(3) / 2, dims="x")
    with penstock.reopen(tmp_path / "a.h5") as f:
        f["u"] = t
        f["u"].dims = ("y", "x")
    penstock.copy(tmp_path / "a.h5", tmp_path / "a.nc")
    with h5py.File(tmp_path / "a.h5") as h:
        assert h["t"].dims[1][0].name == "/x"
    for name, engine in (("a.h5", "penstock"), ("a.h5", "h5netcdf"), ("a.h5", "netcdf4"), ("a.nc", "netcdf4")):
        with xr.open_dataset(tmp_path / name, engine=engine) as found:
            assert found["t"].dims == found["u"].dims == ("y", "x")
            np.testing.assert_array_equal(found["x"], np.arange(3) / 2)


package: Any = penstock  # of whose calls the types are wrong here
CALLS: list[tuple[Any, str]] = [
    (lambda p: package.series(p / "o-*.h5", step=3), "unexpected keyword argument 'step'; did you mean 'steps'"),
    (lambda p: package.create(p / "a.h5", plans="raw"), "unexpected keyword argument 'plans'; did you mean 'plan'"),
    (lambda p: package.open(p / "a.h5", "w"), "open has no mode 'w': penstock.create"),
    (lambda p: package.open(p / "a.h5", "rw"), "open has no mode 'rw'"),
    (lambda p: package.File(p / "a.h5", "w"), r"use penstock.create\(path"),
    (lambda p: package.File(p / "a.h5"), r"penstock.open\(path, comm\)"),
    (lambda p: package.File(p / "a.h5", driver="mpio", comm=1), r"penstock.open\(path, comm\)"),
]


@pytest.mark.parametrize(("call", "words"), CALLS)
def test_a_call_that_is_none_says_what_is_meant(tmp_path: Path, call: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        call(tmp_path)


def test_a_missing_name_has_its_nearest(tmp_path: Path) -> None:
    with penstock.create(tmp_path / "a.h5") as f:
        f["fluid/density"], f["time"] = np.zeros(3), 1.0
        f.attrs["units"] = "cgs"
    with penstock.open(tmp_path / "a.h5") as f:
        for name, meant in {"density": "fluid/density", "Time": "time", "fluid/densty": "fluid/density"}.items():
            with pytest.raises(KeyError, match=f"no dataset '{name}'; did you mean '{meant}'"):
                f[name]
        with pytest.raises(KeyError, match="'fluid' is a group"):
            f["fluid"]
        with pytest.raises(KeyError, match="no attribute 'unit'; did you mean 'units'"):
            f.attrs["unit"]


@pytest.mark.parametrize(("name", "words"), [("Time", "did you mean 'time'"), ("fluid", "a group of .* 'density'")])
def test_a_missing_name_is_explained_after_the_file_is_closed(tmp_path: Path, name: str, words: str) -> None:
    with penstock.create(tmp_path / "a.h5") as f:
        f["fluid/density"], f["time"] = np.zeros(3), 1.0
    with pytest.raises(KeyError, match=words) as missing, penstock.open(tmp_path / "a.h5") as f:
        f[name]
    again = copy.copy(missing.value)
    assert again.args == missing.value.args == (str(again),)


def test_a_slash_before_a_name_is_as_none(tmp_path: Path) -> None:
    with penstock.create(tmp_path / "a.h5") as f:
        f["/t"] = 1
        f.create_dataset("/g/u", 2, "i4")
        f["/g/u"][...] = 2
        f.create_group("/g/")
        f.attributes("/g/")["note"] = "mine"
        assert "/t" in f
        assert list(f) == ["g/u", "t"]
    with penstock.open(tmp_path / "a.h5") as f:
        assert f["/t"][...] == 1
        assert list(f.group("/")) == ["g/u", "t"]
        assert dict(f.attributes("/g")) == {"note": "mine"}
        for find in (f.group, f.attributes):
            with pytest.raises(KeyError, match="no dataset or group 'h'"):
                find("h")


def test_a_wrong_name_of_a_dimension_costs_nothing(tmp_path: Path) -> None:
    with penstock.create(tmp_path / "a.h5") as f:
        with pytest.raises(penstock.Invalid, match="cannot be called 'a b'"):
            f["t"] = penstock.block(np.zeros(3), 3, 0, dims="a b")
        f["t"] = penstock.block(np.ones(3), 3, 0, dims="a")
        with pytest.raises(ValueError, match=r"'u': .*shape \(3,\)"):
            f.create_dataset("u", 2, "f8")[...] = np.zeros(3)
        f["u"][...] = 0
