"""test_esio.py: what ESIO's users do, and files as ESIO makes them, in each of its layouts, on any number of ranks."""

from pathlib import Path

import h5py
import numpy
import pytest

import penstock as package
from conftest import ROOT, Penstock
from test_ranks import on_ranks

SHAPE = (6, 4, 5)


def add(file: h5py.File, name: str, values: numpy.ndarray, components: int = 1, chunks: tuple[int, ...] = ()) -> None:
    """A dataset as ESIO makes it: vectors are of an array type, and it has a comment."""
    shape = values.shape[:-1] if components > 1 else values.shape
    kind = numpy.dtype((values.dtype, (components,))) if components > 1 else values.dtype
    dataset = file.create_dataset(name, shape, kind, chunks=chunks or None)
    dataset.id.write(h5py.h5s.ALL, h5py.h5s.ALL, values, mtype=h5py.h5t.py_create(kind))
    h5py.h5o.set_comment(file.id, f"of {name}".encode(), obj_name=name.encode())


def add_field(file: h5py.File, name: str, layout: int, components: int, chunked: bool) -> numpy.ndarray:
    """A field in one of ESIO's layouts, and what it means: (C, B, A), or (C, B, A, components)."""
    shape = SHAPE + ((components,) if components > 1 else ())
    values = numpy.arange(numpy.prod(shape), dtype="f8").reshape(shape)
    stored = values.reshape((SHAPE[0] * SHAPE[1], *shape[2:])) if layout == 2 else values
    chunks: tuple[int, ...] = () if not chunked else ((6, 2) if layout == 2 else (2, 3, 2))
    add(file, name, stored, components, chunks)
    if layout > 0:
        file[name].attrs.create("esio_field_metadata", [0, 2, 0, layout, *SHAPE, components], dtype="i4")
    return values


@pytest.mark.parametrize("ranks", [1, 3])
def test_each_function_of_esio_in_python(tmp_path: Path, ranks: int) -> None:
    on_ranks(ranks, ROOT / "tests/python/ranks_esio.py", tmp_path)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("plan", ["hdf5/two_phase", "hdf5/independent"])
def test_a_copy_has_what_esio_meant(penstock: Penstock, tmp_path: Path, ranks: int, plan: str) -> None:
    meant: dict[str, numpy.ndarray] = {}
    with h5py.File(tmp_path / "esio.h5", "w") as file:
        file.attrs["program"] = "a solver"
        for layout in (0, 1, 2):
            for components in (1, 2, 3):
                for chunked in (False, True):
                    name = f"layout{layout}_{components}_{'chunked' if chunked else 'plain'}"
                    meant[name] = add_field(file, name, layout, components, chunked)
        meant["line"] = numpy.arange(10, dtype="i4").reshape(5, 2)
        meant["plane"] = numpy.arange(24, dtype="f4").reshape(3, 2, 4)
        add(file, "line", meant["line"], 2)
        add(file, "plane", meant["plane"], 4)
    before = (tmp_path / "esio.h5").read_bytes()
    with package.open(tmp_path / "esio.h5") as opened:
        for name, values in meant.items():
            numpy.testing.assert_array_equal(opened[name][...], values, err_msg=name)
            assert opened[name].attrs["comment"] == f"of {name}"
    ran = penstock("join", "esio.h5", "copy.h5", "--np", str(ranks), "--plan", plan)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "esio.h5").read_bytes() == before
    with h5py.File(tmp_path / "copy.h5") as file:
        assert set(file) - {"_penstock"} == set(meant)
        assert file.attrs["program"] == b"a solver"
        for name, values in meant.items():
            assert file[name].dtype == values.dtype, name
            numpy.testing.assert_array_equal(file[name][()], values, err_msg=name)
            assert file[name].attrs["comment"] == f"of {name}".encode()
            assert ("esio_field_metadata" in file[name].attrs) == name.startswith("layout1")
