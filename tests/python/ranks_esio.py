"""ranks_esio.py: what ESIO's users do, run in FOLDER by test_esio.py: rows of docs/esio.md name its functions."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI

import penstock

comm = MPI.COMM_WORLD
r, n = comm.rank, comm.size
folder = Path(sys.argv[1])
C, B, A = 6, 4 * n, 5
whole = np.arange(C * B * A * 3, dtype=float).reshape(C, B, A, 3)
mine = slice(4 * r, 4 * r + 4)


def establish() -> tuple[Callable[..., penstock.Part], ...]:
    """A line, plane, field and vectors, established once and used by every file."""
    at = 4 * r
    return (
        partial(penstock.block, shape=B, start=at),
        partial(penstock.block, shape=(B, A), start=(at, 0)),
        partial(penstock.block, shape=(C, B, A), start=(0, at, 0)),
        partial(penstock.block, shape=(C, B, A, 3), start=(0, at, 0, 0)),
    )


line, plane, field, vectors = establish()


def write_file(f: penstock.File) -> None:
    dense = whole[:, mine]
    tall = np.zeros((4, A + 2), "f4")  # with a stride of A + 2 between lines
    tall[:, :A] = whole[0, mine, :, 0]
    f["u"] = vectors(dense, comment="velocity in wall units")
    f["w"] = field(dense[..., 2])  # one component of the vectors: elements lie three apart
    f["wall"] = plane(tall[:, :A])
    f["spread"] = line(np.arange(8 * r, 8 * r + 8, dtype="i4")[::2])
    f.attrs["program"] = "esio"
    f.attrs["time"] = 1.5
    f["wall"].attrs["normal"] = np.array([0, 1, 0], "i4")
    f["wall"].attrs["gain"] = np.float32(0.25)


def read_file(f: penstock.File) -> None:
    assert f["u"].shape == (C, B, A, 3)
    assert f["u"].dtype == np.float64
    with pytest.raises(penstock.NotFound, match="nothing"):
        f["nothing"]
    assert (f["u"][:, mine] == whole[:, mine]).all()
    scattered = np.zeros((C, 4, A, 2))
    f["w"].read_into(scattered[..., 0], np.s_[:, mine, :])
    assert (scattered[..., 0] == whole[:, mine, :, 2]).all()
    assert not scattered[..., 1].any()
    wall, spread = f["wall"].get(mine), f["spread"].get(mine)
    f.commit()
    assert wall.dtype == np.float32
    assert (wall == whole[0, mine, :, 0]).all()
    assert spread.tolist() == [8 * r, 8 * r + 2, 8 * r + 4, 8 * r + 6]
    assert f["u"].attrs["comment"] == "velocity in wall units"
    assert f.attrs["time"] == 1.5
    normal, gain = f["wall"].attrs["normal"], f["wall"].attrs["gain"]
    assert (normal.dtype, np.size(normal), normal.tolist()) == (np.int32, 3, [0, 1, 0])
    assert (gain.dtype, np.size(gain), gain) == (np.float32, 1, 0.25)


def files() -> None:
    path = folder / "a.h5"
    with penstock.create(path, comm) as f:
        assert f.path.endswith("/a.h5")
        write_file(f)
        f.commit()
        f.attrs["program"] = "overwritten"
    with penstock.open(path, comm) as f:
        read_file(f)
        assert f.attrs["program"] == "overwritten"
    assert not f.is_open


def reopen_and_abandon() -> None:
    path = folder / "b.h5"
    with penstock.create(path, comm) as f:
        write_file(f)
    with penstock.reopen(path, comm) as f:
        f["spread"] = line(np.full(4, r, "i4"))
        f.attrs["time"] = 2.5
    f = penstock.reopen(path, comm)
    f["spread"] = line(np.zeros(4, "i4"))
    f.abandon()
    with penstock.open(path, comm) as f:
        assert f.attrs["time"] == 2.5
        assert f["spread"][mine].tolist() == [r] * 4
        assert (f["u"][:, mine] == whole[:, mine]).all()


def restarts() -> None:
    with penstock.create(folder / "template.h5", comm) as f:
        f["grid"] = np.arange(4.0)
        f.attrs["title"] = "constant"
    for stem, plan in (("restart", None), ("set", "hdf5/two_phase:placement=parts,parts=2")):
        for step in range(1, 6):
            with penstock.clone(folder / "template.h5", folder / "uncommitted.h5", comm, plan) as f:
                write_file(f)
                f.attrs["step"] = step
                f.close_restart(folder / f"{stem}#.h5", 3)
            comm.barrier()
            assert not (folder / "uncommitted.h5").exists()
            for k in range(4):
                path = folder / f"{stem}{k}.h5"
                assert path.exists() == (k < step and k < 3)
                if path.exists():
                    with penstock.open(path, comm) as f:
                        assert (f.attrs["step"], f.attrs["title"]) == (step - k, "constant")
                        assert f["grid"][...].tolist() == [0, 1, 2, 3]
                        read_file(f)
            comm.barrier()
        with penstock.open_latest(folder / f"{stem}*.h5", comm) as f:
            assert f.path.endswith(f"{stem}0.h5")


def wrong_restarts() -> None:
    for pattern, retain, words in (
        ("restart.h5", 3, "#"),
        ("restart#.h5", 0, "at least 1"),
        ("restart#.h5", 2 + (r == 0), "" if n == 1 else "retain=2 on this rank, but .* with retain=3 on rank 0"),
    ):
        if not words:
            continue
        f = penstock.create(folder / "x.h5", comm)
        write_file(f)
        with pytest.raises(penstock.Error, match=words):
            f.close_restart(folder / pattern, retain)
        assert not f.is_open
    comm.barrier()
    assert not (folder / "x.h5").exists()
    with penstock.open(folder / "restart0.h5", comm) as f:
        assert f.attrs["step"] == 5


def rename() -> None:
    with penstock.create(folder / "c.h5", comm) as f:
        write_file(f)
    with penstock.reopen(folder / "c.h5", comm) as f:
        f.close_restart(folder / "renamed#.h5", 2)
    comm.barrier()
    assert not (folder / "c.h5").exists()
    with penstock.open(folder / "renamed0.h5", comm) as f:
        read_file(f)


def errors() -> None:
    with pytest.raises(FileNotFoundError, match="absent"):
        penstock.open(folder / "absent.h5", comm)
    with penstock.create(folder / "wrong.h5", comm) as f:
        write_file(f)
        if r == n - 1:
            with pytest.raises(ValueError, match="the array has 2 dimensions"):
                f["fresh"] = line(np.zeros((4, 4)))
        f.commit()
        assert "fresh" not in f
    with penstock.open(folder / "wrong.h5", comm) as f:
        read_file(f)


files()
reopen_and_abandon()
restarts()
wrong_restarts()
rename()
errors()
