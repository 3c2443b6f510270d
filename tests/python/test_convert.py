"""test_convert.py: `penstock convert`: any file into any other, read by other libraries."""

import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
import xarray

from conftest import Penstock
from penstock.base import launch

Contents = dict[str, tuple[np.ndarray, dict[str, Any]]]
RANDOM = np.random.default_rng(5)


def make(path: Path) -> Path:
    """What other people's HDF5 files have: chunks, filters, groups, texts, growing, empty and complex datasets."""
    with h5py.File(path, "w") as file:
        file.attrs["title"] = np.bytes_("made by h5py")
        rho = file.create_dataset(
            "fluid/rho", data=RANDOM.random((37, 21, 11)), chunks=(8, 8, 8), compression="gzip", shuffle=True
        )
        rho.attrs["units"] = np.bytes_("kg m-3")
        file["fluid"].attrs["gamma"] = 1.4
        file["fluid/u"] = RANDOM.random((37, 21, 11)).astype("f4")
        file["big_endian"] = np.arange(30, dtype=">i4").reshape(5, 6)
        file["thin"] = RANDOM.random((1, 1, 77))
        file["scalar"] = 3.5
        file["empty"] = np.zeros((0, 3))
        file["complex"] = RANDOM.random(5) + 1j * RANDOM.random(5)
        file["names"] = np.array([b"ab", b"cde"])
        file.create_dataset("grows", data=np.arange(12).reshape(4, 3), maxshape=(None, 3))
    return path


def contents(path: Path) -> Contents:
    found: Contents = {}
    with h5py.File(path) as file:
        found["/"] = (np.zeros(0), dict(file.attrs))

        def add(name: str, item: h5py.Group | h5py.Dataset) -> None:
            if not name.startswith("_penstock"):
                found[name] = (item[()] if isinstance(item, h5py.Dataset) else np.zeros(0), dict(item.attrs))

        file.visititems(add)
    return found


def check_same(left: Path, right: Path) -> None:
    wanted, found = contents(left), contents(right)
    assert found.keys() == wanted.keys()
    for name, (values, attributes) in wanted.items():
        assert found[name][0].dtype.newbyteorder("=") == values.dtype.newbyteorder("="), name
        np.testing.assert_array_equal(found[name][0], values, err_msg=name)
        assert found[name][1].keys() == attributes.keys()
        for key, value in attributes.items():
            np.testing.assert_array_equal(found[name][1][key], value, err_msg=f"{name}@{key}")


def run(penstock: Penstock, *words: str) -> str:
    ran = penstock(*words)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def refused(penstock: Penstock, *words: str, status: int = 1) -> str:
    ran = penstock(*words)
    assert ran.returncode == status, ran.stdout
    assert len(ran.stderr.splitlines()) == 1, ran.stderr
    return ran.stderr


@pytest.mark.parametrize("ranks", ["1", "3", "4"])
def test_chunks_of_others_become_plain_and_chunks_again(penstock: Penstock, tmp_path: Path, ranks: str) -> None:
    make(tmp_path / "in.h5")
    run(penstock, "convert", "in.h5", "plain.h5", "--np", ranks)
    check_same(tmp_path / "in.h5", tmp_path / "plain.h5")
    run(penstock, "convert", "plain.h5", "zip.h5", "--np", ranks, "--chunks", "16x10x4", "--compress", "gzip:2")
    check_same(tmp_path / "in.h5", tmp_path / "zip.h5")
    with h5py.File(tmp_path / "plain.h5") as plain, h5py.File(tmp_path / "zip.h5") as zipped:
        assert plain["fluid/rho"].chunks is None
        assert zipped["fluid/rho"].chunks == (16, 10, 4)
        assert (zipped["fluid/rho"].compression, zipped["fluid/rho"].compression_opts) == ("gzip", 2)
        assert zipped["grows"].maxshape == plain["grows"].maxshape == (None, 3)
    run(penstock, "verify", "plain.h5", "zip.h5")


