"""test_import_ramses.py: an output of RAMSES, file for each process, becomes one file with every value as it was."""

import struct
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import penstock as library
from conftest import ROOT, Penstock
from penstock import ramses
from ramses_reader import MadeUp, Records, read

SAMPLE = ROOT / "tests" / "data" / "ramses" / "sedov3d_amr_6p"
SEDOV = ["density", "velocity_x", "velocity_y", "velocity_z", "pressure"]


def run(penstock: Penstock, folder: Path, *words: str) -> None:
    ran = penstock("import", "ramses", str(folder), "-o", "snap.h5", *words)
    assert ran.returncode == 0, ran.stderr


def same(file: Path, levels: list[Any], variables: list[str]) -> None:
    with h5py.File(file) as snapshot:
        for number, level in enumerate(levels, 1):
            if not level.tables:
                assert f"level_{number:02}" not in snapshot
                continue
            group = snapshot[f"level_{number:02}"]
            assert set(group) == {"position", "refined", "cpu_map", "domain", *variables}
            for name in group:
                expected = level.table(name)
                assert group[name].dtype == expected.dtype, name
                np.testing.assert_array_equal(group[name][()], expected, err_msg=f"level {number}, {name}")


@pytest.mark.parametrize("np_", [1, 3, 7])
def test_a_real_output_is_the_same_on_any_number_of_ranks(penstock: Penstock, tmp_path: Path, np_: int) -> None:
    run(penstock, SAMPLE, "--np", str(np_))
    levels = read(SAMPLE, 2, SEDOV)
    assert [len(level.table("domain")) for level in levels] == [1, 8, 64, 512, 920, 687]
    same(tmp_path / "snap.h5", levels, SEDOV)
    with h5py.File(tmp_path / "snap.h5") as snapshot:
        assert snapshot.attrs["boxlen"] == 0.5
        assert snapshot.attrs["levelmax"] == 6
        assert snapshot.attrs["ordering type"] == b"hilbert"
        assert snapshot["domains"].shape == (6, 2)
        assert snapshot["level_04/density"].attrs["units_cgs"] == b"g cm-3"
        assert b"&RUN_PARAMS" in snapshot["provenance"].attrs["namelist.txt"]
    assert penstock("verify", "snap.h5").returncode == 0


def test_what_is_written_in_small_windows_is_the_same(penstock: Penstock, tmp_path: Path) -> None:
    """Windows of 2048 numbers begin and end within rows of three."""
    run(penstock, SAMPLE, "--np", "1", "--plan", "hdf5/two_phase:memory_bytes=64KiB")
    same(tmp_path / "snap.h5", read(SAMPLE, 2, SEDOV), SEDOV)


def test_the_leaves_fill_the_box(penstock: Penstock, tmp_path: Path) -> None:
    run(penstock, SAMPLE)
    cells = ramses.leaf_cells(tmp_path / "snap.h5")
    assert set(cells) == {"x", "y", "z", "size", "level", "domain", "process", *SEDOV}
    assert len({len(values) for values in cells.values()}) == 1
    volume = cells["size"] ** 3
    assert volume.sum() == pytest.approx(0.5**3, rel=1e-12)
    for axis in "xyz":
        assert (cells[axis] - cells["size"] / 2).min() == 0
        assert (cells[axis] + cells["size"] / 2).max() == 0.5
    # The blast is a sphere around the corner: as much momentum along each axis.
    momentum = [(cells[f"velocity_{axis}"] * cells["density"] * volume).sum() for axis in "xyz"]
    assert momentum == pytest.approx([momentum[0]] * 3, rel=1e-6)
    # As coarse cells, which RAMSES keeps as means of the finer ones, there is as much mass.
    coarse = ramses.leaf_cells(tmp_path / "snap.h5", ["density"], level=4)
    assert coarse["level"].max() == 4
    assert (coarse["size"] ** 3 * coarse["density"]).sum() == pytest.approx(
        (volume * cells["density"]).sum(), rel=1e-12
    )
    part = ramses.leaf_cells(tmp_path / "snap.h5", ["density"], box=[(0, 0.25), (0.1, 0.5), (0, 0.5)])
    inside = (cells["x"] < 0.25) & (cells["y"] >= 0.1)
    np.testing.assert_array_equal(part["density"], cells["density"][inside])
    with pytest.raises(library.NotFound, match="no variable 'rho'; it has density"):
        ramses.leaf_cells(tmp_path / "snap.h5", ["rho"])
    with pytest.raises(library.NotFound, match="no level up to 0; it has levels"):
        ramses.leaf_cells(tmp_path / "snap.h5", level=0)
    with pytest.raises(library.Invalid, match="the box has 1 axes"):
        ramses.leaf_cells(tmp_path / "snap.h5", box=[(0, 0.25)])


