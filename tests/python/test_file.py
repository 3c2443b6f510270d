"""test_file.py: files and datasets as Python programs use them, on one process."""

import os
import resource
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import h5py
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import penstock
from conftest import BUILD, ROOT, Counted, extension
from penstock.api.selection import select
from test_elements import Colour, Level

DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16", "S5"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("extension", ["h5", "nc", "raw"])
def test_every_dtype_comes_back(tmp_path: Path, dtype: str, extension: str) -> None:
    data = np.arange(12).reshape(3, 4).astype(dtype)
    path = tmp_path / f"a.{extension}"
    with penstock.create(path) as f:
        f["a"] = data
        f["big"] = data.astype(data.dtype.newbyteorder(">"))
        f["fortran"] = np.asfortranarray(data)
        f["strided"] = data[::2, ::-1]
    with penstock.open(path) as f:
        assert f["a"].dtype == data.dtype
        for name, expected in {"a": data, "big": data, "fortran": data, "strided": data[::2, ::-1]}.items():
            np.testing.assert_array_equal(f[name][...], expected)


def test_other_tools_see_it(tmp_path: Path) -> None:
    path = tmp_path / "heat.h5"
    whole = np.arange(20.0).reshape(4, 5)
    with penstock.create(path) as f:
        f["fluid/t"] = penstock.block(whole[:3], shape=(4, 5), start=(0, 0), units="K", comment="warm")
        f["fluid/t"] = penstock.boxes([whole[3:, :2], whole[3:, 2:]], (4, 5), [(3, 0), (3, 2)])
        f["runs"] = penstock.runs(np.arange(4, dtype="i4"), (2, 2), offsets=[2, 0], lengths=[2, 2])
        f.attrs["steps"] = [1, 2]
        f.attrs["cell"] = np.eye(3)
        f.attrs["names"] = [["x", "y"], ["z", ""]]
    with h5py.File(path) as h:
        np.testing.assert_array_equal(h.attrs["cell"], np.eye(3))
        np.testing.assert_array_equal(h["fluid/t"][...], whole)
        assert h["fluid/t"].attrs["units"] == b"K"
        np.testing.assert_array_equal(h["runs"][...], [[2, 3], [0, 1]])
    with penstock.open(path) as f:
        assert list(f) == ["fluid/t", "runs"]
        assert dict(f["fluid/t"].attrs) == {"units": "K", "comment": "warm"}
        assert f.attrs["steps"].tolist() == [1, 2]
        np.testing.assert_array_equal(f.attrs["cell"], np.eye(3))
        assert f.attrs["names"] == [["x", "y"], ["z", ""]]


KEYS = hnp.basic_indices((5, 7, 6), allow_newaxis=False, allow_ellipsis=True)


def test_the_page_about_raw_files_reads_what_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run").mkdir()
    data = np.arange(12.0).reshape(3, 4)
    with penstock.create("run/heat.raw") as f:
        f["temperature"] = data
    page = (ROOT / "docs/formats/raw.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(page.split("```python\n")[1].split("```")[0], names)  # noqa: S102
    np.testing.assert_array_equal(names["temperature"], data)


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("cube") / "cube.h5"
    data = np.arange(210).reshape(5, 7, 6)
    with penstock.create(path) as f:
        f["cube"] = data
    with penstock.open(path) as f:
        yield data, f["cube"]


@given(key=KEYS)
def test_slices_are_numpys(cube: Any, key: Any) -> None:
    data, dataset = cube
    np.testing.assert_array_equal(dataset[key], data[key], strict=True)


@given(keys=st.tuples(*(st.lists(st.integers(-n, n - 1), max_size=4) for n in (5, 7, 6))))
def test_lists_in_each_dimension_are_an_outer_index(cube: Any, keys: Any) -> None:
    data, dataset = cube
    expected = data[np.ix_(*(np.array(key, dtype=int) for key in keys))]
    np.testing.assert_array_equal(dataset.outer(*keys), expected, strict=True)


def test_sparse_indices_are_boxes_of_their_own(cube: Any) -> None:
    data = cube[0]
    selection = select((slice(None), [0, 6], slice(None)), data.shape)
    assert selection.one_box  # dense enough
    long = np.arange(300)
    assert not select(([0, 299],), long.shape).one_box


@pytest.mark.parametrize(
    ("key", "error", "words"),
    [
        (5, IndexError, "dimension 0, which has 5"),
        ((0, 0, 0, 0), IndexError, "4 indices for a dataset of 3"),
        (None, TypeError, "newaxis"),
        (True, TypeError, "True and False"),
        (1.5, TypeError, "whole numbers"),
        (([0], [1]), TypeError, "more than one list"),
    ],
)
def test_a_wrong_index_is_one_clear_error(cube: Any, key: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        cube[1][key]


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (np.array([None]), TypeError, "numeric dtype"),
        ([Colour.red, Level.low], TypeError, "members of one Enum"),
        ([[1, 2], [3]], ValueError, "'x': rows of different lengths .*np.concatenate"),
        (penstock.block(np.zeros((2, 2)), (2, 2), (0, 0), dims="y"), ValueError, "2 dimensions, dims=.* names 1"),
        (penstock.block(np.zeros(3), 3, 0, dims="a b"), ValueError, "cannot be called 'a b'"),
        (penstock.block(np.zeros(3), (2, 2), (0, 0)), ValueError, "1 dimensions"),
        (penstock.block(np.zeros((3, 3)), (2, 2), (0, 0)), ValueError, "leaves|outside|beyond"),
        (penstock.block(np.zeros((1, 2)), (2, 2), (0, 0)), penstock.Incomplete, "x"),
    ],
)
def test_a_wrong_put_is_one_clear_error_and_leaves_nothing(
    tmp_path: Path, value: Any, error: type[Exception], words: str
) -> None:
    path = tmp_path / "x.h5"
    with pytest.raises(error, match=words), penstock.create(path) as f:
        f["x"] = value
    assert list(tmp_path.iterdir()) == []


