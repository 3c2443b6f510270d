"""test_compression.py: compressed datasets: who reads them, how small they are, what stays, what is refused."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin
import netCDF4
import numpy as np
import pytest
import xarray

import penstock as library
from conftest import Penstock

FIELD = np.fromfunction(lambda i, j, k: np.sin(i / 20) + np.cos(j / 30) * k, (70, 91, 110))
NOISE = np.random.default_rng(1).random(300_000)
COUNTS = (np.arange(1_000_003) % 1000).astype("i4")


def make(path: Path, plan: str = ":compression=deflate") -> Path:
    with library.create(path, plan=plan) as file:
        file["fields/rho"] = FIELD
        file["fields/rho"].attrs["units"] = "kg m-3"
        file["noise"] = NOISE
        file["counts"] = COUNTS
        file["small"] = np.arange(10)
    return path


@pytest.mark.parametrize("more", ["", ",chunk_bytes=4KiB", ",chunk_bytes=512,compression_level=9"])
def test_others_read_every_value(tmp_path: Path, more: str) -> None:
    path = make(tmp_path / "a.h5", ":compression=deflate" + more)
    with h5py.File(path) as file:
        for name, values in (("fields/rho", FIELD), ("noise", NOISE), ("counts", COUNTS)):
            assert file[name].compression == "gzip"
            assert file[name].shuffle
            np.testing.assert_array_equal(file[name][...], values)
        assert file["small"].chunks is None
    with library.open(path) as mine:
        np.testing.assert_array_equal(mine["fields/rho"][3:50, ::7, 5:], FIELD[3:50, ::7, 5:])
    with xarray.open_dataset(path, engine="h5netcdf", group="fields", phony_dims="sort") as fields:
        np.testing.assert_array_equal(fields["rho"].values, FIELD)
        assert fields["rho"].attrs["units"] == "kg m-3"


@pytest.mark.parametrize("codec", ["deflate", "zstd", "blosc"])
def test_netcdf4_for_python_reads_it(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "a.nc4"
    with library.create(path, plan=f"hdf5:compression={codec}") as file:
        file["t"] = library.block(FIELD, FIELD.shape, (0, 0, 0), dims=("z", "y", "x"))
        file["packed"] = library.block(FIELD, FIELD.shape, (0, 0, 0), dims=("z", "y", "x"), dtype="i4", scale=1e-6)
    with netCDF4.Dataset(path) as opened:
        assert opened["t"].dimensions == ("z", "y", "x")
        np.testing.assert_array_equal(opened["t"][...], FIELD)
        assert np.abs(opened["packed"][...] - FIELD).max() < 0.6e-6


# What others make of the same chunks, at a level of theirs.
THEIRS: dict[str, Callable[[int], Mapping[str, Any]]] = {
    "zstd": lambda level: {"shuffle": True, **hdf5plugin.Zstd(clevel=level)},
    "lz4": lambda level: {"shuffle": True, **hdf5plugin.LZ4()},
    "blosc": lambda level: hdf5plugin.Blosc("lz4", level, hdf5plugin.Blosc.BITSHUFFLE),
}


@pytest.mark.parametrize(
    ("codec", "more", "level"),
    [
        *(("zstd", more, 1) for more in ("", ",chunk_bytes=4KiB")),
        ("zstd", ",chunk_bytes=512,compression_level=19", 19),
        *(("lz4", more, 1) for more in ("", ",compression_level=1", ",chunk_bytes=4KiB")),
        ("lz4", ",chunk_bytes=512,compression_level=9", 9),
        *(("blosc", more, 5) for more in ("", ",chunk_bytes=4KiB")),
        ("blosc", ",chunk_bytes=512,compression_level=9", 9),
    ],
)
def test_other_filters_are_read_by_others_and_as_small(tmp_path: Path, codec: str, more: str, level: int) -> None:
    other = tmp_path / "other.h5"
    path = make(tmp_path / "a.h5", f":compression={codec}{more}")
    with h5py.File(path) as file, h5py.File(other, "w") as theirs:
        for name, values in (("fields/rho", FIELD), ("noise", NOISE), ("counts", COUNTS)):
            np.testing.assert_array_equal(file[name][...], values)
            theirs.create_dataset(name, data=values, chunks=file[name].chunks, **THEIRS[codec](level))
            assert file[name]._filters == theirs[name]._filters
            assert file[name].id.get_storage_size() < 1.02 * theirs[name].id.get_storage_size()
    for one in (path, other):  # our own decoder; it knows no plug-in
        with library.open(one) as mine:
            np.testing.assert_array_equal(mine["fields/rho"][3:50, ::7, 5:], FIELD[3:50, ::7, 5:])
            np.testing.assert_array_equal(mine["counts"][...], COUNTS)


def test_info_names_the_filters(tmp_path: Path, penstock: Penstock) -> None:
    for codec, names in (
        ("zstd", "shuffle and Zstandard 1"),
        ("lz4", "shuffle and LZ4:"),
        ("blosc", "Blosc bitshuffle lz4 5"),
    ):
        path = make(tmp_path / f"{codec}.h5", f":compression={codec}")
        assert names in penstock("info", str(path)).stdout


def test_whatever_others_write_by_these_filters_is_read(tmp_path: Path) -> None:
    path, small = tmp_path / "other.h5", FIELD[:9]
    ways: list[Mapping[str, Any]] = [hdf5plugin.LZ4(nbytes=4000), {"fletcher32": True, **hdf5plugin.LZ4()}]
    ways += [hdf5plugin.Zstd(clevel=9), {"fletcher32": True, "shuffle": True, **hdf5plugin.Zstd()}]
    for name in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        ways += [hdf5plugin.Blosc(name, 3, shuffle) for shuffle in (0, 1, 2)]
    with h5py.File(path, "w") as file:
        for i, way in enumerate(ways):
            file.create_dataset(f"f8/{i}", data=small, chunks=(4, 31, 110), **way)
            file.create_dataset(f"i2/{i}", data=COUNTS.astype(">i2"), chunks=(7001,), **way)
    with library.open(path) as mine:
        for i in range(len(ways)):
            np.testing.assert_array_equal(mine[f"f8/{i}"][...], small)
            np.testing.assert_array_equal(mine[f"i2/{i}"][...], COUNTS.astype("i2"))


DAMAGED: dict[str, Callable[[int], Mapping[str, Any]]] = {**THEIRS, "deflate": lambda _level: {"compression": "gzip"}}


@pytest.mark.parametrize("codec", list(DAMAGED))
@pytest.mark.parametrize("wrong", [b"", b"x", b"nothing that any of them knows"])
def test_a_chunk_of_the_wrong_length_is_an_error(tmp_path: Path, penstock: Penstock, codec: str, wrong: bytes) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        whole = file.create_dataset("x", data=np.arange(10_000.0), chunks=(1000,), **DAMAGED[codec](5))
        short = file.create_dataset("y", data=np.arange(10.0), chunks=(10,), **DAMAGED[codec](5))
        whole.id.write_direct_chunk((3000,), wrong or short.id.read_direct_chunk((0,))[1])
    assert penstock("convert", str(path), "y.nc", "--only", "y").returncode == 0
    done = penstock("convert", str(path), "x.nc", "--only", "x")
    assert done.returncode == 1
    assert re.search("dataset 'x': a chunk (cannot be decoded by|decodes to the wrong length)", done.stderr)


CHANGE = """
import sys, numpy as np, penstock
with penstock.open(sys.argv[1], "r+", plan=sys.argv[2]) as file:
    assert file["counts"][7] == 7
    file["more"] = np.arange(100_000.0)
