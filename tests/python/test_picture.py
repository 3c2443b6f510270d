"""test_picture.py: `penstock picture` draws what h5py wrote, and refuses what it cannot draw."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

from conftest import line, write_record
from penstock.cli import app
from penstock.errors import UserError
from penstock.report.drawn import draw_table
from penstock.report.picture import draw


@pytest.fixture
def heat(tmp_path: Path) -> Path:
    path = tmp_path / "heat.h5"
    with h5py.File(path, "w") as file:
        file.attrs["step"] = 400
        file.attrs["title"] = np.bytes_("a plate")
        file["cube"] = np.zeros((2, 2, 2))
        file["groups/names"] = np.array([[b"a"]])
        file["groups/temperature"] = np.linspace(0, 1, 30 * 20).reshape(30, 20)
        file["groups/temperature"].attrs["units"] = "K"
    return path


def test_the_first_plane_is_drawn(heat: Path, tmp_path: Path) -> None:
    output = tmp_path / "heat.png"
    assert draw(heat, None, output) == "groups/temperature"
    assert output.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [("cube", "not a 2-D array"), ("groups/names", "not a 2-D array"), ("groups", "no dataset"), ("x", "no dataset")],
)
def test_what_cannot_be_drawn_is_refused(heat: Path, tmp_path: Path, name: str, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        draw(heat, name, tmp_path / "out.png")


def test_files_that_are_no_hdf5_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text.h5").write_text("hello")
    for name in ("text.h5", "nowhere.h5"):
        with pytest.raises(UserError):
            draw(tmp_path / name, None, tmp_path / "out.png")


def test_a_picture_that_cannot_be_written_is_refused(heat: Path, tmp_path: Path) -> None:
    for name in ("nowhere/out.png", "out.nonsense"):
        with pytest.raises(UserError):
            draw(heat, None, tmp_path / name)


def test_the_table_of_a_record_is_drawn(tmp_path: Path) -> None:
    record = write_record(tmp_path / "record.json", line("raw/per_process", 2.0), line("hdf5/two_phase", 1.0))
    done = CliRunner().invoke(app, ["picture", str(record)])
    assert done.exit_code == 0, done.output
    drawing = (tmp_path / "record.svg").read_text()
    assert "hdf5/two_phase" in drawing
    assert "url(http" not in drawing, "nothing is fetched when it is looked at"


def test_a_table_is_drawn_as_svg_only(tmp_path: Path) -> None:
    record = write_record(tmp_path / "record.json", line("raw/per_process", 2.0))
    with pytest.raises(UserError, match=r"a table is drawn as \.svg"):
        draw_table(record, tmp_path / "table.png")
