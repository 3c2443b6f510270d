"""test_import_records.py: Fortran files that a TOML file describes become one file with every value as it was."""

import struct
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from conftest import Penstock

NX, NY, PX, PY, GHOSTS = 7, 5, 3, 2, 1
PROCESSES = PX * PY

SET = """
files = "out_{process:05d}.dat"
first = 1
process_grid = [3, 2]
attributes = {code = "made up", step = 12, time = 0.5}

[[record]]
fields = [{name = "nx", type = "i32"}, {name = "ny", type = "i32"}, {name = "n", type = "i64"}]

[[record]]
fields = [{name = "i0", type = "i32"}, {name = "j0", type = "i32"}, {name = "nvar", type = "i32"}]

[[record]]
name = "rho"
type = "f64"
shape = ["nx", "ny"]
dataset = "block"
attributes = {units = "kg m-3"}

[[record]]
name = "u"
type = "f32"
shape = ["nx + 2", "ny + 2*1"]
ghosts = [1, 1]
dataset = "block"
whole = [7, 5]
start = ["i0", "j0"]

[[record]]
repeat = "nvar"
name = "scalars"
type = "f64"
shape = ["nx", "ny"]
dataset = "block"

[[record]]
skip = 2

[[record]]
fields = [{type = "i32"}, {name = "particles", type = "f64", shape = [3, "n"], dataset = "ragged"}]

[[record]]
name = "seed"
type = "i32"
shape = [4]
dataset = "per_process"

[[record]]
fields = [{name = "table", type = "complex128", shape = [6], dataset = "replicated"},
          {name = "title", type = "text[8]", dataset = "replicated"}]
"""