"""


@pytest.mark.parametrize("codec", list(THEIRS))
def test_a_plug_in_has_no_say_in_what_is_written(tmp_path: Path, codec: str) -> None:
    plan = f":compression={codec}"
    path, changed = make(tmp_path / "a.h5", plan), make(tmp_path / "b.h5", plan)
    command = [sys.executable, "-c", CHANGE, str(changed), plan]
    subprocess.run(command, env=os.environ | {"HDF5_PLUGIN_PATH": hdf5plugin.PLUGIN_PATH}, check=True)
    with h5py.File(path) as file, h5py.File(changed) as other:
        for name in ("fields/rho", "noise", "counts"):
            assert other[name]._filters == file[name]._filters
        assert other["more"]._filters.keys() == file["noise"]._filters.keys()
        np.testing.assert_array_equal(other["fields/rho"][...], FIELD)
        np.testing.assert_array_equal(other["more"][...], np.arange(100_000.0))


AFTER_READING = """
import sys, numpy as np, penstock
with penstock.open(sys.argv[1]) as file:
    assert file["counts"][7] == 7
try:
    with penstock.create("b.h5", plan="phdf5:chunked=true,collective=true,filter=zstd") as file:
        file["x"] = np.arange(1000.0)
except penstock.Error as error:
    print(error)
