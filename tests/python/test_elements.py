"""test_elements.py: which elements Python programs may put, and read as what."""

import enum
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray as xr

import penstock


class Colour(enum.Enum):
    red = 1
    blue = 4


class Level(enum.IntEnum):
    low = 0
    high = 1


@pytest.mark.parametrize("extension", ["h5", "nc", "raw"])
def test_texts_put_in_parts_again_and_again_stay_as_long(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"a.{extension}"
    names = np.array(["ab", "c\u00e9"], "U16")
    for _ in range(3):
        with penstock.create(path) as f:
            for k in range(2):
                f["names"] = penstock.block(names[k : k + 1], 2, k)
        with penstock.open(path) as f:
            names = f["names"][...]
            assert names.tolist() == ["ab", "c\u00e9"]
            assert (f["names"].dtype, names.dtype) == (np.dtype("U16"), np.dtype("U16"))


@pytest.mark.parametrize("extension", ["h5", "nc", "raw"])
def test_bool_half_texts_and_enums_come_back(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"a.{extension}"
    values: dict[str, Any] = {
        "flags": np.array([[True, False], [False, True]]).T,
        "flag": True,
        "half": np.array([1.5, np.inf, 6e-8], "f2"),
        "names": ["a", "\u00fc\u20ac", ""],
        "name": "Andr\u00e9",
        "table": np.array([["x", "yy"], ["zzz", ""]]),
        "objects": np.array(["x", "yy"], dtype=object),
    }
    with penstock.create(path) as f:
        for name, value in values.items():
            f[name] = value
        f["part"] = penstock.block(values["table"][1:], (2, 2), (1, 0))
        f["part"] = penstock.block(values["table"][:1], (2, 2), (0, 0))
        f["colours"] = np.array([Colour.red, Colour.blue])
        f["levels"] = np.array([Level.low, Level.high])
        f.attrs["restart"], f.attrs["half"], f.attrs["colour"] = True, np.float16(0.5), Colour.blue
    with penstock.open(path) as f:
        for name, value in values.items():
            expected = np.asarray(value, dtype=str if name == "objects" else None)
            found = f[name][...]
            assert f[name].dtype.kind == np.asarray(found).dtype.kind == expected.dtype.kind, name
            np.testing.assert_array_equal(found, expected)
            later = f[name].get()
            f.commit()
            np.testing.assert_array_equal(later, expected)
            out = np.empty_like(expected, dtype=f[name].dtype)
            f[name].read_into(out)
            np.testing.assert_array_equal(out, expected)
        np.testing.assert_array_equal(f["part"][...], values["table"])
        assert f["flags"][0, 0] is np.True_
        assert [Colour(value) for value in f["colours"]] == [Colour.red, Colour.blue]
        assert f["colours"].attrs["flag_meanings"] == "red blue"
        assert f["colours"].attrs["flag_values"].tolist() == [1, 4]
        assert [Level(value) for value in f["levels"]] == [Level.low, Level.high]
        assert (f.attrs["restart"], f.attrs["half"], f.attrs["colour"]) == (1, 0.5, 4)


def test_members_of_an_int_enum_have_names(tmp_path: Path) -> None:
    with penstock.create(tmp_path / "a.h5") as f:
        f["one"], f["list"], f["table"] = Level.high, [Level.low, Level.high], [[Level.high], [Level.low]]
        f["boxes"] = penstock.boxes([[Level.high, Level.low]], 2, [0])
        f["numbers"] = [Level.high, 7]
    with penstock.open(tmp_path / "a.h5") as f:
        assert f["table"][...].tolist() == [[1], [0]]
        for name in ("one", "list", "table", "boxes"):
            assert f[name].attrs["flag_meanings"] == "low high"
        assert f["numbers"][...].tolist() == [1, 7]
        assert not f["numbers"].attrs


def test_a_data_array_gives_its_dims_and_attributes(tmp_path: Path) -> None:
    array = xr.DataArray(np.zeros((2, 3)), dims=("y", "x"), attrs={"units": "m", "comment": "old"})
    with penstock.create(tmp_path / "a.h5") as f:
        f["whole"] = array
        f["block"] = penstock.block(array, (2, 3), (0, 0), comment="new")
        f["rows"] = penstock.per_rank(array[0])  # whose dimensions are others
        f["unnamed"] = xr.DataArray(np.zeros(4))
        f.create_dataset("created", data=array)
    with penstock.open(tmp_path / "a.h5") as f:
        for name in ("whole", "block", "created"):
            assert f[name].dims == ("y", "x")
            assert f[name].attrs["units"] == "m"
        assert f["block"].attrs["comment"] == "new"
        assert f["rows"].dims == f["unnamed"].dims == ()


MISTAKES = [
    ([1, "x"], "'v': the list mixes texts with other values"),
    ([["a"], [b"b"]], "'v': the list mixes texts with other values"),
    ("\ud800", r"'v': '\\ud800' is half of a UTF-16 pair"),
    (["a", "b\ud800"], r"'v': '\\ud800' is half of a UTF-16 pair"),
    (np.zeros((1,) * 9), "'v': 9 dimensions"),
    (penstock.block(np.zeros(3), (3, 1), (0, 0)), "'v': the array has 1 dimensions"),
]


@pytest.mark.parametrize(("value", "message"), MISTAKES)
def test_what_cannot_be_put_is_named(tmp_path: Path, value: Any, message: str) -> None:
    with penstock.create(tmp_path / "a.h5") as f:
        with pytest.raises((TypeError, ValueError), match=message):
            f["v"] = value
        with pytest.raises((TypeError, ValueError), match="'v'"):
            f.attrs["v"] = value
        f.create_dataset("texts", 1, "S4")
        with pytest.raises(TypeError, match="encode the texts"):
            f["texts"][0] = "\u00e9"
        f["texts"][0] = b"a"


def test_bools_and_halves_of_h5py_come_back(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as h:
        h["flags"] = np.array([True, False])
        h["half"] = np.array([1.5], "f2")
        h["colours"] = np.array([4, 1], h5py.enum_dtype({"red": 1, "blue": 4}, "u2"))
    with penstock.open(path) as f:
        assert f["flags"].dtype == bool
        assert f["flags"][...].tolist() == [True, False]
        assert f["half"].dtype == np.float16
        assert f["half"][0] == 1.5
        assert f["colours"][...].tolist() == [4, 1]
        assert dict(
            zip(f["colours"].attrs["flag_meanings"].split(), f["colours"].attrs["flag_values"], strict=True)
        ) == {
            "red": 1,
            "blue": 4,
        }


WIDER = [("i1", "i8"), ("u2", "i4"), ("i4", "f8"), ("u1", "f4"), ("f4", "f8"), ("f4", "c16"), ("c8", "c16")]
NARROWER = [("i8", "f8"), ("i4", "f4"), ("f8", "f4"), ("i2", "u4"), ("c8", "f8"), ("u8", "i8")]


@pytest.mark.parametrize(("own", "wider"), WIDER)
def test_wider_elements_are_read_where_they_are_asked_for(tmp_path: Path, own: str, wider: str) -> None:
    data = np.arange(12).reshape(3, 4).astype(own)
    with penstock.create(tmp_path / "a.h5") as f:
        f["a"] = data
    with penstock.open(tmp_path / "a.h5") as f:
        a = f["a"]
        later = a.get(slice(1, 3), dtype=wider)
        out = np.zeros((3, 8), wider)
        a.read_into(out[:, ::2], dtype=wider)
        assert later.dtype == wider
        np.testing.assert_array_equal(later, data[1:])
        np.testing.assert_array_equal(out[:, ::2], data)
        for found in (a.read(dtype=wider), a.astype(wider)[...]):
            np.testing.assert_array_equal(found, data.astype(wider), strict=True)
        assert a.astype(wider).dtype == wider
        with pytest.raises(TypeError, match="must be the same, or dtype="):
            a.read_into(out[:, ::2])


@pytest.mark.parametrize(("own", "narrower"), NARROWER)
def test_nothing_is_read_with_loss(tmp_path: Path, own: str, narrower: str) -> None:
    with penstock.create(tmp_path / "a.h5") as f:
        f["a"] = np.zeros(3, own)
    with penstock.open(tmp_path / "a.h5") as f:
        for call in (f["a"].read, f["a"].get, f["a"].astype):
            with pytest.raises(TypeError, match="without loss"):
                call(dtype=narrower)
        assert f["a"][0] == 0


def test_numbers_out_of_range_are_not_stored_as_infinity(tmp_path: Path) -> None:
    with penstock.create(tmp_path / "a.h5") as f:
        a = f.create_dataset("a", 3, "f4")
        with pytest.raises(TypeError, match="without loss"):
            a[0] = 1e300
        a[0:2] = [0.1, np.inf]
        a[2:2] = []
        a[2] = 3
    with penstock.open(tmp_path / "a.h5") as f:
        assert f["a"][...].tolist() == [np.float32(0.1), np.inf, 3]
        with pytest.raises(TypeError, match="without loss"):
            f["a"].read(dtype="U30")


def test_other_elements_are_not_put_over_those_of_a_bool(tmp_path: Path) -> None:
    for old, new in (([True, False], np.array([5, 0], "i1")), (np.array([5, 0], "i1"), [True, False])):
        with penstock.create(tmp_path / "a.h5") as f:
            f["a"] = old
        with penstock.reopen(tmp_path / "a.h5") as f, pytest.raises(penstock.Mismatch, match="del f"):
            f["a"] = new


@pytest.mark.parametrize(("dtype", "words"), [("G", "complex128"), (str, "U20"), ("S", "S20")])
def test_a_dtype_that_cannot_be_has_a_remedy(tmp_path: Path, dtype: Any, words: str) -> None:
    with penstock.create(tmp_path / "a.h5") as f, pytest.raises(TypeError, match=words):
        f.create_dataset("a", 3, dtype)


class Word(str, enum.Enum):  # noqa: UP042
    ONE = "one"
    TWENTY = "twenty"


class Pair(enum.Enum):
    A = (1, 2)


def test_members_that_are_texts_are_stored_as_their_texts(tmp_path: Path) -> None:
    with penstock.create(tmp_path / "f.h5") as file:
        file["one"] = Word.TWENTY
        file["list"] = [Word.ONE, Word.TWENTY]
        file["list"].attrs["words"] = [Word.TWENTY, "other"]
        file["list"].attrs["word"] = Word.TWENTY
        file["objects"] = np.array([Word.ONE, Word.TWENTY], object)
        with pytest.raises(TypeError, match="'pair': members of one Enum whose values are whole numbers"):
            file["pair"] = Pair.A
    with penstock.open(tmp_path / "f.h5") as file:
        assert file["one"][()] == "twenty"
        assert file["list"][:].tolist() == ["one", "twenty"]
        assert file["objects"][:].tolist() == ["one", "twenty"]
        assert file["list"].attrs["words"] == ["twenty", "other"]
        assert file["list"].attrs["word"] == "twenty"