@pytest.mark.parametrize(
    "made",
    [
        {"ndim": 1},
        {"ndim": 2, "processes": 5, "variables": 7},
        {"ndim": 3, "processes": 2, "descriptor": True, "gravity": True},
        {"order": ">"},
        {"real": "f4"},
        {"boundaries": 2, "ordering": "bisection"},
        {"grids": (1, 2, 5, 0, 0), "processes": 1},
        {"particles": 4},
        {"particles": 0},
        {"ndim": 1, "grids": (1,) * 20, "processes": 7, "order": ">"},  # many levels
        {"ndim": 3, "grids": (0, 0, 9), "processes": 2, "variables": 12},  # one level, levelmin = levelmax
        {"ndim": 3, "processes": 16, "variables": 14, "old_descriptor": True, "key_bytes": 16},  # quad Hilbert keys
        {"ndim": 2, "processes": 100, "grids": (1, 0, 2), "particles": 1},
        {"hydro": False, "ndim": 3},
        {"marker": "q", "boundaries": 3, "variables": 1},
        {"ndim": 3, "order": ">", "variables": 6, "descriptor": True, "radiation": 4, "gravity": True, "particles": 3},
    ],
    ids=str,
)
def test_outputs_of_other_shapes(penstock: Penstock, tmp_path: Path, made: dict[str, Any]) -> None:
    output = MadeUp(tmp_path / "output_00007", **made)
    output.write()
    run(penstock, output.folder, "--np", "3")
    plain = ["density", *(f"velocity_{a}" for a in "xyz"[: output.ndim]), "pressure"]
    plain += [f"var_{v + 1:02}" for v in range(len(plain), output.variables)]
    described = output.descriptor or output.old_descriptor
    names = [f"made_up_{v}" for v in range(output.variables)] if described else plain[: output.variables]
    names = names if output.hydro else []
    levels = read(output.folder, 7, names, output.order, output.real, output.marker)
    with h5py.File(tmp_path / "snap.h5") as snapshot:
        if output.gravity:
            assert snapshot["level_03/force_z"].shape == snapshot["level_03/made_up_0"].shape
            for level in snapshot:
                for name in ["potential", "force_x", "force_y", "force_z"]:
                    if level.startswith("level_"):
                        levels[int(level[6:]) - 1].add(name, snapshot[level][name][()])
            names += ["potential", "force_x", "force_y", "force_z"]
        radiation = [f"rt_{v + 1:02}" for v in range(output.radiation)]
        for level in range(1, len(levels) + 1) if radiation else ():
            if not levels[level - 1].tables:
                continue
            for name in radiation:
                values = snapshot[f"level_{level:02}"][name][()]
                assert (np.diff(values.reshape(len(values), -1)[:, 0]) != 0).all()
                levels[level - 1].add(name, values)
        names += radiation
        if output.particles:
            each = range(output.processes)
            assert len(snapshot["particles/identity"]) == output.particles * sum(each)
            assert snapshot["particles/identity"].dtype == "i8"
            assert snapshot["particles/levelp"].dtype == "i4"
            assert (np.diff(snapshot["particles/position_x"][: output.particles]) == 1 / 64).all()
        elif output.particles == 0:
            assert len(snapshot["particles"]) == 2 * output.ndim + 3
            assert all(field.shape == (0,) for field in snapshot["particles"].values())
        else:
            assert "particles" not in snapshot
    same(tmp_path / "snap.h5", levels, names)


