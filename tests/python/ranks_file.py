"""ranks_file.py: what test_ranks.py runs on several ranks: FOLDER; ends with 0 where everything was as it should be."""

import functools
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from mpi4py import MPI

import penstock
import penstock.xarray_backend

comm = MPI.COMM_WORLD
r, n = comm.rank, comm.size
folder = Path(sys.argv[1])


def says(error: Exception, words: str) -> None:
    assert words in str(error), error


def options_are_of_all_ranks() -> None:
    values = np.full(3, 1e300 if r == n - 1 else 1.3)
    with penstock.create(folder / "options.h5", comm) as f:
        f["a"] = penstock.block(values, (3 * n,), (3 * r,), dtype="f4", keep_bits=2)
        f["empty"] = penstock.block(values[: 3 * (r == 0)], (3,), (0,), dtype="f4", compression="gzip")
        f.commit()
        assert f.report["warnings"] == ["'a': values beyond the range of f32, stored as infinite: 3"], f.report
    with penstock.open(folder / "options.h5", comm) as f:
        assert f["a"].dtype == "f4"
        assert (f["a"][: 3 * n - 3] == 1.25).all()
        assert f["empty"][...].tolist() == [np.float32(1.3 if n > 1 else 1e300)] * 3
    try:
        with penstock.create(folder / "wrong.h5", comm) as f:
            more: dict[str, Any] = {} if r == 1 else {"keep_bits": 3}
            f["a"] = penstock.block(np.full(3, 1.3), (3 * n,), (3 * r,), **more)
        raise AssertionError("one rank has other options")
    except penstock.Mismatch as error:
        says(error, "f64 kept to 3 bits of the mantissa as f64 (")
    assert not (folder / "wrong.h5").exists()


def everything_comes_back() -> None:
    path = folder / "all.h5"
    ghosts = np.full((6, 8), -1.0)
    ghosts[1:5, 1:7] = r
    rows = np.full((r, 2), r, "f4")
    with penstock.create(path, comm) as f:
        f["rows"] = penstock.ragged(rows)
        f["id"] = penstock.per_rank(np.int32(r))
        f["t"] = penstock.block(ghosts[1:5, 1:7], shape=(4 * n, 6), start=(4 * r, 0), units="K")
        mine = slice(0, 5) if r == 0 else slice(5, 5)  # the others have nothing
        f["of_rank_0"] = penstock.block(np.arange(5)[mine], shape=5, start=mine.start)
        f["same"] = np.arange(3)
    with penstock.open(path, comm) as f:
        assert f["rows"][...].tolist() == [[float(k)] * 2 for k in range(n) for _ in range(k)]
        assert f["id"][...].tolist() == list(range(n))
        other = (r + 1) % n
        assert (f["t"][4 * other : 4 * other + 4, ::3] == np.full((4, 2), other)).all()
        part, ids = f["t"].get(slice(0, r)), f["id"].get()
        f.commit()
        assert part.shape == (r, 6)
        assert ids.tolist() == list(range(n))
        assert f["of_rank_0"][r:].tolist() == list(range(r, 5))
    penstock.verify(path, comm)


def an_error_on_one_rank_is_one_on_all() -> None:
    kinds: dict[int, type[Exception]] = {1: TypeError}
    try:
        with penstock.create(folder / "bad.h5", comm) as f:
            f["a"] = np.array([None]) if r == 1 else np.zeros(1)
    except kinds.get(r, penstock.Invalid) as error:
        says(error, "dtype object")
    else:
        raise AssertionError("no error")
    assert not (folder / "bad.h5").exists()


def caught(what: Callable[[], Any], error: type[Exception], words: str) -> None:
    try:
        what()
    except error as found:
        says(found, words)
    else:
        raise AssertionError("no error")


def a_caught_error_leaves_no_trace() -> None:
    with penstock.open(folder / "all.h5", comm) as f:
        later = f["same"].get()
        caught(lambda: f["t"][999 if r == 0 else 0], IndexError, "index 999")  # of one rank: all can catch it alike
        caught(lambda: f["t"][999], IndexError, "index 999")
        caught(lambda: f["t"].read_into(np.zeros(1) if r == 1 else np.zeros((4 * n, 6))), ValueError, "shape")
        caught(lambda: f["t"].get(999), IndexError, "index 999")
        assert f["id"][...].tolist() == list(range(n))
        assert later.tolist() == [0, 1, 2]
    path = folder / "caught.h5"
    with penstock.create(path, comm) as f:
        f["a"] = np.arange(3)
        f.commit()
        lent = np.arange(4.0)
        f.lend("b", lent)
        del lent
        if r == 1:
            caught(lambda: f.__setitem__("c", np.array([None])), TypeError, "dtype object")
            caught(lambda: f.__setitem__("c", penstock.block(np.zeros(2), 1, 0)), penstock.Error, "")
            caught(lambda: f.__setitem__("c", penstock.replicated(np.zeros(2), bad={})), TypeError, "bad")
            caught(lambda: f.attrs.__setitem__("a", object()), TypeError, "")
            caught(lambda: f.provenance("a", 3), TypeError, "str")  # type: ignore[arg-type]
            caught(lambda: f.provenance("a/b", "c"), penstock.Invalid, "without '/'")
        caught(lambda: f["a"][7 if r == 1 else 0], IndexError, "index 7")
    with penstock.open(path, comm) as f:
        assert list(f) == ["a", "b"]
        assert f["b"][...].tolist() == [0, 1, 2, 3]


