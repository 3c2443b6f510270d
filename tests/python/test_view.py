"""test_view.py: `penstock view`: what is drawn is what is in the file, at the place that was asked for."""

from pathlib import Path

import h5py
import matplotlib.image
import numpy as np
import pytest

import penstock as library
from conftest import ROOT, Penstock
from penstock import ramses
from penstock.files.view import plane, snapshot
from penstock.files.view.request import Request
from ramses_reader import MadeUp

SAMPLE = ROOT / "tests" / "data" / "ramses" / "sedov3d_amr_6p"
SHAPE = (6, 5, 4)
FIELD = np.random.default_rng(3).random(SHAPE)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "field.h5"
    with h5py.File(path, "w") as file:
        rho = file.create_dataset("rho", data=FIELD)
        rho.attrs["units"] = "kg m-3"
        rho.attrs["origin"] = [10.0, 0.0, -1.0]
        rho.attrs["spacing"] = [0.5, 1.0, 2.0]
        file["wave"] = np.exp(1j * np.arange(7)) * np.arange(7)
        file["flat"] = np.arange(12, dtype="i2").reshape(3, 4)
        file["four"] = np.arange(2 * 120).reshape(2, *SHAPE)
        file["wide"] = np.tile(np.arange(9000.0), (3, 1))
        file["word"] = np.array([b"abc", b"def"])
        file["one"] = 3.5
        file["none"] = np.zeros((0, 3))
        file["blank"] = np.full((3, 3), np.nan)
    return path


def read(path: Path, name: str, request: Request) -> np.ndarray:
    with library.open(path) as file:
        return plane.read(file, str(path), name, request).values


def test_slices_and_projections_are_those_of_numpy(written: Path) -> None:
    np.testing.assert_array_equal(read(written, "rho", Request()), FIELD[3])
    np.testing.assert_array_equal(read(written, "rho", Request({"z": 12.1})), FIELD[4])
    np.testing.assert_array_equal(read(written, "rho", Request({"k": 0})), FIELD[0])
    np.testing.assert_array_equal(read(written, "rho", Request({"x": 5.0})), FIELD[:, :, 3])
    np.testing.assert_array_equal(read(written, "rho", Request({"j": 1, "i": 2})), FIELD[:, 1, 2])
    np.testing.assert_array_equal(read(written, "rho", Request(axis="y")), FIELD[:, 2])
    np.testing.assert_array_equal(
        read(written, "four", Request({"l": 1, "k": 2})), 120 + np.arange(40, 60).reshape(5, 4)
    )
    np.testing.assert_allclose(read(written, "wave", Request()), np.arange(7))
    for axis, at in {"z": 0, "y": 1, "x": 2}.items():
        for how in ("max", "mean", "sum"):
            expected = getattr(FIELD, how)(axis=at)
            np.testing.assert_allclose(read(written, "rho", Request(project=how, axis=axis)), expected)


def test_a_projection_is_read_in_slabs(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plane, "SLAB_BYTES", 2 * 20 * 8)
    for how in ("max", "mean", "sum"):
        expected = getattr(FIELD, how)(axis=0)
        np.testing.assert_allclose(read(written, "rho", Request(project=how)), expected)


def test_places_and_units_are_on_the_axes(written: Path) -> None:
    with library.open(written) as file:
        picture = plane.read(file, str(written), "rho", Request({"y": 3}))
        assert picture.axes == ["z", "x"]
        assert picture.bounds == [(9.75, 12.75), (-2.0, 6.0)]
        assert picture.label == "rho (kg m-3)"
        assert picture.title == "y = 3 (j = 3 of 5)"
        wide = plane.read(file, str(written), "wide", Request(size=1000))
    np.testing.assert_array_equal(wide.values[1], np.arange(0, 9000, 4))
    assert wide.notes == ["every 4th element of 9000 along x is drawn"]


def test_the_command_draws(penstock: Penstock, written: Path, tmp_path: Path) -> None:
    ran = penstock("view", "field.h5", "flat", "--cmap", "gray", "--range", "0:11")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "flat of field.h5 is drawn in field.png\n"
    pixels = matplotlib.image.imread(tmp_path / "field.png")[..., 0]
    assert pixels.shape[1] == 1000
    # The first index upwards: the darkest corner below on the left, the lightest above on the right.
    left, right = int(0.15 * pixels.shape[1]), int(0.7 * pixels.shape[1])
    bottom, top = int(0.75 * pixels.shape[0]), int(0.25 * pixels.shape[0])
    assert pixels[bottom, left] < pixels[bottom, right] < pixels[top, right]
    assert pixels[bottom, left] < pixels[top, left] < pixels[top, right]
    for words in (["wave", "-o", "w.png"], ["rho", "--project", "max", "--log", "-o", "p.pdf"]):
        ran = penstock("view", "field.h5", *words)
        assert ran.returncode == 0, ran.stderr
        assert (tmp_path / words[-1]).stat().st_size > 1000
    ran = penstock("view", "field.h5")
    assert "name another after the file" in ran.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rhi"], "has no dataset 'rhi'; it has "),
        (["word"], "are no numbers"),
        (["one"], "is a single value, 3.5"),
        (["none"], "has no elements to draw"),
        (["blank"], "no value is a finite number"),
        (["rho", "--slice", "w=1"], "the dataset has no axis 'w'; it has z, y, x (by place) and k, j, i (by index)"),
        (["rho", "--slice", "z=99"], "--slice z=99 is outside: k goes from 0 to 5, z from 10 to 12.5"),
        (["rho", "--slice", "k=1.5"], "an index is a whole number"),
        (["rho", "--slice", "0.5"], "neither a place (z=0.5) nor an index (k=12)"),
        (["rho", "--slice", "z=nan"], "neither a place (z=0.5) nor an index (k=12)"),
        (["rho", "--project", "min"], "--project is max, mean or sum, not 'min'"),
        (["rho", "--project", "max", "--axis", "z", "--slice", "k=1"], "the axis is sliced already"),
        (["rho", "--range", "3:1"], "3.0 is not below 1.0"),
        (["rho", "--range", "abc"], "not two numbers"),
        (["rho", "--cmap", "mud"], "no colours called 'mud'"),
        (["rho", "--size", "7"], "--size must be from 100"),
        (["rho", "--level", "2"], "levels are those of imported snapshots"),
        (["rho", "-o", "no/such/folder.png"], "no/such/folder.png"),
        (["rho", "-o", "picture.txt"], "picture.txt"),
    ],
    ids=str,
)
def test_what_cannot_be_drawn_is_said(penstock: Penstock, written: Path, words: list[str], said: str) -> None:
    ran = penstock("view", written.name, *words)
    assert ran.returncode != 0
    assert said in ran.stderr
    assert ran.stderr.count("\n") == 1, ran.stderr


