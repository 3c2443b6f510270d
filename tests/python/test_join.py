"""test_join.py: `penstock convert` makes one file of sets of the conformance program; other tools read it."""

from pathlib import Path

import h5py
import numpy
import pytest

from conftest import Penstock


def contents(path: Path) -> dict[str, numpy.ndarray]:
    found: dict[str, numpy.ndarray] = {}

    def add(name: str, item: object) -> None:
        if isinstance(item, h5py.Dataset) and not name.startswith("_penstock"):
            found[name] = item[()]

    with h5py.File(path) as file:
        file.visititems(add)
    return found


@pytest.mark.parametrize(
    "source",
    [
        "hdf5-independent-placement-per_rank.h5",
        "hdf5-two_phase-placement-parts.h5",
        "hdf5-two_phase-placement-rank_order.h5",
        "raw-independent-placement-per_rank.raw.json",
        "raw-two_phase-placement-rank_order.raw.json",
        "netcdf-two_phase.nc",
        "netcdf-two_phase-placement-parts.nc.json",
    ],
)
def test_what_is_joined_is_the_file_written_whole(
    penstock: Penstock, written: Path, tmp_path: Path, source: str
) -> None:
    whole = contents(written / "hdf5-two_phase.h5")
    assert len(whole) > 10
    ran = penstock("convert", str(written / source), "joined.h5", "--np", "2")
    assert ran.returncode == 0, ran.stderr
    joined = contents(tmp_path / "joined.h5")
    assert joined.keys() == whole.keys()
    for name, values in whole.items():
        assert joined[name].dtype == values.dtype, name
        numpy.testing.assert_array_equal(joined[name], values, err_msg=name)
    assert [path.name for path in tmp_path.iterdir()] == ["joined.h5"]


def test_a_missing_part_is_named_and_nothing_is_made(penstock: Penstock, written: Path, tmp_path: Path) -> None:
    for path in written.glob("hdf5-two_phase-placement-parts.h5*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    lost = next(tmp_path.glob("*.g*"))
    lost.unlink()
    ran = penstock("convert", "hdf5-two_phase-placement-parts.h5", "joined.h5")
    assert ran.returncode == 1
    assert lost.name in ran.stderr
    assert not (tmp_path / "joined.h5").exists()


def test_errors_are_one_line(penstock: Penstock, written: Path) -> None:
    ran = penstock("convert", "absent.h5", "joined.h5")
    assert ran.returncode == 2
    assert "absent.h5" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    path = str(written / "hdf5-two_phase.h5")
    ran = penstock("convert", "--force", path, path)
    assert "onto itself" in ran.stderr
    ran = penstock("convert", path, "x.h5", "--plan", "hdf5/two_phase:placement=rank_order")
    assert "placement=rank_order" in ran.stderr


def test_join_replaces_what_is_there_by_force(penstock: Penstock, written: Path, tmp_path: Path) -> None:
    source = str(written / "hdf5-two_phase-placement-parts.h5")
    (tmp_path / "joined.h5").write_text("before")
    assert penstock("convert", source, "joined.h5").returncode == 1
    ran = penstock("join", source, "joined.h5")
    assert (ran.returncode, (tmp_path / "joined.h5").read_text()) == (1, "before")
    assert "'joined.h5' is there already: --force replaces it" in ran.stderr
    ran = penstock("join", source, "joined.h5", "--force")
    assert (ran.returncode, ran.stdout) == (0, f"joined.h5 holds all of {source}\n")
    assert contents(tmp_path / "joined.h5").keys() == contents(written / "hdf5-two_phase.h5").keys()
