"""test_vtkhdf.py: `penstock convert --to vtkhdf` makes images that VTK's own reader shows as the fields are."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from conftest import Penstock

pytest.importorskip("vtkmodules", reason="the reader of VTK (PyPI vtk) is missing")

from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkIOHDF import vtkHDFReader

RANDOM = np.random.default_rng(5)


def image(path: Path) -> vtkImageData:
    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    reader.Update()
    shown: vtkImageData = reader.GetOutput()
    return shown


def field(shown: vtkImageData, name: str, shape: tuple[int, ...], cells: bool = False) -> np.ndarray:
    data = shown.GetCellData() if cells else shown.GetPointData()
    values: np.ndarray = vtk_to_numpy(data.GetArray(name))  # type: ignore[no-untyped-call]
    return values.reshape(shape)


@pytest.mark.parametrize("ranks", ["1", "3", "4"])
def test_a_volume_has_its_values_and_its_place(penstock: Penstock, tmp_path: Path, ranks: str) -> None:
    shape = (7, 5, 4)
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["rho"] = RANDOM.random(shape)
        file["fluid/u"] = RANDOM.integers(0, 99, shape).astype("i2")
        file.create_dataset("zip", data=RANDOM.random((6, 4, 3)), chunks=(2, 2, 2), compression="gzip")
        file["zip"].attrs["center"] = np.bytes_("cell")
        file["rho"].attrs["units"] = np.bytes_("kg m-3")
        file.attrs["origin"] = [1.0, 2.0, 3.0]
        file.attrs["spacing"] = [0.5, 0.25, 2.0]
        file["time"] = 0.25
    ran = penstock("convert", "in.h5", "out.vtkhdf", "--to", "vtkhdf", "--np", ranks)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[1].endswith("real numbers: time")
    shown = image(tmp_path / "out.vtkhdf")
    assert shown.GetDimensions() == shape[::-1]
    assert shown.GetOrigin() == (3.0, 2.0, 1.0)
    assert shown.GetSpacing() == (2.0, 0.25, 0.5)
    with h5py.File(tmp_path / "in.h5") as file, h5py.File(tmp_path / "out.vtkhdf") as written:
        np.testing.assert_array_equal(field(shown, "rho", shape), file["rho"][()])
        np.testing.assert_array_equal(field(shown, "fluid_u", shape), file["fluid/u"][()])
        np.testing.assert_array_equal(field(shown, "zip", (6, 4, 3), cells=True), file["zip"][()])
        assert written["VTKHDF/PointData/rho"].attrs["units"] == b"kg m-3"
    point = shown.FindPoint(3.0 + 2 * 2.0, 2.0 + 3 * 0.25, 1.0 + 6 * 0.5)  # x, y, z of element (6, 3, 2)
    assert shown.GetPointData().GetArray("rho").GetValue(point) == field(shown, "rho", shape)[6, 3, 2]


@pytest.mark.parametrize("ranks", ["1", "3"])
def test_what_is_written_in_small_windows_is_the_same(penstock: Penstock, tmp_path: Path, ranks: str) -> None:
    values = RANDOM.random((30, 20, 15))  # more than one window of 16 KiB on each rank
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["rho"] = values
    words = ("--to", "vtkhdf", "--plan", "hdf5/two_phase:memory_bytes=64KiB", "--np", ranks)
    ran = penstock("convert", "in.h5", "out.vtkhdf", *words)
    assert ran.returncode == 0, ran.stderr
    np.testing.assert_array_equal(field(image(tmp_path / "out.vtkhdf"), "rho", values.shape), values)


@pytest.mark.parametrize("shape", [(6, 9), (1, 6), (5, 1, 6), (1, 5, 6), (6, 1, 1), (1, 1)])
def test_flat_fields(penstock: Penstock, tmp_path: Path, shape: tuple[int, ...]) -> None:
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["t"] = RANDOM.random(shape)
    assert penstock("convert", "in.h5", "out.vtkhdf", "--to", "vtkhdf").returncode == 0
    shown = image(tmp_path / "out.vtkhdf")
    assert shown.GetDimensions() == (1, *shape)[-3:][::-1]
    with h5py.File(tmp_path / "in.h5") as file:
        np.testing.assert_array_equal(field(shown, "t", shape), file["t"][()])


def test_what_is_no_image_is_named(penstock: Penstock, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["a"], file["b"], file["line"] = np.zeros((4, 5)), np.zeros((5, 5)), np.zeros(9)
        file["g/h"], file["g_h"] = np.zeros((2, 2)), np.zeros((2, 2))

    def error(*words: str) -> str:
        ran = penstock("convert", "in.h5", "out.vtkhdf", "--to", "vtkhdf", *words)
        assert ran.returncode == 1
        assert not (tmp_path / "out.vtkhdf").exists()
        return ran.stderr

    assert "'a' has 1 x 4 x 5 points" in error()
    assert "no field of real numbers" in error("--only", "line")
    assert "would both become" in error("--only", "g", "--only", "g_h")
    assert "no dataset or group 'nothing'" in error("--only", "nothing")
