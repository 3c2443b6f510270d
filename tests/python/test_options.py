"""test_options.py: how single datasets are stored: precision, packing and codecs, as other readers see them."""

import subprocess
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray

import penstock as library
from conftest import Penstock
from penstock.xarray_backend import PenstockBackendEntrypoint

FIELD = np.fromfunction(lambda i, j: 280 + 10 * np.sin(i / 20) * np.cos(j / 30), (120, 150))


def whole(data: np.ndarray, **more: Any) -> library.Part:
    return library.block(data, data.shape, (0,) * data.ndim, **more)


def test_h5py_finds_what_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with library.create(path) as file:
        file["single"] = whole(FIELD, dtype="f4", compression="gzip", level=7, units="K")
        file["bits"] = whole(FIELD, keep_bits=10)
        file["plain"] = whole(FIELD)
        created = file.create_dataset("created", FIELD.shape, "f8", compression="gzip", compression_opts=2)
        created[...] = FIELD
    with h5py.File(path) as file:
        single, bits = file["single"], file["bits"]
        assert (single.dtype, single.compression, single.compression_opts) == (np.dtype("f4"), "gzip", 7)
        assert single.attrs["units"] == b"K"
        np.testing.assert_array_equal(single[...], FIELD.astype("f4"))
        assert bits.dtype == "f8"
        assert bits.attrs["_QuantizeBitRoundNumberOfSignificantBits"] == 10
        error = np.abs(bits[...] / FIELD - 1).max()
        assert 2**-13 < error <= 2**-11
        assert not np.any(bits[...].view("u8") & np.uint64((1 << 42) - 1))
        assert file["plain"].compression is None
        assert (file["created"].compression_opts, file["created"].shape) == (2, FIELD.shape)
        np.testing.assert_array_equal(file["created"][...], FIELD)
    library.verify(path)


@pytest.mark.parametrize("extension", ["h5", "nc"])
def test_xarray_unpacks_and_its_encoding_is_followed(tmp_path: Path, extension: str) -> None:
    path, again = tmp_path / f"a.{extension}", tmp_path / f"again.{extension}"
    values = FIELD.copy()
    values[3, 4] = np.nan
    with library.create(path) as file:
        file["t"] = whole(values, dtype="i2", scale=0.001, offset=280, dims=("y", "x"))
    engine = "h5netcdf" if extension == "h5" else "netcdf4"
    with xarray.open_dataset(path, engine=engine) as opened:
        array = opened["t"].load()
    assert array.dtype == "f8"
    assert np.isnan(array.values[3, 4])
    assert np.nanmax(np.abs(array.values - values)) < 0.00051
    array.encoding |= {"zlib": True, "complevel": 3}
    with library.create(again) as file:
        file["t"] = library.block(array, array.shape, (0, 0))
        file["double"] = library.block(array, array.shape, (0, 0), dtype="f8", scale=1, offset=0)
    with xarray.open_dataset(again, engine=engine) as opened:
        np.testing.assert_array_equal(opened["t"].values, array.values)
        np.testing.assert_array_equal(opened["double"].values, array.values)
        assert opened["t"].encoding["dtype"] == "i2"
        assert bool(opened["t"].encoding.get("zlib")) == (extension == "h5")


def test_to_file_follows_encodings_as_to_netcdf_does(tmp_path: Path) -> None:
    rounded = {"quantize_mode": "BitRound", "significant_digits": 8}
    data = xarray.Dataset({"t": (("y", "x"), FIELD), "p": (("y", "x"), FIELD), "n": (("y", "x"), FIELD.astype("i4"))})
    data["t"].encoding = {"zlib": True, "complevel": 2, **rounded}
    data["n"].encoding = dict(rounded)
    packed = {"dtype": "i2", "scale_factor": 0.001, "add_offset": 280.0, "_FillValue": -32768, "zstd": True}
    data.penstock.to_file(tmp_path / "a.h5", encoding={"p": packed, "t": {"complevel": 7}})
    with h5py.File(tmp_path / "a.h5") as file:
        assert (file["t"].compression, file["t"].compression_opts) == ("gzip", 7)
        assert 0 < np.abs(file["t"][...] / FIELD - 1).max() <= 2**-9
        assert file["p"].dtype == "i2"
        assert "32015" in file["p"]._filters
        np.testing.assert_array_equal(file["n"][...], FIELD.astype("i4"))
    with xarray.open_dataset(tmp_path / "a.h5", engine=PenstockBackendEntrypoint) as opened:
        assert np.abs(opened["p"].values - FIELD).max() < 0.00051
    data.penstock.to_file(tmp_path / "a.nc")  # which has no codecs: encodings of variables are wishes
    with pytest.raises(ValueError, match="encoding: there is no variable 'q'"):
        data.penstock.to_file(tmp_path / "b.h5", encoding={"q": {"zlib": True}})
    assert not (tmp_path / "b.h5").exists()


def test_convert_rounds_where_its_plan_says_so(tmp_path: Path, penstock: Penstock) -> None:
    path, small = tmp_path / "a.h5", tmp_path / "small.h5"
    with library.create(path) as file:
        file["t"], file["n"] = whole(FIELD), whole(np.arange(1000))
    penstock("convert", str(path), str(small), "--plan", "hdf5:keep_bits=8,compression=deflate")
    assert small.stat().st_size < path.stat().st_size / 3
    with h5py.File(small) as file:
        assert 0 < np.abs(file["t"][...] / FIELD - 1).max() <= 2**-9
        np.testing.assert_array_equal(file["n"][...], np.arange(1000))
    shown = subprocess.run(
        ["/usr/bin/h5dump", "-pH", "-d", "t", small], capture_output=True, text=True, check=True
    ).stdout
    assert "COMPRESSION DEFLATE { LEVEL 4 }" in shown


def test_wrong_options_are_refused_by_name(tmp_path: Path) -> None:
    with library.create(tmp_path / "a.nc") as file:
        file["a"] = whole(FIELD)
        with pytest.raises(library.Unsupported, match="format netcdf stores numbers as they are"):
            file["b"] = whole(FIELD, compression="gzip")
    with library.create(tmp_path / "b.h5") as file:
        with pytest.raises(
            library.Invalid, match=r"options of 'a': compression=lzf: the values are plan\|none\|auto\|deflate"
        ):
            file["a"] = whole(FIELD, compression="lzf")
        with pytest.raises(TypeError, match="no option 'keepbits'; did you mean 'keep_bits'"):
            file.options("a", keepbits=3)
        with pytest.raises(library.Invalid, match="i64 has no mantissa"):
            file["a"] = whole(np.arange(5), keep_bits=3)
        file["a"] = whole(FIELD)
        with pytest.raises(library.Invalid, match="options of 'a': set them before it is put"):
            file.options("a", keep_bits=3)
    with h5py.File(tmp_path / "b.h5") as other:
        np.testing.assert_array_equal(other["a"][...], FIELD, "what was refused left no options")