def what_poisons_says_so() -> None:
    f = penstock.create(folder / "poisoned.h5", comm)
    f["a"] = penstock.block(np.zeros(1), 2 * n, r)
    caught(f.commit, penstock.Incomplete, "after this the file can only be closed")
    caught(f.close, penstock.Incomplete, "'a'")
    assert not list(folder.glob("poisoned*"))


def fails(what: Callable[[], Any], mine: type[Exception], others: type[Exception], words: str = "") -> None:
    """WHAT is MINE on rank 1, and OTHERS with WORDS on the others: none of them waits for the limit of time."""
    expected = mine if r == 1 else others
    try:
        what()
    except expected as error:
        says(error, "" if r == 1 else words)
    else:
        raise AssertionError("no error")


def nobody_waits_for_a_rank_whose_call_was_refused() -> None:
    bad, there = r == 1, folder / "all.h5"
    any_path: Any = None if bad else folder / "n.h5"
    any_plan: Any = 3 if bad else ""
    gone: Any = None if bad else there
    for call, mine in (
        (lambda: penstock.create(any_path, comm), TypeError),
        (lambda: penstock.open(b"a\0" if bad else there, comm), ValueError),
        (lambda: penstock.create(folder / "n.h5", comm, any_plan), TypeError),
        (lambda: penstock.copy(gone, folder / "n.nc", comm), TypeError),
        (lambda: penstock.verify(gone, comm), TypeError),
        (lambda: penstock.create_stream(any_path, comm), TypeError),
    ):
        fails(call, mine, penstock.Mismatch, "rank 1")

    def write(data: Any) -> None:
        with penstock.create_stream(folder / "s", comm) as stream:
            stream.write(b"mine" if data is None else data)
            if bad and data is None:
                raise RuntimeError("of the program")

    fails(lambda: write(None), RuntimeError, penstock.Invalid, "RuntimeError: of the program")
    fails(lambda: write("text" if bad else b"mine"), TypeError, penstock.Invalid, "encode it")
    assert not list(folder.glob("n.*"))
    assert not list(folder.glob("s*"))


def some_ranks_have_no_boxes() -> None:
    path = folder / "boxes.h5"
    last = r == n - 1
    with penstock.create(path, comm) as f:
        arrays = [np.full((2, 1), 1, "i4"), np.full((2, 2), 2, "i4")] if last else []
        f["b"] = penstock.boxes(arrays, (2, 3), [(0, 0), (0, 1)] if last else [], dtype="i4")
        f["r"] = penstock.runs(np.arange(2 if last else 0), 2, [0] if last else [], [2] if last else [])
    with penstock.open(path, comm) as f:
        assert f["b"].dtype == np.int32
        assert f["b"][...].tolist() == [[1, 2, 2], [1, 2, 2]]
        assert f["r"][...].tolist() == [0, 1]


def empty_lists_have_the_type_of_the_others() -> None:
    path, rows = folder / "empty.h5", n * (n - 1) // 2
    start = r * (r - 1) // 2
    of_rank: dict[str, list[Any]] = {"n": [1] * r, "t": ["x"] * r, "b": [True] * r}
    with penstock.create(path, comm) as f:
        for name, values in of_rank.items():
            f[f"block/{name}"] = penstock.block(values, rows, start)
            f[f"ragged/{name}"] = penstock.ragged(values)
        f["none"] = penstock.ragged([])
    with penstock.open(path, comm) as f:
        for how in ("block", "ragged"):
            assert f[f"{how}/n"][...].tolist() == [1] * rows
            assert f[f"{how}/t"][...].tolist() == ["x"] * rows
            assert f[f"{how}/b"][...].tolist() == [True] * rows
            assert f[f"{how}/b"].dtype == bool
        assert f["none"].shape == (0,)


def a_process_may_have_files_of_its_own_too() -> None:
    path = folder / f"own.{r}.h5"
    with penstock.create(path) as f:
        f["a"] = np.arange(r)
    with penstock.open(folder / "all.h5", comm) as f, penstock.open(path) as own:
        assert f["id"][r] == r
        assert own["a"][...].tolist() == list(range(r))