def test_a_caught_error_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with penstock.create(path) as f:
        f["a"] = np.arange(3.0)
        with pytest.raises(TypeError, match="dtype object"):
            f["b"] = np.array([None])
        with pytest.raises(TypeError, match="bad"):
            f["b"] = penstock.replicated(1, bad={})
        with pytest.raises(ValueError, match=r"leaves|outside|beyond"):
            f["b"] = penstock.block(np.zeros(3), 2, 0)
        with pytest.raises(TypeError, match="object"):
            f.attrs["a"] = object()
        with pytest.raises(penstock.Error, match="name"):
            f["b//c"] = 1
        with pytest.raises(penstock.Error, match="convention"):
            f.conventions("nothing")
        f.capture_bytes(8)
        with pytest.raises(penstock.OutOfMemory):
            f["b"] = np.zeros(2)
    with penstock.open(path) as f:
        later = f["a"].get()
        with pytest.raises(IndexError):
            f["a"][3]
        with pytest.raises(IndexError):
            f["a"].get(3)
        with pytest.raises(ValueError, match="read-only"):
            f["a"].read_into(np.frombuffer(bytes(24)))
        assert list(f) == ["a"]
        assert f["a"][1] == 1
        assert later.tolist() == [0, 1, 2]


def test_what_poisons_says_so(tmp_path: Path) -> None:
    f = penstock.create(tmp_path / "x.h5")
    f["a"] = penstock.block(np.zeros(1), 2, 0)
    with pytest.raises(penstock.Incomplete, match="after this the file can only be closed"):
        f.commit()
    with pytest.raises(penstock.Incomplete, match="'a'"):
        f.close()
    s = penstock.create_stream(tmp_path / "s")
    with pytest.raises(TypeError, match="encode it"):
        s.write("text")
    s.write(b"bytes")
    s.close()
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_an_error_names_the_users_file_not_the_hidden_one(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    path = tmp_path / "a.h5"
    stream = penstock.create_stream(tmp_path / "s")
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
        with pytest.raises(penstock.Error) as of_file, penstock.create(path) as f:
            f["a"] = np.zeros(1 << 20)
        with pytest.raises(penstock.Error) as of_stream, stream:
            stream.write(bytes(64 << 20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    for name, error in (("a.h5", of_file), ("s", of_stream)):
        assert f"{tmp_path}/{name}'" in str(error.value)
        assert "partial" not in str(error.value)


def test_errors_are_pythons_too(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"absent\.h5"):
        penstock.open(tmp_path / "absent.h5")
    (tmp_path / "a.h5").write_bytes(b"nothing")
    with pytest.raises(penstock.Error):
        penstock.open(tmp_path / "a.h5")
    with pytest.raises(TypeError, match="mpi4py"):
        penstock.create(tmp_path / "b.h5", comm=7)  # type: ignore[arg-type]
    with penstock.create(tmp_path / "c.h5") as f:
        f["c"] = 1.0
    with penstock.open(tmp_path / "c.h5") as f, pytest.raises(KeyError, match="no dataset 'd'; there are: 'c'"):
        f["d"]
    with pytest.raises(ValueError, match="closed"):
        f["c"]


def test_an_exception_publishes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with penstock.create(path) as f:
        f["a"] = np.zeros(3)

    def fails() -> None:
        with penstock.create(path) as f:
            f["a"] = np.ones(3)
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        fails()
    with penstock.open(path) as f:
        assert f["a"][...].tolist() == [0, 0, 0]


class Name(str):
    """A name that counts the names it is compared with."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)


def test_reading_one_by_one_goes_through_all_names_once(tmp_path: Path) -> None:
    path = tmp_path / "many.h5"
    with penstock.create(path) as f:
        for i in range(100):
            f[f"d{i:03}"] = np.float64(i)
    with penstock.reopen(path) as f:
        counted = f._open = Counted(f._open)
        Name.compared = 0
        for i in range(100):
            assert f[Name(f"d{i:03}")][...] == i
            assert Name(f"d{i:03}") in f
        assert counted.calls["datasets"] == 1
        assert Name.compared <= 1000
        f["new"] = np.ones(3)
        f.commit()
        assert f["new"].shape == (3,)
        assert counted.calls["datasets"] == 2


def test_deferred_gets_lend_and_commit_in_steps(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    f = penstock.create(path)
    f.lend("a", np.arange(6.0).reshape(2, 3))
    f.unlimited("a")
    f.commit_start()
    while not f.commit_test():
        pass
    f.commit_wait()
    f.close()
    f.close()
    with penstock.reopen(path) as f:
        f["b"] = np.float32(2)
    with penstock.open(path) as f:
        assert f["a"].is_unlimited
        row, single = f["a"].get(1), f["b"].get()
        f.commit()
        assert row.tolist() == [3, 4, 5]
        assert single == 2
        out = np.zeros((4, 6))
        f["a"].read_into(out[1:3, ::2])
        np.testing.assert_array_equal(out[1:3, ::2], np.arange(6).reshape(2, 3))
        with pytest.raises(TypeError, match="float64"):
            f["a"].read_into(np.zeros((2, 3), "f4"))
        constant = np.zeros((2, 3))
        constant.flags.writeable = False
        with pytest.raises((BufferError, ValueError), match="read-only"):
            f["a"].read_into(constant)
        assert not constant.any()
    penstock.verify(path)
    penstock.copy(path, tmp_path / "a.nc")
    with penstock.open_latest(tmp_path / "a.n*") as f:
        assert f.path.endswith("a.nc")


def test_what_the_extension_refuses_leaves_no_trace(tmp_path: Path) -> None:
    f = penstock.create(tmp_path / "a.h5")
    f["a"] = np.arange(6.0)
    part = f._library.block([6], [0], [6])
    with pytest.raises(penstock.Invalid, match="3 elements for a part of 6"):
        f._open.put("b", "f64", part, np.zeros(3), False)
    f.close()
    with penstock.open(tmp_path / "a.h5") as f:
        assert list(f) == ["a"]


def test_streams_are_files(tmp_path: Path) -> None:
    with penstock.create_stream(tmp_path / "log") as s:
        s.write(b"one")
        s.write(np.arange(3, dtype="u1"))
    with penstock.open_stream(tmp_path / "log", rank=0) as r:
        assert r.ranks == 1
        assert r.read(2) == b"on"
        assert r.read() == b"e\0\1\2"
        assert r.seek(-1, 2) == 5
        assert r.read() == b"\2"


@pytest.mark.parametrize("name", [b"a.h5", b"\xe9.h5"])
def test_paths_are_what_python_takes_for_paths(tmp_path: Path, name: bytes) -> None:
    for path in (os.fsencode(tmp_path) + b"/" + name, os.fsdecode(os.fsencode(tmp_path) + b"/s" + name)):
        with penstock.create(path) as f:
            f["a"] = np.arange(3)
        with penstock.open(path) as f:
            assert f.path == os.fsdecode(path)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_path_or_plan_that_is_none_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has a NUL"):
        penstock.create(f"{tmp_path}/a\0.h5")
    with pytest.raises(TypeError, match="path is of type NoneType"):
        penstock.open(None)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="plan is of type int"):
        penstock.create(tmp_path / "a.h5", plan=3)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_no_utf8_hide_nothing(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "latin.h5", "w") as h:
        h[b"\xe9"], h["fine"] = [1.0], [2.0]
        h.attrs["by"] = np.bytes_(b"Andr\xe9")
    with penstock.open(tmp_path / "latin.h5") as f:
        assert sorted(map(os.fsencode, f)) == [b"fine", b"\xe9"]
        assert [f[name][0] for name in f] == [2.0, 1.0]
        assert os.fsencode(f.attrs["by"]) == b"Andr\xe9"
        with pytest.raises(KeyError, match="no dataset 'x'"):
            f["x"]


@given(key=KEYS)
def test_assigning_is_numpys(key: Any) -> None:
    data = np.arange(210).reshape(5, 7, 6)
    expected, found = np.zeros_like(data), np.zeros_like(data)
    expected[key] = data[key]
    for start, piece in select(key, data.shape).pieces(data[key]):
        found[tuple(slice(at, at + n) for at, n in zip(start, piece.shape, strict=True))] = piece
    np.testing.assert_array_equal(found, expected)


def test_a_second_thread_gets_an_error(tmp_path: Path) -> None:
    with penstock.create(tmp_path / "a.h5") as f:
        f["a"] = np.zeros(1_000_000)
    f = penstock.reopen(tmp_path / "a.h5")
    errors: list[str] = []
    over = threading.Event()

    def ask() -> None:
        while not over.is_set() and not errors:
            try:
                len(f.attrs)
            except penstock.Invalid as error:
                errors.append(str(error))

    other = threading.Thread(target=ask)
    other.start()
    for _ in range(1000):
        if errors:
            break
        f["a"] = np.ones(1_000_000)
        f.commit()
    over.set()
    other.join()
    f.close()
    assert errors == ["another thread is using the file: one at a time"]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: penstock.block(np.zeros(3), 2**70, 0), ValueError, "no number of 64 bits"),
        (
            lambda: penstock.block(np.zeros(3), 5, 1.5),  # type: ignore[arg-type]
            TypeError,
            "start must be whole numbers",
        ),
        (lambda: penstock.runs(np.zeros(3), 5, [0], [1, 2]), ValueError, "1 offsets and 2 lengths"),
        (lambda: penstock.boxes([], 5, []), TypeError, "say dtype="),
        (lambda: penstock.boxes([np.zeros(2)], 5, []), ValueError, "1 arrays and 0 starts"),
    ],
)
def test_a_part_that_cannot_be_is_one_clear_error(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()


def test_the_report_says_where_the_time_went(tmp_path: Path) -> None:
    f = penstock.create(tmp_path / "a.h5", plan="hdf5/independent")
    f["a"] = np.zeros(1000)
    f.commit()
    assert f.report["bytes"] == 8000
    assert f.report["plan"].startswith("hdf5/independent")
    assert set(f.report["phases"]) == {"define", "pack", "exchange", "write", "sync", "commit", "read"}
    assert sum(f.report["phases"].values()) > 0
    f.close()


ALONE = """
import sys, numpy as np, penstock
from penstock.api import native
library = native.alone()
assert library.__name__.endswith(sys.argv[2]), library
with penstock.create(sys.argv[1]) as f:
    f["a"] = np.arange(6.0).reshape(2, 3)
with penstock.open(sys.argv[1]) as f:
    assert f["a"][1, ::2].tolist() == [3, 5]
assert "mpi4py" not in sys.modules
"""


@pytest.mark.parametrize(("module", "folder"), [("_mpi", "lib/python"), ("_serial", "serial/lib/python")])
def test_each_extension_works_alone(tmp_path: Path, module: str, folder: str) -> None:
    extension(folder, module)
    third = [path for path in sys.path if "site-packages" in path]
    paths = os.pathsep.join([str(ROOT / "tools"), str(BUILD / folder), *third])
    # -S: without the environment's .pth, which names the extensions of all builds
    command = [sys.executable, "-S", "-c", ALONE, str(tmp_path / "a.h5"), module]
    environment = os.environ | {"PYTHONPATH": paths}
    if module == "_serial":  # the serial build is under sanitizers, whose library must come first
        asked = [shutil.which("gcc") or "gcc", "-print-file-name=libasan.so"]
        found = subprocess.run(asked, capture_output=True, text=True, check=True)
        environment |= {"LD_PRELOAD": found.stdout.strip(), "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
