"""test_picture.py: the table of a record of the bench as a drawing, and `penstock picture`, a name of before."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from conftest import Penstock, line, write_record
from penstock.base.errors import UserError
from penstock.measure.report.drawn import draw_table


def test_picture_draws_the_first_plane_beside_the_file(penstock: Penstock, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with h5py.File(tmp_path / "folder" / "heat.h5", "w") as file:
        file["cube"] = np.zeros((2, 2, 2))
        file["groups/names"] = np.array([[b"a"]])
        file["groups/temperature"] = np.linspace(0, 1, 30 * 20).reshape(30, 20)
    done = penstock("picture", "folder/heat.h5")
    said = "groups/temperature of folder/heat.h5 is drawn in folder/heat.png\n"
    assert (done.returncode, done.stdout) == (0, said), done.stderr
    assert (tmp_path / "folder" / "heat.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("words", [["picture"], ["report", "-o", "record.svg"]], ids=["picture", "report"])
def test_the_table_of_a_record_is_drawn(penstock: Penstock, tmp_path: Path, words: list[str]) -> None:
    write_record(tmp_path / "record.json", line("raw/per_process", 2.0), line("hdf5/two_phase", 1.0))
    done = penstock(*words, "record.json")
    assert (done.returncode, done.stdout) == (0, "The table of record.json is drawn in record.svg\n"), done.stderr
    drawing = (tmp_path / "record.svg").read_text()
    assert "hdf5/two_phase" in drawing
    assert "url(http" not in drawing, "nothing is fetched when it is looked at"


def test_one_record_is_drawn(penstock: Penstock, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        write_record(tmp_path / name, line("raw/per_process", 2.0))
    done = penstock("report", "a.json", "b.json", "-o", "t.svg")
    assert (done.returncode, done.stderr) == (2, "penstock: t.svg: the table of one record is drawn, not of 2\n")


def test_a_table_is_drawn_as_svg_only(tmp_path: Path) -> None:
    record = write_record(tmp_path / "record.json", line("raw/per_process", 2.0))
    with pytest.raises(UserError, match=r"a table is drawn as \.svg"):
        draw_table(record, tmp_path / "table.png")
