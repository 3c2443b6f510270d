"""ranks_output_profile.py: what test_output_profile.py runs on several ranks: FOLDER EXTENSION PLAN; writes as profiles
of its own say, and checks what numpy makes of the same arrays."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

import penstock

comm = MPI.COMM_WORLD
r, n = comm.rank, comm.size
folder, extension, plan = Path(sys.argv[1]), sys.argv[2], sys.argv[3] or None

shape = (11, 14, 9)
whole = np.arange(np.prod(shape), dtype="f8").reshape(shape) ** 2 % 1009
Part = Callable[[np.ndarray[Any, Any]], Any]


def says(error: Exception, words: str) -> None:
    assert words in str(error), error


def create(name: str, profile: str) -> penstock.File:
    """A file written as PROFILE says."""
    if r == 0:
        (folder / "profile.toml").write_text(profile)
        os.environ["PENSTOCK_PROFILE"] = str(folder / "profile.toml")
    return penstock.create(folder / f"{name}.{extension}", comm, plan)


def reopened(name: str) -> penstock.File:
    os.environ.pop("PENSTOCK_PROFILE", None)
    return penstock.open(folder / f"{name}.{extension}", comm)


def cuts(extent: int) -> list[int]:
    """Where the ranks' parts begin: uneven, and the second of four has nothing."""
    return [0, extent // 3, extent // 3, extent - 2, extent] if n == 4 else [extent * k // n for k in range(n + 1)]


def slab(a: np.ndarray[Any, Any]) -> Any:
    begin, end = cuts(a.shape[0])[r : r + 2]
    return penstock.block(a[begin:end], shape=a.shape, start=(begin, 0, 0))


def columns(a: np.ndarray[Any, Any]) -> Any:
    """A part of an array with ghost cells: not contiguous."""
    begin, end = cuts(a.shape[2])[r : r + 2]
    return penstock.block(a[:, :, begin:end], shape=a.shape, start=(0, 0, begin))


def boxes(a: np.ndarray[Any, Any]) -> Any:
    """Two boxes of each rank."""
    begin, end = cuts(a.shape[1])[r : r + 2]
    if begin == end:
        return penstock.boxes([], a.shape, [], dtype=a.dtype)
    parts = [np.ascontiguousarray(a[:4, begin:end]), np.ascontiguousarray(a[4:, begin:end])]
    return penstock.boxes(parts, a.shape, [(0, begin, 0), (4, begin, 0)])


def runs(a: np.ndarray[Any, Any]) -> Any:
    """Pieces of 7 elements, dealt out to the ranks."""
    flat = a.reshape(-1)
    offsets = list(range(7 * r, flat.size, 7 * n))[::-1]
    lengths = [min(7, flat.size - o) for o in offsets]
    mine = np.concatenate([flat[o : o + k] for o, k in zip(offsets, lengths, strict=True)])
    return penstock.runs(mine, a.shape, offsets, lengths)


def replicated(a: np.ndarray[Any, Any]) -> Any:
    return a


parts: dict[str, Part] = {
    "slab": slab, "columns": columns, "boxes": boxes, "runs": runs, "replicated": replicated
}  # fmt: skip


def means(a: np.ndarray[Any, Any], blocks: tuple[int, ...]) -> np.ndarray[Any, Any]:
    for axis, block in enumerate(blocks):
        edges = np.arange(0, a.shape[axis], block)
        sums = np.add.reduceat(a, edges, axis=axis)
        counts = np.diff([*edges, a.shape[axis]])
        a = sums / np.expand_dims(counts, [k for k in range(a.ndim) if k != axis])
    return a


def check(name: str, expected: np.ndarray[Any, Any], words: str) -> None:
    with reopened(name) as f:
        for way in parts:
            got = f[way][...]
            assert got.shape == expected.shape, (name, way, got.shape, expected.shape)
            assert np.allclose(got, expected, rtol=1e-12), (name, way)
            assert words in f[way].attrs["penstock_subset"], f[way].attrs["penstock_subset"]
        assert (f["other"][...] == np.arange(4)).all()
        assert f.attrs["penstock_profile"].startswith("profile.toml, crc64 ")
    penstock.verify(folder / f"{name}.{extension}", comm)


def write(name: str, rule: str, lend: bool = False) -> None:
    keep = []
    profile = f"[[dataset]]\nname = 'other'\n\n[[dataset]]\nname = '*'\n{rule}\n"
    with create(name, profile) as f:
        for way, part in parts.items():
            keep.append(part(whole))
            if lend:
                f.lend(way, keep[-1])
            else:
                f[way] = keep[-1]
        f["other"] = np.arange(4)


def points_are_those_of_numpy() -> None:
    for lend in (False, True):
        write("every", "every = [2, 3, 4]", lend)
        check("every", whole[::2, ::3, ::4], "every (2, 3, 4) from (0, 0, 0) of (11, 14, 9)")
    write("number", "every = 20")
    check("number", whole[::20, ::20, ::20], "every (20, 20, 20)")
    write("box", "box = { start = [3, 0, 2], count = [8, 5, 1] }", True)
    check("box", whole[3:11, :5, 2:3], "every (1, 1, 1) of the box (8, 5, 1) from (3, 0, 2)")
    write("both", "box = { start = [1, 2, 3], count = [9, 11, 5] }\nevery = [4, 1, 2]")
    check("both", whole[1:10:4, 2:13, 3:8:2], "every (4, 1, 2) of the box (9, 11, 5)")


def means_are_those_of_numpy() -> None:
    write("mean", "mean = 2")
    check("mean", means(whole, (2, 2, 2)), "means of (2, 2, 2) from (0, 0, 0)")
    write("means", "mean = [5, 1, 4]\nbox = { start = [0, 1, 0], count = [11, 12, 7] }", True)
    check("means", means(whole[:, 1:13, :7], (5, 1, 4)), "means of (5, 1, 4) of the box")
    write("one", "mean = [100, 100, 100]")
    check("one", means(whole, (100, 100, 100)), "means of (100, 100, 100)")


def other_ways_of_putting() -> None:
    rows = np.arange(2 * (3 * r + 1)).reshape(-1, 2) + 1000.0 * r
    table = np.arange(6.0) + 10 * r
    with create("ways", "[[dataset]]\nname = '*'\nevery = 2") as f:
        f["rows"] = penstock.ragged(rows)
        f["table"] = penstock.per_rank(table)
        f["scalar"] = np.float64(3)
    kept = comm.allgather(rows[::2])
    tables = comm.allgather(table)
    with reopened("ways") as f:
        assert (f["rows"][...] == np.concatenate(kept)).all()
        assert f["rows"].attrs["penstock_subset"] == "every (2, 1) of each rank's rows"
        assert (f["table"][...] == np.array(tables)[::2, ::2]).all()
        assert f["scalar"][()] == 3
    with create("mean_table", "[[dataset]]\nname = '*'\nmean = 4") as f:
        f["table"] = penstock.per_rank(table)
    with reopened("mean_table") as f:
        assert np.allclose(f["table"][...], means(np.array(tables), (4, 4)))


def several_commits_and_puts() -> None:
    """A plane at a time, so that blocks are of several puts; and two commits, the second in the background."""
    if "placement" in (plan or "") or plan in ("phdf5", "pnetcdf", "netcdf4"):
        return  # they write files anew
    begin, end = cuts(shape[1])[r : r + 2]
    more = whole[::-1].copy()
    with create("commits", "[[dataset]]\nname = 'a/*'\nmean = [2, 3, 2]\ntype = 'f32'") as f:
        for array, name in ((whole, "a/first"), (more, "a/second")):
            for plane in range(shape[0]):
                f[name] = penstock.block(array[plane : plane + 1, begin:end], shape=shape, start=(plane, begin, 0))
            if name == "a/first":
                f.commit()
            else:
                f.commit_start()
                f.commit_wait()
    with reopened("commits") as f:
        for array, name in ((whole, "a/first"), (more, "a/second")):
            assert f[name].dtype == "f4"
            assert np.allclose(f[name][...], means(array, (2, 3, 2)), rtol=1e-6)


def an_incomplete_block_is_an_error_on_all_ranks() -> None:
    begin, end = cuts(shape[0])[r : r + 2]
    if r == n - 1:
        end -= 1
    try:
        with create("lost", "[[dataset]]\nname = '*'\nmean = 3") as f:
            f["a"] = penstock.block(whole[begin:end], shape=shape, start=(begin, 0, 0))
        raise AssertionError("a plane was lost")
    except penstock.Incomplete as error:
        says(error, "'a': the output profile stores the means of blocks (3, 3, 3), and block (3, ")
        says(error, "points: a commit needs each point of a block once")
    assert not (folder / f"lost.{extension}").exists()


def what_is_not_written_is_named() -> None:
    profile = "[[dataset]]\nname = 'a/*'\nwrite = false\n[[dataset]]\nname = 'b'\nwrite = true"
    with create("left", profile) as f:
        f["a/of_all"] = np.arange(3)
        if r == n - 1:
            f["a/of_last"] = penstock.block(np.arange(3), (3,), (0,))
        f.attributes("a/of_all")["units"] = "K"
        f["b"] = np.arange(5)
        f.unlimited("a/of_all")
    with reopened("left") as f:
        assert list(f) == ["b"]
        assert list(f.attrs["penstock_left_out"]) == ["a/of_all", "a/of_last"]
    assert penstock.open(folder / f"left.{extension}", comm).attrs["penstock_profile"].startswith("profile.toml, ")


def steps_of_a_series() -> None:
    if r == 0:
        (folder / "profile.toml").write_text("[[dataset]]\nname = 'big'\nsteps = 3\nevery = 2")
        os.environ["PENSTOCK_PROFILE"] = str(folder / "profile.toml")
    pattern = folder / f"out-*.{extension}"
    for steps in (range(4), range(4, 8)):  # the second part is a restart
        with penstock.series(pattern, comm, plan=plan) as series:
            for i in steps:
                with series.step(10 * i, float(i)) as f:
                    f["big"] = np.arange(7) + i
                    f["small"] = np.arange(2) + i
    os.environ.pop("PENSTOCK_PROFILE", None)
    with penstock.open_series(pattern, comm) as series:
        assert len(series) == 8
        for i in range(8):
            with series[i].open() as f:
                assert ("big" in f) == (i % 3 == 0), i
                assert (f["small"][...] == np.arange(2) + i).all()
                if "big" in f:
                    assert (f["big"][...] == np.arange(7)[::2] + i).all()
                else:
                    assert f.attrs["penstock_left_out"] == "big" or list(f.attrs["penstock_left_out"]) == ["big"]


for test in (
    points_are_those_of_numpy,
    means_are_those_of_numpy,
    other_ways_of_putting,
    several_commits_and_puts,
    an_incomplete_block_is_an_error_on_all_ranks,
    what_is_not_written_is_named,
    steps_of_a_series,
):
    try:
        test()
    except penstock.Error as error:
        raise AssertionError(f"{test.__name__}: {error}") from error