"""


def test_our_decoder_is_no_encoder(tmp_path: Path) -> None:
    """What parallel HDF5 refuses without a plug-in, it refuses still after a read by our decoder."""
    path = make(tmp_path / "a.h5", ":compression=zstd")
    command = [sys.executable, "-c", AFTER_READING, str(path)]
    environment = os.environ | {"HDF5_PLUGIN_PATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert "this HDF5 has no filter 32015" in done.stdout


def test_repacking_gives_the_same_values(tmp_path: Path) -> None:
    path, plain = make(tmp_path / "a.h5"), tmp_path / "plain.h5"
    subprocess.run(["h5repack", "-f", "NONE", "-l", "CONTI", path, plain], check=True)  # noqa: S607
    subprocess.run(["h5diff", path, plain], check=True)  # noqa: S607


def test_it_is_as_small_as_what_h5py_writes(tmp_path: Path) -> None:
    path, other = make(tmp_path / "a.h5"), tmp_path / "other.h5"
    with h5py.File(path) as mine, h5py.File(other, "w") as theirs:
        for name in ("fields/rho", "noise", "counts"):
            theirs.create_dataset(
                name,
                data=mine[name][...],
                chunks=mine[name].chunks,
                shuffle=True,
                compression="gzip",
                compression_opts=4,
            )
            assert mine[name].id.get_storage_size() < 1.05 * theirs[name].id.get_storage_size()


@pytest.mark.parametrize(
    ("codec", "filter_"), [("deflate", "gzip"), ("zstd", "32015"), ("lz4", "32004"), ("blosc", "32001")]
)
def test_a_change_keeps_what_is_compressed(tmp_path: Path, codec: str, filter_: str) -> None:
    path = make(tmp_path / "a.h5", f":compression={codec}")
    with library.open(path, "r+", plan=f":compression={codec}") as file:
        file["more"] = FIELD + 1
    with h5py.File(path) as file:
        for name in ("fields/rho", "noise", "counts", "more"):
            assert filter_ in file[name]._filters
        np.testing.assert_array_equal(file["counts"][...], COUNTS)
        np.testing.assert_array_equal(file["more"][...], FIELD + 1)


def test_a_part_of_a_dataset_is_zero_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with library.create(path, plan=":compression=deflate,chunk_bytes=8KiB") as file:
        file.partial()
        file.create_dataset("x", shape=(500, 400), dtype="f8")
        file["x"][100:103, 7:20] = np.full((3, 13), 5.0)
    expected = np.zeros((500, 400))
    expected[100:103, 7:20] = 5
    with h5py.File(path) as other:
        np.testing.assert_array_equal(other["x"][...], expected)
        assert other["x"].id.get_num_chunks() < 5


def test_zeros_take_no_room_and_replace_what_was_there(tmp_path: Path) -> None:
    path, plan = tmp_path / "a.h5", ":compression=deflate,chunk_bytes=8KiB"
    values = np.ones((400, 300))
    with library.create(path, plan=plan) as file:
        file["x"] = values
        file["zero"] = np.zeros((400, 300))
    values[100:200] = 0
    with library.open(path, "r+", plan=plan) as file:
        file.partial()
        file["x"][100:200] = values[100:200]
    with h5py.File(path) as other:
        np.testing.assert_array_equal(other["x"][...], values)
        np.testing.assert_array_equal(other["zero"][...], np.zeros((400, 300)))
        assert other["zero"].id.get_num_chunks() == 0
        assert other["x"].id.get_num_chunks() == -(-400 // other["x"].chunks[0]) - 100 // other["x"].chunks[0] + 1


@pytest.mark.parametrize("codec", ["deflate", *THEIRS, "zfp,max_error=1e-3"])
def test_damage_in_a_chunk_is_found(tmp_path: Path, penstock: Penstock, codec: str) -> None:
    path = make(tmp_path / "a.h5", f":compression={codec}")
    assert penstock("verify", str(path)).returncode == 0
    with h5py.File(path) as file:
        chunk = file["fields/rho"].id.get_chunk_info(2)
    with path.open("r+b") as raw:
        raw.seek(chunk.byte_offset + chunk.size // 2)
        raw.write(b"\xff" * 16)
    found = penstock("verify", str(path))
    assert found.returncode != 0
    assert "'fields/rho': elements (" in found.stdout


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    """What h5py wrote, in chunks of columns, of which our own shapes would touch many."""
    path = tmp_path / "columns.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=FIELD[0].repeat(8, 0), chunks=(728, 7), compression="gzip")
        file.create_dataset("tiny", data=COUNTS[:30_000], chunks=(10,), compression="gzip")
        file["plain"] = NOISE
    return path


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_conversion_compresses_and_keeps_shapes(
    tmp_path: Path, columns: Path, penstock: Penstock, ranks: int
) -> None:
    out = tmp_path / "out.h5"
    plan = "hdf5:compression=deflate,memory_bytes=1MiB"
    done = penstock("convert", str(columns), str(out), "--plan", plan, "--np", str(ranks))
    assert done.returncode == 0, done.stderr
    assert penstock("verify", str(out)).returncode == 0
    with h5py.File(columns) as source, h5py.File(out) as file:
        assert file["x"].chunks == (728, 7)
        assert file["tiny"].chunks == (30_000,)
        for name in ("x", "tiny", "plain"):
            assert file[name].compression == "gzip"
            np.testing.assert_array_equal(file[name][...], source[name][...])


def test_what_is_compressed_can_be_copied_in_part(tmp_path: Path, penstock: Penstock) -> None:
    source, out = make(tmp_path / "a.h5"), tmp_path / "out.h5"
    done = penstock("convert", str(source), str(out), "--plan", "hdf5:compression=deflate", "--only", "fields")
    assert done.returncode == 0, done.stderr
    with h5py.File(source) as before, h5py.File(out) as file:
        assert set(file) == {"_penstock", "fields"}
        assert file["fields/rho"].chunks == before["fields/rho"].chunks
        np.testing.assert_array_equal(file["fields/rho"][...], FIELD)


def test_a_change_keeps_the_chunks_of_others(columns: Path) -> None:
    with library.open(columns, "r+", plan=":compression=deflate,memory_bytes=1MiB") as file:
        file["y"] = FIELD
    with h5py.File(columns) as file:
        assert file["x"].chunks == (728, 7)
        np.testing.assert_array_equal(file["x"][...], FIELD[0].repeat(8, 0))
        assert file["y"].size // np.prod(file["y"].chunks) >= 4  # a chunk is at most a quarter of memory_bytes
        np.testing.assert_array_equal(file["y"][...], FIELD)


def chunks_of(dataset: h5py.Dataset) -> dict[tuple[int, ...], bytes]:
    infos = [dataset.id.get_chunk_info(i) for i in range(dataset.id.get_num_chunks())]
    return {info.chunk_offset: dataset.id.read_direct_chunk(info.chunk_offset)[1] for info in infos}


def test_chunks_that_stay_are_copied_as_they_are(tmp_path: Path) -> None:
    """Those of h5py are another zlib's; what was put into one, and what has a new end, is encoded anew."""
    path = tmp_path / "a.h5"
    way = {"shuffle": True, "compression": "gzip", "compression_opts": 4}
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=FIELD, chunks=(16, 91, 110), **way)
        file.create_dataset("grows", data=FIELD[:40], maxshape=(None, 91, 110), chunks=(16, 91, 110), **way)
        file.create_dataset("filled", shape=(100, 1000), dtype="f8", chunks=(10, 1000), fillvalue=7.5, **way)
        file["filled"][30:40] = 1
        before = {name: chunks_of(file[name]) for name in file}
    with library.open(path, "r+", plan=":compression=deflate") as file:
        file.partial()
        file["x"][20, 3] = FIELD[20, 3] + 1
        file["grows"] = library.block(FIELD[40:], shape=(70, 91, 110), start=(40, 0, 0))
    expected = FIELD.copy()
    expected[20, 3] += 1
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["x"][...], expected)
        np.testing.assert_array_equal(file["grows"][...], FIELD)
        np.testing.assert_array_equal(file["filled"][:30], np.full((30, 1000), 7.5))
        np.testing.assert_array_equal(file["filled"][30:40], np.ones((10, 1000)))
        same = {
            name: [at[0] for at, chunk in chunks_of(file[name]).items() if before[name].get(at) == chunk]
            for name in before
        }
    assert same == {"x": [0, 32, 48, 64], "grows": [0, 16], "filled": [30]}