@pytest.mark.parametrize(
    "way", ["convert --parts 3", "convert --per-rank 1", "split --per-rank 4", "convert --plan subfiles"]
)
@pytest.mark.parametrize("name", ["set.h5", "set.raw"])
def test_sets_are_made_and_joined(penstock: Penstock, tmp_path: Path, way: str, name: str) -> None:
    verb, *words = way.split()
    run(penstock, verb, str(make(tmp_path / "in.h5")), name, *words)
    index = name + (".json" if name.endswith(".raw") else "")
    run(penstock, "join", index, "joined.h5", "--np", "3")
    check_same(tmp_path / "in.h5", tmp_path / "joined.h5")
    parts = [path for path in tmp_path.iterdir() if ".g" in path.name]
    assert len(parts) == {"3": 3, "1": 1, "4": 4, "subfiles": len(parts)}[words[-1]]
    assert f"'{name}' is there already" in refused(penstock, verb, "in.h5", name, *words)
    run(penstock, "convert", index, "again.h5", "--np", "1")
    check_same(tmp_path / "in.h5", tmp_path / "again.h5")


def test_netcdf_and_back(penstock: Penstock, tmp_path: Path) -> None:
    run(penstock, "convert", str(make(tmp_path / "in.h5")), "out.nc", "--np", "3")
    with netCDF4.Dataset(tmp_path / "out.nc") as file, h5py.File(tmp_path / "in.h5") as wanted:
        np.testing.assert_array_equal(file["fluid__rho"][...], wanted["fluid/rho"][()])
        np.testing.assert_array_equal(file["big_endian"][...], wanted["big_endian"][()])
        assert file["fluid__rho"].units == "kg m-3"
        assert file.title == "made by h5py"
    with xarray.open_dataset(tmp_path / "out.nc", engine="netcdf4") as dataset:
        assert dataset["grows"].shape == (4, 3)
    run(penstock, "convert", "out.nc", "back.h5")
    check_same(tmp_path / "in.h5", tmp_path / "back.h5")


def test_what_is_named_is_converted(penstock: Penstock, tmp_path: Path) -> None:
    make(tmp_path / "in.h5")
    run(penstock, "convert", "in.h5", "some.h5", "--only", "fluid", "--only", "/scalar")
    found, whole = contents(tmp_path / "some.h5"), contents(tmp_path / "in.h5")
    assert found.keys() == {"/", "fluid", "fluid/rho", "fluid/u", "scalar"}
    assert found["fluid"][1] == whole["fluid"][1]
    np.testing.assert_array_equal(found["fluid/rho"][0], whole["fluid/rho"][0])
    message = refused(penstock, "convert", "in.h5", "none.h5", "--only", "fluid/r")
    assert "no dataset or group 'fluid/r'" in message
    assert "fluid/rho" in message
    assert not (tmp_path / "none.h5").exists()


def test_what_is_in_the_way_stays(penstock: Penstock, tmp_path: Path) -> None:
    make(tmp_path / "in.h5")
    (tmp_path / "old.h5").write_bytes(b"precious")
    assert "'old.h5' is there already: --force replaces it" in refused(penstock, "convert", "in.h5", "old.h5")
    assert (tmp_path / "old.h5").read_bytes() == b"precious"
    run(penstock, "convert", "in.h5", "old.h5", "--force")
    check_same(tmp_path / "in.h5", tmp_path / "old.h5")
    assert "onto itself" in refused(penstock, "convert", "in.h5", "in.h5", "--force")