def extents(all_: int, parts: int) -> list[int]:
    return [all_ // parts + (i < all_ % parts) for i in range(parts)]


class Written:
    """Files as Fortran would write them, of fields that are known as a whole."""

    def __init__(self, folder: Path, order: str = "<", marker: str = "i", subrecords: int = 0) -> None:
        rng = np.random.default_rng(7)
        self.order, self.marker, self.subrecords = order, marker, subrecords
        self.rho = rng.random((NY, NX))
        self.u = rng.random((NY, NX)).astype("f4")
        self.scalars = rng.random((4, NY, NX))
        self.seed = rng.integers(0, 1000, (PROCESSES, 4)).astype("i4")
        self.table = rng.random(6) + 1j * rng.random(6)
        self.counts = [0, 3, 1, 0, 5, 2]
        self.particles = rng.random((sum(self.counts), 3))
        self.folder = folder
        for process in range(PROCESSES):
            self.path(process).write_bytes(b"".join(self.records(process)))

    def path(self, process: int) -> Path:
        return self.folder / f"out_{process + 1:05d}.dat"

    def record(self, *parts: Any) -> bytes:
        data = b"".join(
            p if isinstance(p, bytes) else p.astype(p.dtype.newbyteorder(self.order)).tobytes() for p in parts
        )
        most = self.subrecords or len(data) or 1
        pieces = [data[i : i + most] for i in range(0, len(data), most)] or [b""]
        out = b""
        for i, piece in enumerate(pieces):
            before = -len(piece) if i < len(pieces) - 1 else len(piece)
            behind = -len(piece) if i > 0 else len(piece)
            out += struct.pack(self.order + self.marker, before) + piece + struct.pack(self.order + self.marker, behind)
        return out

    def records(self, process: int) -> list[bytes]:
        cx, cy = process % PX, process // PX
        xs, ys = extents(NX, PX), extents(NY, PY)
        x0, y0, nx, ny = sum(xs[:cx]), sum(ys[:cy]), xs[cx], ys[cy]
        box = np.s_[y0 : y0 + ny, x0 : x0 + nx]
        around = np.pad(self.u[box], GHOSTS, constant_values=-1)
        first = sum(self.counts[:process])
        mine = self.particles[first : first + self.counts[process]]
        i4 = "i4"
        return [
            self.record(np.array([nx, ny], i4), np.array([len(mine)], "i8")),
            self.record(np.array([x0 + 1, y0 + 1, 4], i4)),
            self.record(self.rho[box]),
            self.record(around),
            *[self.record(self.scalars[v][box]) for v in range(4)],
            self.record(b"of no interest"),
            self.record(b""),
            self.record(np.array([99], i4), mine),
            self.record(self.seed[process]),
            self.record(self.table, b"a title "),
        ]

    def same(self, path: Path) -> None:
        with h5py.File(path) as file:
            for name in ("rho", "u", "scalars", "particles", "seed", "table"):
                expected = getattr(self, name)
                assert file[name].dtype == expected.dtype, name
                np.testing.assert_array_equal(file[name][()], expected, err_msg=name)
            assert file["title"][()] == b"a title "
            assert file["rho"].attrs["units"] == b"kg m-3"
            assert [file.attrs[key] for key in ("code", "step", "time")] == [b"made up", 12, 0.5]
            assert set(file) - {"_penstock"} == {"rho", "u", "scalars", "particles", "seed", "table", "title"}


@pytest.mark.parametrize("np_", [1, 3, 7])
def test_every_value_on_any_number_of_ranks(penstock: Penstock, tmp_path: Path, np_: int) -> None:
    (tmp_path / "set.toml").write_text(SET)
    written = Written(tmp_path)
    ran = penstock("import", "records", "set.toml", "-o", "all.h5", "--np", str(np_))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "all.h5 holds what set.toml describes, of 6 files\n"
    ran = penstock("import", "records", "set.toml", "-o", "all.h5")
    assert "'all.h5' is there already: --force replaces it" in ran.stderr
    written.same(tmp_path / "all.h5")
    assert penstock("verify", "all.h5").returncode == 0


@pytest.mark.parametrize("kind", [(">", "i", 0), ("<", "q", 0), (">", "q", 0), ("<", "i", 24), (">", "i", 40)], ids=str)
@pytest.mark.parametrize("said", [False, True])
def test_byte_orders_markers_and_subrecords(penstock: Penstock, tmp_path: Path, kind: Any, said: bool) -> None:
    order, marker, subrecords = kind
    text = f'endian = "{"big" if order == ">" else "little"}"\nmarker = {8 if marker == "q" else 4}\n' if said else ""
    (tmp_path / "set.toml").write_text(text + SET)
    written = Written(tmp_path, order, marker, subrecords)
    ran = penstock("import", "records", "set.toml", "-o", "all.h5", "--np", "3")
    assert ran.returncode == 0, ran.stderr
    written.same(tmp_path / "all.h5")


def test_ranks_in_c_order_and_a_pattern(penstock: Penstock, tmp_path: Path) -> None:
    text = 'files = "[pq]*.bin"\nprocess_grid = [2, 2]\nprocess_order = "last"\n'
    text += '[[record]]\nname = "a"\ntype = "i16"\nshape = [2, 1]\ndataset = "block"\n'
    (tmp_path / "set.toml").write_text(text)
    whole = np.arange(8, dtype="<i2").reshape(2, 4)  # in Fortran a(4, 2)
    for process, name in enumerate(["p1", "p2", "q1", "q2"]):
        x, y = divmod(process, 2)
        data = whole[y : y + 1, 2 * x : 2 * x + 2].tobytes()
        (tmp_path / f"{name}.bin").write_bytes(struct.pack("<i", 4) + data + struct.pack("<i", 4))
    ran = penstock("import", "records", "set.toml", "-o", "all.nc", "--np", "3")
    assert ran.returncode == 0, ran.stderr
    ran = penstock("import", "records", "set.toml", "-o", "all.h5", "--np", "3")
    with h5py.File(tmp_path / "all.h5") as file:
        np.testing.assert_array_equal(file["a"][()], whole)


def refused(penstock: Penstock, folder: Path, *said: str) -> None:
    ran = penstock("import", "records", "set.toml", "-o", "all.h5", "--np", "3")
    assert ran.returncode != 0
    assert ran.stderr.count("\n") == 1, ran.stderr
    for words in said:
        assert words in ran.stderr, ran.stderr
    assert not (folder / "all.h5").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("first = 1", "frist = 1", "frist: there is no such key"),
        ("first = 1", 'first = "1"', "first: must be a whole number, not '1'"),
        ("first = 1", "first = 1\ncount = 7", "out_00007.dat"),
        ("first = 1", 'endian = "medium"', "endian: must be 'auto' or 'little' or 'big'"),
        ("[3, 2]", "[3, 3]", "is for 9 processes, there are 6 files"),
        ("[3, 2]", "[2, 3]", "those beside it in the process_grid"),
        ('type = "f32"', 'type = "real"', "record 4: type: 'real' is none of"),
        ('"nx + 2"', '"nx / 2"', "record 4: shape: 'nx / 2' is not made of"),
        ('"nx + 2"', '"mx + 2"', "no whole number called 'mx' was read before"),
        ('"nx + 2"', '"nx - 99"', "below 0"),
        ('"nx + 2"', '"nx + 3"', "the record"),
        ('"nx + 2"', '"nx * 4000000000 * 4000000000"', "beyond 64 bits"),
        ('"nx + 2"', '"nx * 4000000000 * 700000000"', "larger than any file"),
        ("whole = [7, 5]", "whole = [6, 5]", "'u' of"),
        ("whole = [7, 5]", "whole = [8, 5]", "u"),
        ("ghosts = [1, 1]", "ghosts = [1]", "record 4: ghosts: has 1 entries, the shape 2"),
        ("ghosts = [1, 1]", "ghosts = [9, 1]", "fewer than 9 ghosts"),
        ("skip = 2", "skip = 2\nname = 1", "record 6: skip: stands alone"),
        ("skip = 2", "skip = 1", "record 10, before byte"),
        ("skip = 2", "skip = 200", "the file ends"),
        ('shape = [4]\ndataset = "per_process"', 'shape = [4]\ndataset = "replicated"', "though the description says"),
        ('name = "seed"', 'name = "rho"', "two fields are called 'rho'"),
        ('dataset = "ragged"', 'dataset = "rugged"', "must be 'block' or 'ragged'"),
        ("[[record]]\nskip", "[[record]\nskip", "set.toml: "),
        ('files = "out_', 'files = "out/', "there is no"),
    ],
)
def test_a_wrong_description_is_named(penstock: Penstock, tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in SET
    (tmp_path / "set.toml").write_text(SET.replace(old, new))
    Written(tmp_path)
    refused(penstock, tmp_path, said)


def test_wrong_files_are_named(penstock: Penstock, tmp_path: Path) -> None:
    (tmp_path / "set.toml").write_text(SET)
    written = Written(tmp_path)
    path = written.path(4)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    refused(penstock, tmp_path, path.name, "cut off")
    path.write_bytes(whole + written.record(b"more"))
    refused(penstock, tmp_path, path.name, 'rest = "ignore"')
    (tmp_path / "set.toml").write_text('rest = "ignore"\n' + SET)
    assert penstock("import", "records", "set.toml", "-o", "more.h5").returncode == 0
    written.same(tmp_path / "more.h5")
    path.unlink()
    refused(penstock, tmp_path, path.name, "there is no")
    (tmp_path / "set.toml").unlink()
    refused(penstock, tmp_path, "set.toml': no such file or folder")