def test_without_checksums_it_is_as_small(tmp_path: Path) -> None:
    with_them, without = make(tmp_path / "a.h5"), make(tmp_path / "b.h5", ":compression=deflate,checksums=none")
    with h5py.File(with_them) as one, h5py.File(without) as two:
        for name in ("fields/rho", "noise", "counts"):
            assert one[name].id.get_storage_size() == two[name].id.get_storage_size()
            np.testing.assert_array_equal(one[name][...], two[name][...])


@pytest.mark.parametrize(
    ("name", "plan", "why"),
    [
        ("a.raw", "raw:compression=deflate,placement=per_rank", "needs placement=single, not per_rank"),
        ("a.nc", "netcdf:compression=deflate", "format netcdf stores numbers as they are"),
        ("a.h5", ":compression=deflate,placement=parts", "compression=deflate needs placement=single, not parts"),
        ("a.h5", ":compression=deflate,compression_level=10", "compression_level=10: deflate has levels up to 9"),
        ("a.h5", ":compression=deflate,chunk_bytes=5GiB", "chunk_bytes=5368709120: at most 1 GiB"),
        ("a.h5", ":compression=zstd,compression_level=23", "compression_level=23: zstd has levels up to 22"),
        ("a.h5", ":compression=lz4,compression_level=13", "compression_level=13: lz4 has levels up to 12"),
        ("a.h5", ":compression=blosc,compression_level=10", "compression_level=10: blosc has levels up to 9"),
        ("a.h5", ":compression=lz77", "compression=lz77: the values are none|auto|deflate|zstd|lz4|blosc"),
    ],
)
def test_what_is_not_possible_is_said(tmp_path: Path, name: str, plan: str, why: str) -> None:
    with pytest.raises(library.Error, match=why.replace("|", r"\|")):
        library.create(tmp_path / name, plan=plan)