def test_a_snapshot_at_all_levels(penstock: Penstock, tmp_path: Path) -> None:
    assert penstock("import", "ramses", str(SAMPLE), "-o", "snap.h5").returncode == 0
    ran = penstock("view", "snap.h5", "--slice", "z=0.01", "--log")
    assert ran.returncode == 0, ran.stderr
    assert "density of snap.h5" in ran.stdout
    assert "levels 4 to 6" in ran.stdout
    path = tmp_path / "snap.h5"
    cells = ramses.leaf_cells(path, ["density"])
    with library.open(path) as file:

        def values(request: Request) -> np.ndarray:
            return snapshot.read(file, str(path), "density", request).values

        cut = values(Request({"z": 0.01}))
        low = values(Request({"z": 0.01}, size=16))
        mean = values(Request(project="mean", axis="x"))
        total = values(Request(project="sum", axis="y"))
        most = values(Request(project="max"))
        coarse = values(Request({"x": 0.25}, level=4))
    assert cut.shape == (64, 64)
    for row, column in [(0, 0), (1, 2), (3, 0), (40, 33), (63, 63), (63, 0)]:
        y, x = (row + 0.5) * 0.5 / 64, (column + 0.5) * 0.5 / 64
        at = np.ones(len(cells["x"]), bool)
        for axis, place in {"x": x, "y": y, "z": 0.01}.items():
            at &= np.abs(cells[axis] - place) < cells["size"] / 2
        assert cut[row, column] == cells["density"][at].item()
    np.testing.assert_allclose(low, cut.reshape(16, 4, 16, 4).mean(axis=(1, 3)))
    mass = (cells["density"] * cells["size"] ** 3).sum()
    assert total.sum() * (0.5 / 64) ** 2 == pytest.approx(mass, rel=1e-12)
    assert mean.mean() * 0.5**3 == pytest.approx(mass, rel=1e-12)
    assert most.max() == cells["density"].max()
    assert coarse.shape == (16, 16)
    ran = penstock("view", "snap.h5", "--slice", "z=0.7")
    assert "is outside the box, which goes from 0 to 0.5" in ran.stderr
    # A dataset of one level has its grids in no order that makes a picture: the variable is drawn at that level.
    for words in (["density", "--level", "5"], ["level_05/density"], ["/level_05/density", "--level", "5"]):
        ran = penstock("view", "snap.h5", *words, "--slice", "z=0.01", "-o", f"{len(words[0])}.png")
        assert ran.stdout == f"density of snap.h5 is drawn in {len(words[0])}.png: z = 0.01, levels 4 to 5\n"
    one, other = (matplotlib.image.imread(tmp_path / f"{len(name)}.png") for name in ("density", "level_05/density"))
    np.testing.assert_array_equal(one, other)
    ran = penstock("view", "snap.h5", "level_05/density", "--level", "4")
    assert "'level_05/density' is of level 5: leave out --level 4, or draw 'density'" in ran.stderr
    for name in ("position", "refined"):
        ran = penstock("view", "snap.h5", f"level_05/{name}")
        assert ran.returncode != 0
        assert f"'level_05/{name}' has a row for each grid, in no order that makes a picture" in ran.stderr
        assert "draw density" in ran.stderr
    assert "no dataset 'level_09/density'" in penstock("view", "snap.h5", "level_09/density").stderr
    ran = penstock("picture", "snap.h5")
    assert "density of snap.h5" in ran.stdout


@pytest.mark.parametrize("ndim", [1, 2])
def test_snapshots_of_fewer_dimensions(penstock: Penstock, tmp_path: Path, ndim: int) -> None:
    output = MadeUp(tmp_path / "o", ndim=ndim)
    output.write()
    assert penstock("import", "ramses", str(output.folder), "-o", "snap.h5").returncode == 0
    ran = penstock("view", "snap.h5", "velocity_x", "-o", "v.png")
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "v.png").stat().st_size > 1000
    ran = penstock("view", "snap.h5", "--slice", "z=1")
    assert ran.returncode != 0
    assert ran.stderr.count("\n") == 1
