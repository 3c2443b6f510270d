"""test_zfp.py: floats with a bounded error: who reads them, how far they are off, what is exact, what verify says."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin
import numpy as np
import pytest

import penstock as library
from conftest import Penstock
from penstock.base import launch

FIELD = np.fromfunction(lambda i, j, k: np.sin(i / 20) + np.cos(j / 30) * k, (70, 91, 110))
SINGLE = FIELD[:, :60].astype("f4")
NOISE = np.random.default_rng(1).standard_normal(300_000)
COUNTS = (np.arange(1_000_003) % 1000).astype("i4")
ALL = {"fields/rho": FIELD, "single": SINGLE, "noise": NOISE, "counts": COUNTS, "small": np.arange(10.0)}


def make(path: Path, parameters: str, **more: np.ndarray[Any, Any]) -> Path:
    with library.create(path, plan=f":compression=zfp{parameters}") as file:
        for name, values in {**ALL, **more}.items():
            file[name] = values
    return path


def check(path: Path, max_error: dict[str, float]) -> None:
    """H5py, with the filter of others, and our own decoder see the same, at most MAX_ERROR off."""
    with h5py.File(path) as file, library.open(path) as mine:
        for name, values in ALL.items():
            read = file[name][...]
            np.testing.assert_array_equal(mine[name][...], read)
            assert np.abs(read.astype("f8") - values).max() <= max_error.get(name, 0), name


def test_an_absolute_error(tmp_path: Path, penstock: Penstock) -> None:
    path = make(tmp_path / "a.h5", ",max_error=1e-3")
    check(path, {"fields/rho": 1e-3, "single": 1e-3, "noise": 1e-3})
    assert penstock("verify", str(path)).returncode == 0
    with h5py.File(path) as file:
        assert file["fields/rho"].attrs["penstock_max_error"] == 1e-3
        assert file["fields/rho"].id.get_storage_size() < FIELD.nbytes / 8
        assert "penstock_max_error" not in file["counts"].attrs
        assert file["counts"].compression == "gzip"  # zfp has no use for small counts
        assert file["small"].chunks is None


def test_a_relative_error(tmp_path: Path, penstock: Penstock) -> None:
    path = make(tmp_path / "a.h5", ",max_relative_error=1e-5")
    errors = {name: 1e-5 * float(np.abs(ALL[name]).max()) for name in ("fields/rho", "single", "noise")}
    check(path, errors)
    assert penstock("verify", str(path)).returncode == 0
    with h5py.File(path) as file:
        for name, error in errors.items():
            assert file[name].attrs["penstock_max_error"] == error


@pytest.mark.parametrize("more", ["", ",max_error=1e-30", ",max_relative_error=1e-18"])
def test_without_an_error_every_bit_stays(tmp_path: Path, penstock: Penstock, more: str) -> None:
    path = make(tmp_path / "a.h5", more)
    check(path, {})
    assert penstock("verify", str(path)).returncode == 0
    with h5py.File(path) as file:
        assert "penstock_max_error" not in file["fields/rho"].attrs
        assert file["fields/rho"].id.get_storage_size() < FIELD.nbytes


@pytest.mark.parametrize("chunk_bytes", ["1MiB", "30000", "512"])
@pytest.mark.parametrize(
    ("parameters", "theirs"),
    [("", {"reversible": True}), (",max_error=1e-4", {"accuracy": 1e-4}), (",max_error=3", {"accuracy": 3})],
)
def test_it_is_as_small_as_what_others_write(
    tmp_path: Path, parameters: str, theirs: dict[str, Any], chunk_bytes: str
) -> None:
    path, other = make(tmp_path / "a.h5", f"{parameters},chunk_bytes={chunk_bytes}"), tmp_path / "other.h5"
    with h5py.File(path) as file, h5py.File(other, "w") as new:
        for name in ("fields/rho", "single"):
            new.create_dataset(name, data=ALL[name], chunks=file[name].chunks, **hdf5plugin.Zfp(**theirs))
            assert file[name]._filters.keys() == {"32013"}
            assert file[name]._filters["32013"][1:] == new[name]._filters["32013"][1:]
            chunks = file[name].id.get_num_chunks()  # ours have whole words of eight bytes
            assert file[name].id.get_storage_size() <= 1.01 * new[name].id.get_storage_size() + 8 * chunks
            np.testing.assert_array_equal(file[name][...], new[name][...])


def test_what_others_write_by_zfp_is_read(tmp_path: Path) -> None:
    path = tmp_path / "other.h5"
    ways: list[dict[str, Any]] = [{"rate": 8}, {"precision": 20}, {"accuracy": 0.01}, {"reversible": True}]
    ways += [{"minbits": 1, "maxbits": 16657, "maxprec": 64, "minexp": -1074}]
    arrays = {"f8": FIELD, "f4": SINGLE, "i4": COUNTS, "i8": COUNTS.astype("i8"), "four": FIELD.reshape(10, 7, 91, 110)}
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            chunks = {1: (5003,), 3: (8, 30, 110), 4: (5, 1, 30, 40)}[values.ndim]
            for i, way in enumerate(ways):
                file.create_dataset(f"{name}/{i}", data=values, chunks=chunks, **hdf5plugin.Zfp(**way))
    with library.open(path) as mine, h5py.File(path) as file:
        for name in arrays:
            for i in range(len(ways)):
                np.testing.assert_array_equal(mine[f"{name}/{i}"][...], file[f"{name}/{i}"][...])


def test_what_is_not_finite_stays_as_it_is(tmp_path: Path, penstock: Penstock) -> None:
    odd = FIELD.copy()
    odd[3, 4, 5], odd[40, 3, 2], odd[41, 3, 2] = np.nan, np.inf, -np.inf
    path = tmp_path / "a.h5"
    with library.create(path, plan=":compression=zfp,max_relative_error=1e-4,chunk_bytes=64KiB") as file:
        file["x"] = odd
        file["nan"] = np.full((100, 100), np.nan)
    with h5py.File(path) as file:
        read, finite = file["x"][...], np.isfinite(odd)
        np.testing.assert_array_equal(read[~finite], odd[~finite])
        assert np.abs(read[finite] - odd[finite]).max() <= 1e-4 * np.abs(odd[finite]).max()
        assert np.isnan(file["nan"][...]).all()
        assert file["x"].id.get_storage_size() < FIELD.nbytes / 3
    assert penstock("verify", str(path)).returncode == 0


@pytest.mark.parametrize(
    "shape", [(1, 1, 70_001), (3, 1, 9, 7, 5, 8, 9), (2,) * 7 + (700,), (40_000, 1, 2), (5, 70_000)]
)
def test_odd_shapes(tmp_path: Path, penstock: Penstock, shape: tuple[int, ...]) -> None:
    values = np.cos(np.arange(np.prod(shape)) / 1000).reshape(shape)
    path = tmp_path / "a.h5"
    with library.create(path, plan=":compression=zfp,max_error=1e-6") as file:
        file["x"] = values
    with h5py.File(path) as file:
        assert "32013" in file["x"]._filters
        assert np.abs(file["x"][...] - values).max() <= 1e-6
    assert penstock("verify", str(path)).returncode == 0


def test_chunks_too_small_for_zfp_go_to_deflate(tmp_path: Path) -> None:
    values = np.arange(2.0**16).reshape((4,) * 8)
    path = tmp_path / "a.h5"
    with library.create(path, plan=":compression=zfp,max_error=1e-6") as file:
        file["x"] = values
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["x"][...], values)
        assert file["x"].compression == "gzip"


def test_what_stays_does_not_change_again(tmp_path: Path, penstock: Penstock) -> None:
    plan = ":compression=zfp,max_error=1e-2"
    path = make(tmp_path / "a.h5", ",max_error=1e-2")
    with h5py.File(path) as file:
        before = {name: file[name][...] for name in ALL}
        size = file["fields/rho"].id.get_storage_size()
    for i in range(3):
        with library.open(path, "r+", plan=plan) as file:
            file[f"more/{i}"] = FIELD + i
    with h5py.File(path) as file:
        for name in ALL:
            np.testing.assert_array_equal(file[name][...], before[name])
        assert file["fields/rho"].id.get_storage_size() == size
        assert np.abs(file["more/2"][...] - FIELD - 2).max() <= 1e-2
    assert penstock("verify", str(path)).returncode == 0
    for other in (":compression=zfp", ":compression=zstd", ""):
        with library.open(path, "r+", plan=other) as file:
            file["last" + other.replace("=", "")] = FIELD
        with h5py.File(path) as file:
            for name in ALL:
                np.testing.assert_array_equal(file[name][...], before[name])
        assert penstock("verify", str(path)).returncode == 0


@pytest.mark.parametrize("parameters", ["max_error=1e-2", "max_relative_error=1e-4"])
def test_a_dataset_that_grows(tmp_path: Path, penstock: Penstock, parameters: str) -> None:
    plan, path = f":compression=zfp,{parameters},chunk_bytes=100000", tmp_path / "a.h5"
    error = 1e-2 if parameters.startswith("max_error") else 1e-4 * float(np.abs(FIELD[:10]).max())
    with library.create(path, plan=plan) as file:
        file["x"] = FIELD[:10]
        file.unlimited("x")
    for end in (13, 14, 30, 70):
        with h5py.File(path) as file:
            before = file["x"][...]
        start = len(before)
        with library.open(path, "r+", plan=plan) as file:
            file["x"] = library.block(FIELD[start:end], shape=(end, 91, 110), start=(start, 0, 0))
        with h5py.File(path) as file:
            np.testing.assert_array_equal(file["x"][:start], before)
            assert np.abs(file["x"][...] - FIELD[:end]).max() <= error
            assert "32013" in file["x"]._filters
        found = penstock("verify", str(path))
        assert found.returncode == 0
        assert "without checksums" not in found.stdout


def test_a_smaller_error_than_before_keeps_every_bit(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with library.create(path, plan=":compression=zfp,max_error=0.5") as file:
        file["x"] = FIELD[:40]
        file.unlimited("x")
    with h5py.File(path) as file:
        before = file["x"][...]
    with library.open(path, "r+", plan=":compression=zfp,max_error=1e-9") as file:
        file["x"] = library.block(FIELD[40:], shape=FIELD.shape, start=(40, 0, 0))
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["x"][:40], before)
        np.testing.assert_array_equal(file["x"][40:], FIELD[40:])


def test_a_part_that_is_put_again(tmp_path: Path, penstock: Penstock) -> None:
    plan, path = ":compression=zfp,max_error=1e-3,chunk_bytes=64KiB", tmp_path / "a.h5"
    with library.create(path, plan=plan) as file:
        file["x"] = FIELD
    with h5py.File(path) as file:
        expected = file["x"][...]
    with library.open(path, "r+", plan=plan) as file:
        file.partial()
        file["x"][20, 3] = FIELD[20, 3] + 100
    expected[20, 3] = FIELD[20, 3] + 100
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["x"][...], expected)
    assert penstock("verify", str(path)).returncode == 0


def test_a_copy_adds_its_error(tmp_path: Path, penstock: Penstock) -> None:
    path, out, exact = make(tmp_path / "a.h5", ",max_error=1e-3"), tmp_path / "b.h5", tmp_path / "c.h5"
    assert penstock("convert", str(path), str(out), "--plan", "hdf5:compression=zfp,max_error=0.25").returncode == 0
    assert penstock("convert", str(path), str(exact)).returncode == 0
    for one in (out, exact):
        assert penstock("verify", str(one)).returncode == 0
    with h5py.File(path) as first, h5py.File(out) as file, h5py.File(exact) as same:
        assert file["fields/rho"].attrs["penstock_max_error"] == 0.251
        assert same["fields/rho"].attrs["penstock_max_error"] == 1e-3
        assert np.abs(file["fields/rho"][...] - FIELD).max() <= 0.251
        np.testing.assert_array_equal(same["fields/rho"][...], first["fields/rho"][...])


def test_a_chunk_that_is_cut_is_an_error(tmp_path: Path, penstock: Penstock) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        whole = file.create_dataset("x", data=FIELD, chunks=(10, 91, 110), **hdf5plugin.Zfp(accuracy=1e-3))
        whole.id.write_direct_chunk((20, 0, 0), whole.id.read_direct_chunk((20, 0, 0))[1][:5000])
    done = penstock("convert", str(path), "x.nc")
    assert done.returncode == 1
    assert "dataset 'x': a chunk cannot be decoded by zfp" in done.stderr


RANKS = """
import sys, numpy as np, penstock
from mpi4py import MPI
comm = MPI.COMM_WORLD
field = np.fromfunction(lambda i, j, k: np.sin(i / 20) + np.cos(j / 30) * k, (70, 91, 110))
with penstock.create("a.h5", comm, sys.argv[1]) as file:
    n = comm.size - 1 if comm.size > 1 else 1  # the last rank of several has nothing
    a, b = (70 * min(r, n) // n for r in (comm.rank, comm.rank + 1))
    file["x"] = penstock.block(field[a:b], shape=field.shape, start=(a, 0, 0))
    file["none"] = np.zeros((0, 5))
"""


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_ranks_agree_on_the_largest_value(tmp_path: Path, penstock: Penstock, ranks: int) -> None:
    command = [*launch.mpiexec(launch.Mpi.openmpi, ranks), sys.executable, "-m", "mpi4py", "-c", RANKS]
    plan = "hdf5/two_phase:compression=zfp,max_relative_error=1e-4,chunk_bytes=100000"
    subprocess.run([*command, plan], cwd=tmp_path, env=launch.environment(), check=True, timeout=100)
    with h5py.File(tmp_path / "a.h5") as file:
        error = file["x"].attrs["penstock_max_error"]
        assert error == 1e-4 * np.abs(FIELD).max()
        assert np.abs(file["x"][...] - FIELD).max() <= error
    assert penstock("verify", "a.h5").returncode == 0


@pytest.mark.parametrize(("parameters", "name"), [("", "ZFP reversible"), (",max_error=0.3", "ZFP error 0.25")])
def test_info_names_the_error(tmp_path: Path, penstock: Penstock, parameters: str, name: str) -> None:
    path = make(tmp_path / "a.h5", parameters)
    assert name in penstock("info", str(path)).stdout


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (":compression=zfp,max_error=-1", "max_error=-1: a number is needed that is 0 or above"),
        (":compression=zfp,max_error=small", "max_error=small: a number is needed"),
        (":compression=zfp,max_error=nan", "max_error=nan: a number is needed"),
        (":compression=zfp,max_relative_error=1", "max_relative_error=1: a number is needed .*below 1"),
        (":compression=zfp,max_relative_error=0.1,max_error=1", "exclude each other: name one"),
        (":compression=zstd,max_error=1", "max_error=1 needs compression=zfp: other codecs have no error"),
        (":max_error=1", "max_error=1 needs compression=zfp"),
        (":compression=zfp,compression_level=1", "compression_level=1: zfp has no levels"),
        (":compression=zfp,placement=parts", "compression=zfp needs placement=single"),
    ],
)
def test_what_is_not_possible_is_said(tmp_path: Path, plan: str, why: str) -> None:
    with pytest.raises(library.Error, match=why):
        library.create(tmp_path / "a.h5", plan=plan)