def another_mpi_library_is_named() -> None:
    ours = MPI.Get_library_version
    MPI.Get_library_version = lambda: "Some MPI 7.1"
    try:
        penstock.open(folder / "all.h5", comm)
    except penstock.Unsupported as error:
        says(error, "mpi4py uses another MPI library (Some MPI 7.1) than penstock")
    else:
        raise AssertionError("no error")
    finally:
        MPI.Get_library_version = ours


def a_communicator_of_fewer_ranks_is_asked_about() -> None:
    def write(alone: MPI.Comm | None) -> None:
        with penstock.create(folder / f"few.{r}.h5", alone) as f:
            f["t"] = penstock.block(np.zeros(1), n, r)

    for alone in (None, MPI.COMM_SELF):
        caught(functools.partial(write, alone), penstock.Incomplete, f"1 of the program's {n} ranks: is it meant")


def xarray_writes_by_region() -> None:
    whole = xr.Dataset(
        {"t": (("time", "x"), np.arange(8.0 * n).reshape(2, 4 * n), {"units": "K"})},
        {"time": np.array(["2020-01-01", "2020-01-02T06:00"], "M8[ns]"), "x": np.arange(4 * n) / 2},
    )
    place = slice(4 * r, 4 * r + 4)
    mine = whole.isel(x=place)
    mine.penstock.to_file(folder / "x.nc", comm, region={"x": place})
    with xr.open_dataset(folder / "x.nc", engine="penstock") as found:
        xr.testing.assert_identical(found.load(), whole)
    try:
        mine.penstock.to_file(folder / "y.nc", comm, region={"x": slice(0, 1) if r == 0 else place})
    except (ValueError, penstock.Error) as error:
        says(error, "region")
    else:
        raise AssertionError("no error")


def what_ranks_mean_is_the_same() -> None:
    half = np.array([1e30], "f4") if r == 1 else np.ones(1, "f2")
    for other in (np.array([5 if r == 1 else True], "i1" if r == 1 else bool), half):

        def write(data: Any = other) -> None:
            with penstock.create(folder / "meant.h5", comm) as f:
                f["a"] = penstock.block(data, n, r)

        caught(write, penstock.Mismatch, "define it the same way")


def an_error_of_any_rank_is_penstocks() -> None:
    with penstock.open(folder / "all.h5", comm) as f:
        caught(lambda: f["t"][999 if r == 0 else 0], penstock.Error, "index 999")
        caught(lambda: f["t"].read(dtype="f4" if r == 0 else None), penstock.Error, "without loss")
    outside = comm.Split(0 if r else MPI.UNDEFINED)
    if r == 0:
        caught(lambda: penstock.create(folder / "null.h5", outside), penstock.Invalid, "COMM_NULL")


def a_rank_that_waits_is_told() -> None:
    told: list[tuple[str, float, threading.Thread]] = []

    def tell(what: str, seconds: float) -> None:
        told.append((what, seconds, threading.current_thread()))
        if len(told) == 1:
            raise RuntimeError("of the program")  # is printed, and nothing else

    def compute() -> None:
        while not done.is_set():
            penstock.when_waiting(tell, 0.5)  # from another thread, while this one waits

    done = threading.Event()
    other = threading.Thread(target=compute)
    sys.unraisablehook = lambda told: errors.append(str(told.exc_value))
    errors: list[str] = []
    penstock.when_waiting(tell, 0.5)
    f = penstock.create(folder / "waiting.h5", comm)
    f["a"] = np.arange(3)
    comm.Barrier()
    other.start()
    if r == n - 1:
        time.sleep(3)
    f.close()
    done.set()
    other.join()
    penstock.when_waiting(None)
    if r != n - 1:
        assert f"waiting for rank {n - 1} (of {n}) in close of" in " ".join(what for what, _, _ in told), told
        assert all(seconds >= 0.5 and thread is threading.main_thread() for _, seconds, thread in told), told
        assert errors == ["of the program"], errors
    del told[:]
    comm.Barrier()
    with penstock.open(folder / "waiting.h5", comm):
        if r == 0:
            time.sleep(1.5)
    assert not told
    caught(lambda: penstock.when_waiting(None, 0), penstock.Invalid, "give more than 0")
    text: Any = "x"
    for call in (lambda: penstock.when_waiting(None, text), lambda: penstock.set_timeout(text)):
        caught(call, TypeError, "seconds is of type str")
    caught(lambda: penstock.when_waiting(text), TypeError, "function is of type str")


everything_comes_back()
options_are_of_all_ranks()
an_error_on_one_rank_is_one_on_all()
a_caught_error_leaves_no_trace()
what_poisons_says_so()
nobody_waits_for_a_rank_whose_call_was_refused()
some_ranks_have_no_boxes()
empty_lists_have_the_type_of_the_others()
a_process_may_have_files_of_its_own_too()
another_mpi_library_is_named()
a_communicator_of_fewer_ranks_is_asked_about()
xarray_writes_by_region()
what_ranks_mean_is_the_same()
an_error_of_any_rank_is_penstocks()
a_rank_that_waits_is_told()
