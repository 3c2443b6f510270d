"""test_steps.py: series, restart files, clones and provenance as Python programs use them, alone and on ranks."""

import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import penstock
from conftest import ROOT, Counted
from test_ranks import on_ranks


def write(pattern: Path, iterations: Sequence[int], **options: object) -> None:
    with penstock.series(pattern, **options) as series:  # type: ignore[arg-type]
        for iteration in iterations:
            with series.step(iteration, iteration / 4) as f:
                f["rho"] = np.full((2, 3), float(iteration))


@pytest.mark.parametrize("ranks", [1, 3])
def test_series_on_ranks(tmp_path: Path, ranks: int) -> None:
    on_ranks(ranks, ROOT / "tests/python/ranks_steps.py", tmp_path)


@pytest.mark.parametrize("extension", ["h5", "nc", "raw"])
def test_a_run_a_restart_and_what_stays(tmp_path: Path, extension: str) -> None:
    pattern = tmp_path / f"out-*.{extension}"
    with penstock.series(pattern, steps=10, keep_last=3) as series:
        for n in range(51):
            assert series.due(n, n / 4) == series.due(n, n / 4) == (n % 10 == 0)
            if series.due(n, n / 4):
                with series.step(n, n / 4) as f:
                    assert (f.attrs["iteration"], f.attrs["time"]) == (n, n / 4)
                    f["rho"] = np.full(3, float(n))
        assert len(series) == 3
    assert repr(series) == f"<closed penstock series '{pattern}'>"
    write(pattern, [35])
    with penstock.open_series(pattern) as series:
        assert [(step.iteration, step.time) for step in series] == [(30, 7.5), (35, 8.75)]
        assert [step.iteration for step in reversed(series)] == [35, 30]
        assert series.iterations.tolist() == [30, 35]
        assert series.times.tolist() == [7.5, 8.75]
        assert series[-1] == series[1] == series[0:][1]
        assert series[-1] in series
        assert Path(series[-1].path).name.startswith("out-00000035.")
        for step in series:
            with step.open() as f:
                assert f.attrs["iteration"] == step.iteration
                assert (f["rho"][...] == step.iteration).all()
        with pytest.raises(IndexError, match=r"step 2: .* has 2 steps"):
            series[2]
        with pytest.raises(penstock.Invalid, match="opened to read"):
            series.step(40, 10.0)


def test_every_rule_and_option_arrives(tmp_path: Path) -> None:
    def due(**rules: object) -> list[int]:
        with penstock.series(tmp_path / "due-*.h5", **rules) as series:  # type: ignore[arg-type]
            return [n for n in range(9) if series.due(n, n * 0.1)]

    assert due() == list(range(9))
    assert due(steps=np.int32(4)) == [0, 4, 8]
    assert due(times=np.float32(0.5)) == [0, 5]
    assert due(at=[0.7, 0.1]) == [1, 7]
    assert due(at=(0.3,), steps=5) == [0, 3, 5]
    assert due(seconds=100000) == []
    assert due(io_budget="10%") == due(io_budget=0.1) == list(range(9))
    write(tmp_path / "keep-*.h5", range(7), keep_last=1, keep_every=3, xdmf=True, plan="hdf5/independent")
    assert penstock.open_series(tmp_path / "keep-*.h5").iterations.tolist() == [0, 3, 6]
    assert (tmp_path / "keep.xmf").read_text().count("<Time") == 3