@pytest.mark.parametrize("particles", [0, 3])
def test_particles_are_of_the_types_that_their_descriptor_says(
    penstock: Penstock, tmp_path: Path, particles: int
) -> None:
    MadeUp(tmp_path / "o", particles=particles, letters="dfqihb?").write()
    run(penstock, tmp_path / "o", "--np", "3")
    with h5py.File(tmp_path / "snap.h5") as snapshot:
        fields = [snapshot[f"particles/field_{v}"] for v in range(7)]
        assert [field.dtype for field in fields] == ["f8", "f4", "i8", "i4", "i2", "i1", "i4"]
        assert {field.shape for field in fields} == {(3 * particles,)}


def test_numbers_of_the_file_are_exact(penstock: Penstock, tmp_path: Path) -> None:
    run(penstock, SAMPLE)
    header = Records(SAMPLE / "amr_00002.out00001")
    header.skip(11)
    with h5py.File(tmp_path / "snap.h5") as snapshot:
        assert snapshot.attrs["time"] == header.numbers("f8")[0]
        header.skip(4)
        for name, value in zip(["omega_m", "omega_l", "omega_k", "omega_b", "H0"], header.numbers("f8"), strict=False):
            assert snapshot.attrs[name] == value, name
        assert snapshot.attrs["aexp"] == header.numbers("f8")[0]
    output = MadeUp(tmp_path / "o")
    output.write()
    run(penstock, output.folder, "--force")
    with h5py.File(tmp_path / "snap.h5") as snapshot:
        assert snapshot.attrs["time"] == 2 / 3


@pytest.mark.parametrize(
    ("coarse", "boundaries", "grids", "ends"),
    [
        ((1, 1, 1), 0, [(0.5, 0.5)], (2, 2)),
        ((2, 1, 1), 1, [(1.5, 0.5)], (2, 2)),  # a boundary below x
        ((2, 1, 1), 1, [(0.5, 0.5)], (2, 2)),  # above it
        ((2, 3, 1), 3, [(0.5, 1.5)], (2, 2)),  # and on both sides of y
        ((2, 1, 1), 0, [(0.5, 0.5), (1.5, 0.5)], (2, 1)),  # boxlen is the length along x
        ((4, 2, 1), 2, [(1.5, 1.5), (2.5, 1.5)], (2, 1)),
    ],
    ids=str,
)
def test_the_box_lies_between_its_boundaries(
    penstock: Penstock, tmp_path: Path, coarse: Any, boundaries: int, grids: Any, ends: tuple[int, int]
) -> None:
    MadeUp(
        tmp_path / "o", processes=1, grids=(len(grids),), coarse=coarse, boundaries=boundaries, first_grids=tuple(grids)
    ).write()
    run(penstock, tmp_path / "o")
    cells = ramses.leaf_cells(tmp_path / "snap.h5", level=1)
    across = len(grids)
    assert (cells["size"] == 1 / across).all()
    assert (cells["size"] ** 2).sum() == ends[0] * ends[1]
    for axis, end in zip("xy", ends, strict=True):
        assert (cells[axis] - cells["size"] / 2).min() == 0
        assert (cells[axis] + cells["size"] / 2).max() == end
    with h5py.File(tmp_path / "snap.h5") as snapshot:
        assert snapshot["level_01"].attrs["cell_size"] == 1 / across
        assert snapshot["level_01/position"].attrs["to_cgs"] == 3e21 * 2 / across