def test_what_a_file_cannot_give_or_take_is_named(penstock: Penstock, tmp_path: Path) -> None:
    make(tmp_path / "in.h5")
    (tmp_path / "cut.h5").write_bytes((tmp_path / "in.h5").read_bytes()[:3000])
    assert "truncated" in refused(penstock, "convert", "cut.h5", "out.h5")
    assert "'absent.h5'" in refused(penstock, "convert", "absent.h5", "out.h5", status=2)
    (tmp_path / "text.h5").write_text("no HDF5 at all")
    assert "no file that penstock can read" in refused(penstock, "convert", "text.h5", "out.h5")
    with h5py.File(tmp_path / "lists.h5", "w") as file:
        file.create_dataset("lists", (3,), dtype=h5py.vlen_dtype("i4"))
        file["numbers"] = np.arange(3)
    message = refused(penstock, "convert", "lists.h5", "out.h5")
    assert "'lists' is a dataset of lists of variable length" in message
    assert "--only" in message
    with h5py.File(tmp_path / "wide.h5", "w") as file:
        for name, length in (("v", 4), ("w", 3)):
            file[name] = np.arange(length)
            file[name].attrs["dimensions"] = "x"
    assert "dimension 'x' has length 4 in 'v' but 3 in 'w'" in refused(penstock, "convert", "wide.h5", "out.nc")
    assert "are for HDF5 files" in refused(penstock, "convert", "in.h5", "out.nc", "--chunks", "4x4", status=2)
    assert "--compress lzf" in refused(penstock, "convert", "in.h5", "out.h5", "--compress", "lzf", status=2)
    assert "--chunks 4x" in refused(penstock, "convert", "in.h5", "out.h5", "--chunks", "4x", status=2)
    assert "either --parts M or --per-rank N" in refused(penstock, "split", "in.h5", "out.h5", status=2)
    assert "at least 1, not 0" in refused(penstock, "split", "in.h5", "out.h5", "--parts", "0", status=2)
    both = ("convert", "in.h5", "out.h5", "--parts", "2")
    assert "either --parts M or --per-rank N" in refused(penstock, *both, "--per-rank", "2", status=2)
    assert "--parts and --per-rank make a plan" in refused(penstock, *both, "--chunks", "4x4", status=2)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith((".", "out"))]
    run(penstock, "convert", "lists.h5", "numbers.nc4", "--only", "numbers", "--compress", "gzip:4")
    with netCDF4.Dataset(tmp_path / "numbers.nc4") as file:
        assert file["numbers"].filters()["zlib"]
        assert file["numbers"][:].tolist() == [0, 1, 2]