def test_what_cannot_be_is_one_clear_error(tmp_path: Path) -> None:
    pattern = tmp_path / "out-*.h5"
    with pytest.raises(FileNotFoundError, match="has no step"):
        penstock.open_series(pattern)
    with pytest.raises(ValueError, match=r"run/out-\*\.h5"):
        penstock.series(tmp_path / "out.h5")
    for wrong, kind, words in (
        ({"steps": 1.5}, TypeError, "steps is of type float: it must be a whole number"),
        ({"times": "1"}, TypeError, "times is of type str"),
        ({"at": []}, ValueError, "at has no times"),
        ({"io_budget": 3}, ValueError, "10%"),
        ({"keep_last": -1}, ValueError, "keep_last"),
        ({"steps": 2**70}, ValueError, "64 bits"),
        ({"plan": 3}, TypeError, "plan is of type int"),
    ):
        with pytest.raises(kind, match=words):
            penstock.series(pattern, **wrong)
    with pytest.raises(TypeError, match="unexpected keyword argument 'every'"):
        penstock.series(pattern, every=3)  # type: ignore[call-arg]
    with penstock.series(pattern) as series:
        with pytest.raises(TypeError, match="iteration is of type float"):
            series.due(1.0, 0.0)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="time is of type str"):
            series.step(1, "0")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="-1"):
            series.step(-1, 0.0)
        with pytest.raises(ValueError, match="finite"):
            series.step(1, float("nan"))
        with pytest.raises(ZeroDivisionError), series.step(1, 0.0) as f:
            f["rho"] = np.zeros(3 // 0)
        assert len(series) == 0
    with pytest.raises(ValueError, match="the series is closed"):
        series.due(1, 0.0)
    assert not list(tmp_path.iterdir())


def test_opening_one_by_one_makes_no_list_of_all(tmp_path: Path) -> None:
    write(tmp_path / "out-*.h5", range(0, 70, 7))
    with penstock.open_series(tmp_path / "out-*.h5") as series:
        counted = series._open = Counted(series._open)
        for i in range(len(series)):
            assert series[i].iteration == series[i - len(series)].iteration == 7 * i
            with series[i].open() as f:
                assert f["rho"][0, 0] == 7 * i
        assert counted.calls["steps"] == 0
        assert counted.calls["at"] < 200
        with pytest.raises(IndexError, match="has 10 steps"):
            _ = series[10]
        assert [step.iteration for step in series[1:3]] == [7, 14]


def test_a_step_that_is_gone_says_so(tmp_path: Path) -> None:
    with penstock.series(tmp_path / "out-*.h5", keep_last=1) as series:
        with series.step(1, 0.0) as f:
            f["a"] = np.zeros(1)
        first = series[0]
        with series.step(2, 1.0) as f:
            f["a"] = np.zeros(1)
        with pytest.raises(FileNotFoundError, match=r"step 1 of series .* is no longer there"):
            first.open()
        with pytest.raises(TypeError, match="plan is of type int"):
            series[-1].open(3)  # type: ignore[arg-type]


def test_files_that_are_no_steps_are_warnings(tmp_path: Path) -> None:
    pattern = tmp_path / "out-*.h5"
    with penstock.create(tmp_path / "out-00000007.h5") as f:
        f["a"] = np.zeros(1)
    with pytest.warns(UserWarning, match=r"out-00000007\.h5") as seen:
        series = penstock.series(pattern)
    assert series.warnings == [str(one.message) for one in seen]
    assert [one.filename for one in seen] == [__file__]
    (tmp_path / "out-00000007.h5").unlink()
    write(pattern, [1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert penstock.open_series(pattern).warnings == []


def test_a_step_outlives_its_series_and_threads_take_turns(tmp_path: Path) -> None:
    series = penstock.series(tmp_path / "out-*.h5")
    f = series.step(3, 1.0)
    series.close()
    f["a"] = np.arange(4)
    f.commit_start()
    f.commit_wait()
    f.close()
    errors = []

    def look() -> None:
        for _ in range(200):
            try:
                with penstock.open_series(tmp_path / "out-*.h5") as mine, mine[0].open() as step:
                    assert step["a"][...].tolist() == [0, 1, 2, 3]
            except Exception as error:
                errors.append(error)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_a_clone_becomes_the_newest_restart_file(tmp_path: Path) -> None:
    with penstock.create(tmp_path / "template.h5") as f:
        f["grid"] = np.arange(4.0)
        f.attrs["title"] = "constant"
    for step in range(1, 6):
        with penstock.clone(tmp_path / "template.h5", tmp_path / "uncommitted.h5") as f:
            assert f.attrs["title"] == "constant"
            f["u"] = np.full(3, step)
            f.close_restart(tmp_path / "restart#.h5", retain=3)
        names = sorted(path.name for path in tmp_path.glob("*.h5"))
        assert names == [*(f"restart{k}.h5" for k in range(min(step, 3))), "template.h5"]
    for k in range(3):
        with penstock.open(tmp_path / f"restart{k}.h5") as f:
            assert f["grid"][...].tolist() == [0, 1, 2, 3]
            assert f["u"][...].tolist() == [5 - k] * 3
    with penstock.open_latest(tmp_path / "restart*.h5") as f:
        assert f.path.endswith("restart0.h5")


def test_wrong_restart_files_leave_all_as_it_was(tmp_path: Path) -> None:
    for pattern, retain, kind, words in (
        ("restart.h5", 3, ValueError, "'#'"),
        ("restart#.h5", 0, ValueError, "at least 1"),
        ("restart#.h5", 1.5, TypeError, "retain is of type float"),
        (None, 3, TypeError, "pattern is of type NoneType"),
    ):
        f = penstock.create(tmp_path / "x.h5")
        f["u"] = np.zeros(3)
        with pytest.raises(kind, match=words):
            f.close_restart(pattern and tmp_path / pattern, retain)  # type: ignore[arg-type]
        f.abandon()
    with pytest.raises(FileNotFoundError, match=r"absent\.h5"):
        penstock.clone(tmp_path / "absent.h5", tmp_path / "x.h5")
    with pytest.raises(TypeError, match="template is of type int"):
        penstock.clone(3, tmp_path / "x.h5")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("extension", ["h5", "nc", "raw"])
def test_provenance_comes_back(tmp_path: Path, extension: str) -> None:
    path, text = tmp_path / f"p.{extension}", "input\n" * 20000
    with penstock.create(path) as f:
        f["rho"] = np.zeros(3)
        f.provenance("code", "solver 1.0 ü")
        f.provenance("input", text)
        f.collect_provenance()
    with penstock.open(path) as f:
        of = f.attributes("provenance")
        assert of["code"] == "solver 1.0 ü"
        assert {"user", "host", "date", "machine", "directory", "command_line", "penstock", "hdf5"} <= set(of)
        assert "python" in of["command_line"]
        assert f["provenance/input"][...].tobytes().decode() == text
    if extension == "h5":
        with h5py.File(path) as h:
            assert h["provenance"].attrs["code"] == "solver 1.0 ü".encode()


@pytest.mark.parametrize(
    ("key", "text", "kind"), [("a/b", "text", ValueError), ("a", b"bytes", TypeError), ("a", "\0", ValueError)]
)
def test_a_wrong_provenance_publishes_nothing_unless_it_is_caught(
    tmp_path: Path, key: str, text: Any, kind: type[Exception]
) -> None:
    with pytest.raises(kind, match="provenance"), penstock.create(tmp_path / "p.h5") as f:
        f.provenance(key, text)
    assert not list(tmp_path.iterdir())
    with penstock.create(tmp_path / "p.h5") as f:
        f["rho"] = np.zeros(3)
        with pytest.raises(kind, match="provenance"):
            f.provenance(key, text)
        f.provenance("a", "text")
    with penstock.open(tmp_path / "p.h5") as f:
        assert list(f) == ["rho"]
        assert dict(f.attributes("provenance")) == {"a": "text"}


def test_closing_a_step_keeps_other_threads_out_of_its_series(tmp_path: Path) -> None:
    with penstock.series(tmp_path / "out-*.h5") as series:
        f = series.step(1, 0.0)
        f["a"] = np.ones(16 << 20)
        closing = threading.Thread(target=f.close)
        closing.start()
        refused = set()
        while closing.is_alive():
            try:
                assert len(series) <= 1
            except penstock.Invalid as error:
                refused.add(str(error))
        closing.join()
        assert refused == {"another thread is using the series: one at a time"}
        assert series.iterations.tolist() == [1]