def test_what_is_there_is_not_replaced_unasked(penstock: Penstock, tmp_path: Path) -> None:
    MadeUp(tmp_path / "o").write()
    (tmp_path / "snap.h5").write_text("mine")
    ran = penstock("import", "ramses", "o", "-o", "snap.h5")
    assert ran.returncode == 1
    assert "'snap.h5' is there already: --force replaces it" in ran.stderr
    assert (tmp_path / "snap.h5").read_text() == "mine"
    run(penstock, tmp_path / "o", "--force")
    assert ramses.leaf_cells(tmp_path / "snap.h5", ["density"])


def test_gravity_comes_cell_by_cell(penstock: Penstock, tmp_path: Path) -> None:
    output = MadeUp(tmp_path / "o", ndim=2, processes=1, grids=(1,), gravity=True)
    output.write()
    run(penstock, output.folder)
    with h5py.File(tmp_path / "snap.h5") as snapshot:
        values = {name: snapshot[f"level_01/{name}"][0].ravel() for name in ("potential", "force_x", "force_y")}
    # The writer counts: three variables in each of four cells.
    step = np.diff(values["potential"])
    assert (step == 3 / 64).all()
    np.testing.assert_array_equal(values["force_x"] - values["potential"], np.full(4, 1 / 64))
    np.testing.assert_array_equal(values["force_y"] - values["potential"], np.full(4, 2 / 64))


def refused(penstock: Penstock, folder: Path, tmp_path: Path, *said: str) -> None:
    ran = penstock("import", "ramses", str(folder), "-o", "snap.h5", "--np", "3")
    assert ran.returncode == 1
    assert ran.stderr.count("\n") == 1, ran.stderr
    for words in said:
        assert words in ran.stderr
    assert not (tmp_path / "snap.h5").exists()
    assert not list(tmp_path.glob(".*partial"))


def test_what_is_wrong_is_named(penstock: Penstock, tmp_path: Path) -> None:
    output = MadeUp(tmp_path / "o", boundaries=1, particles=2)
    output.write()
    kept = {path: path.read_bytes() for path in output.folder.iterdir()}

    def broken(path: Path, data: bytes | None, *said: str) -> None:
        if data is None:
            path.unlink()
        else:
            path.write_bytes(data)
        refused(penstock, output.folder, tmp_path, *said)
        path.write_bytes(kept[path])

    amr, hydro, part = (output.path(kind, 3) for kind in ("amr", "hydro", "part"))
    broken(amr, None, amr.name, "No such file")
    broken(hydro, None, hydro.name, "No such file")
    broken(amr, kept[amr][:-40], amr.name, "cut off")
    broken(hydro, kept[hydro][: len(kept[hydro]) // 2], hydro.name, "record ")
    broken(hydro, kept[hydro] + kept[hydro][:12], hydro.name, "more in the file than its levels")
    broken(part, kept[part][:70], part.name)
    broken(amr, b"", amr.name, "is empty")
    broken(amr, b"an amr file, says its name, but it is none", amr.name, "unformatted")
    broken(hydro, struct.pack("<3i", 4, 9, 4) + kept[hydro][12:], hydro.name, "ncpu is 9, in the AMR file 3")
    broken(amr, kept[amr][:16] + struct.pack("<i", 3) + kept[amr][20:], amr.name)
    broken(output.path("amr", 1), struct.pack("<3i", 4, -5, 4) + kept[output.path("amr", 1)][12:], "ncpu is -5")
    huge = struct.pack("<i", 2**31 - 1)
    broken(amr, huge + kept[amr][4:], amr.name, "unformatted")
    (output.folder / "info_00007.txt").unlink()
    refused(penstock, output.folder, tmp_path, "info_NNNNN.txt")


def test_two_outputs_are_not_mixed(penstock: Penstock, tmp_path: Path) -> None:
    one, other = MadeUp(tmp_path / "a"), MadeUp(tmp_path / "b", variables=5)
    one.write()
    other.write()
    for kind in ("amr", "hydro"):
        one.path(kind, 2).write_bytes(other.path(kind, 2).read_bytes())
    refused(penstock, one.folder, tmp_path, "process 2", "another output", "var_05")