def test_a_damaged_chunk_leaves_what_was_there(penstock: Penstock, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "in.h5", "w") as file:
        data = file.create_dataset(
            "a", data=RANDOM.random((64, 64)), chunks=(16, 16), compression="gzip", fletcher32=True
        )
        info = data.id.get_chunk_info(9)
    bytes_ = bytearray((tmp_path / "in.h5").read_bytes())
    bytes_[info.byte_offset + info.size // 2] ^= 0x40
    (tmp_path / "in.h5").write_bytes(bytes_)
    (tmp_path / "out.h5").write_bytes(b"old")
    assert "'a'" in refused(penstock, "convert", "in.h5", "out.h5", "--force", "--np", "3")
    assert (tmp_path / "out.h5").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.h5", "out.h5"]


# The most memory that a process had, in MiB, of the program and arguments behind it.
MOST_MEMORY = """
import resource, subprocess, sys
ended = subprocess.run(sys.argv[1:])
sys.stdout.write(f" {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10} ")
sys.exit(ended.returncode)
"""


@pytest.mark.parametrize("plan", ["", "phdf5:collective=true,chunked=true,chunk=1MiB,filter=deflate,level=1"])
def test_memory_does_not_grow_with_the_file(build: Path, tmp_path: Path, plan: str) -> None:
    with h5py.File(tmp_path / "in.h5", "w") as file:
        data = file.create_dataset(
            "a", (256, 512, 512), "f4", chunks=(32, 64, 64), compression="gzip", compression_opts=1
        )
        data[128:160] = np.arange(32, dtype="f4")[:, None, None]
    words = [str(build / "bin" / "penstock-convert"), "in.h5", "out.h5", *(["--plan", plan] if plan else [])]
    command = [*launch.mpiexec(launch.Mpi.openmpi, 2), sys.executable, "-c", MOST_MEMORY, *words]
    ran = subprocess.run(
        command, cwd=tmp_path, env=launch.environment() | dict(os.environ), capture_output=True, text=True, check=True
    )
    most = [int(word) for word in ran.stdout.split()]
    assert len(most) == 2
    assert max(most) < 160  # of 256 MiB; programs of MPI and HDF5 begin with about 30
    with h5py.File(tmp_path / "out.h5") as file:
        np.testing.assert_array_equal(file["a"][100:200:9, 3, 5], [*[0] * 4, *range(8, 32, 9), *[0] * 5][:12])


def test_more_than_two_gibibytes(penstock: Penstock, tmp_path: Path) -> None:
    shape = (3, (1 << 30) - 7)
    with h5py.File(tmp_path / "in.h5", "w") as file:
        data = file.create_dataset("a", shape, "u1", chunks=(1, 1 << 22), compression="gzip", compression_opts=1)
        data[0, :4], data[2, -4:] = 5, [1, 2, 3, 4]
    run(penstock, "convert", "in.h5", "out.h5", "--compress", "gzip:1", "--chunks", "1x4194304", "--np", "2")
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["a"].shape == shape
        assert file["a"][0, :6].tolist() == [5, 5, 5, 5, 0, 0]
        assert file["a"][2, -6:].tolist() == [0, 0, 1, 2, 3, 4]
        assert not file["a"][1, :: 1 << 20].any()


def test_a_netcdf4_file_of_others_keeps_its_dimensions(penstock: Penstock, tmp_path: Path) -> None:
    """Growing, coordinates of one and two dimensions, packed, characters, without dimensions."""
    made = xarray.Dataset(
        {
            "t": (("time", "y", "x"), RANDOM.random((3, 4, 5)).astype("f4"), {"units": "K"}),
            "n": (("x",), np.arange(5)),
            "scalar": ((), 2.5),
            "name": (("y",), np.array([b"ab", b"c", b"def", b"gh"])),
        },
        coords={"time": np.arange(3.0), "x": np.linspace(0, 1, 5), "lat": (("y", "x"), RANDOM.random((4, 5)))},
        attrs={"title": "of others"},
    )
    made.to_netcdf(tmp_path / "a.nc", engine="netcdf4", unlimited_dims=["time"], encoding={"t": {"zlib": True}})
    made.drop_vars("name").to_netcdf(tmp_path / "b.nc", engine="h5netcdf")
    for name, expected in [("a", made), ("b", made.drop_vars("name"))]:
        for words in [(f"{name}.nc", f"{name}.cdf5.nc"), (f"{name}.nc", f"{name}.h5"), (f"{name}.h5", f"{name}.2.nc")]:
            ran = penstock("convert", *words, "--np", "3")
            assert ran.returncode == 0, ran.stderr
        for copy in ("cdf5.nc", "2.nc"):
            with xarray.open_dataset(tmp_path / f"{name}.{copy}") as found:
                xarray.testing.assert_equal(found.drop_vars("_penstock__checksums"), expected)
                assert found["t"].attrs["units"] == "K"
        with xarray.open_dataset(tmp_path / f"{name}.h5", engine="penstock") as found:
            xarray.testing.assert_equal(found, expected)


def test_attributes_of_several_dimensions_stay_so(penstock: Penstock, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "of others.h5", "w") as file:
        file["q"] = np.arange(3.0)
        file.attrs["cell"] = np.arange(6).reshape(2, 3)
        file["q"].attrs["basis"] = np.zeros((1, 2, 2), "c16") + 1j
        file["q"].attrs["words"] = np.array([["m", "s"], ["kg", ""]], "S2")
        file["q"].attrs["none"] = np.zeros((0, 3), "f4")
        expected = dict(file.attrs), dict(file["q"].attrs)
    names = ["of others.h5", "a.nc", "b.json", "c.h5"]
    for words in itertools.pairwise(names):
        ran = penstock("convert", *words, "--np", "3")
        assert ran.returncode == 0, ran.stderr
    with h5py.File(tmp_path / "c.h5") as file:
        for attributes, there in zip((file.attrs, file["q"].attrs), expected, strict=True):
            for name, value in there.items():
                np.testing.assert_array_equal(attributes[name], value)
                assert attributes[name].shape == value.shape


def test_strings_of_variable_length_become_texts(penstock: Penstock, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "strings.h5", "w") as file:
        file["names"] = np.array(["α", "beta", ""], dtype=h5py.string_dtype())
        file["names"].attrs["of"] = "somebody"
        file.create_dataset("packed", data=np.array([[b"ab", b"c"]] * 50, dtype=h5py.string_dtype()), compression=4)
        file["one"] = "alone"
    for name in ("out.h5", "out.nc"):
        run(penstock, "convert", "strings.h5", name, "--np", "2")
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["names"][()].tolist() == ["α".encode(), b"beta", b""]
        assert file["packed"][()].tolist() == [[b"ab", b"c"]] * 50
        assert file["one"][()] == b"alone"
        assert file["names"].attrs["of"] == b"somebody"
    with netCDF4.Dataset(tmp_path / "out.nc") as file:
        assert file["packed"][0].tolist() == ["ab", "c"]


def test_what_h5py_calls_scales_are_names_of_dimensions(penstock: Penstock, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["t"] = np.arange(6.0).reshape(2, 3)
        file["x"] = [1.0, 2.0, 4.0]
        file["y"] = [0, 1]
        for d, name in enumerate(("y", "x")):
            file[name].make_scale(name)
            file["t"].dims[d].attach_scale(file[name])
        file["several"] = np.arange(3)
        file["several"].dims[0].attach_scale(file["x"])
    run(penstock, "convert", "a.h5", "b.nc")
    run(penstock, "convert", "a.h5", "c.h5")
    for name, engine in (("b.nc", "netcdf4"), ("c.h5", "h5netcdf"), ("c.h5", "netcdf4")):
        with xarray.open_dataset(tmp_path / name, engine=engine) as found:
            assert found["t"].dims == ("y", "x")
            assert found["x"].to_numpy().tolist() == [1.0, 2.0, 4.0]
    with h5py.File(tmp_path / "a.h5", "a") as file:
        file["other"] = [7, 8, 9]
        file["other"].make_scale("other")
        file["several"].dims[0].attach_scale(file["other"])
    assert "'several' is a dataset of which a dimension has several scales" in refused(
        penstock, "convert", "a.h5", "d.h5"
    )


def test_dimensions_of_netcdf4_groups(penstock: Penstock, tmp_path: Path) -> None:
    with netCDF4.Dataset(tmp_path / "g.nc", "w") as file:
        file.createDimension("x", 5)
        group = file.createGroup("g")
        group.createDimension("x", 3)
        file.createVariable("u", "f8", ("x",))[:] = np.arange(5)
        group.createVariable("v", "f8", ("x",))[:] = np.arange(3)
        file.createVariable("w", "f8", ("x", "x"))[:] = 1
    assert penstock("convert", "g.nc", "plain.nc").returncode == 0
    with netCDF4.Dataset(tmp_path / "plain.nc") as file:
        dimensions = {name: variable.dimensions for name, variable in file.variables.items()}
        assert dimensions["u"] == ("x",)
        assert dimensions["w"] == ("x", "x")
        assert dimensions["g__v"] == ("g__x",)
        np.testing.assert_array_equal(file["g__v"][:], np.arange(3))


@pytest.mark.parametrize(
    ("dimension", "kind", "said"),
    [
        ("nv", "f8", "'nv' is a dimension that no variable has"),
        ("", "lists", "'lists' is neither a group nor a dataset"),
    ],
)
def test_what_a_copy_of_netcdf4_would_lose(
    penstock: Penstock, tmp_path: Path, dimension: str, kind: Any, said: str
) -> None:
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("x", 2)
        if dimension:
            file.createDimension(dimension, 4)
        file.createVariable("u", file.createVLType("i4", "lists") if kind == "lists" else kind, ("x",))
    ran = penstock("convert", "a.nc", "b.nc")
    assert ran.returncode == 1
    assert said in ran.stderr
    assert not (tmp_path / "b.nc").exists()
