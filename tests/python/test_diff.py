"""test_diff.py: `penstock diff` against NumPy and h5diff."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import penstock as library
from conftest import Penstock


def write(path: Path, datasets: dict[str, Any], plan: str = "", **attributes: Any) -> Path:
    with library.create(path, plan=plan) as file:
        for name, values in datasets.items():
            file[name] = library.replicated(np.asarray(values))
        for name, value in attributes.items():
            file.attrs[name] = value
    return path


def lines(penstock: Penstock, *words: str, status: int) -> list[dict[str, Any]]:
    ran = penstock("diff", *words, "--json")
    assert ran.returncode == status, ran.stdout + ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


FIELD = np.arange(60, dtype=float).reshape(3, 4, 5)


def test_the_same_in_any_format_and_placement(penstock: Penstock, tmp_path: Path) -> None:
    data = {"a/b": FIELD, "n": np.int32(7), "none": np.zeros((0, 3)), "word": np.array([b"xyz", b"a"]), "z": FIELD * 1j}
    one = write(tmp_path / "a.h5", data, title="t", list=np.array([1.5, 2]))
    for name, plan in {
        "b.nc": "netcdf/two_phase",
        "c.raw": "raw/two_phase:placement=parts,parts=2",
        "d.h5": "hdf5/independent:placement=per_rank",
    }.items():
        other = write(tmp_path / name, data, plan, title="t", list=np.array([1.5, 2]))
        other = other if other.exists() else tmp_path / f"{name}.json"
        for np_ in ("1", "3", "4"):
            ran = penstock("diff", str(one), str(other), "--np", np_)
            assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_what_differs_is_named(penstock: Penstock, tmp_path: Path) -> None:
    changed = FIELD.copy()
    changed[1, 2, 3] += 0.5
    changed[2, 0, 1] -= 2
    one = write(
        tmp_path / "a.h5", {"f": FIELD, "mine": [1], "shape": np.zeros((2, 3)), "t": np.float64(0.5)}, title="t", x=1
    )
    two = write(
        tmp_path / "b.h5", {"f": changed, "theirs": [1], "shape": np.zeros((3, 2)), "t": np.float32(0.5)}, title="u"
    )
    found = lines(penstock, str(one), str(two), "--np", "3", status=1)
    assert found == [
        {
            "dataset": "f",
            "elements": 60,
            "differing": 2,
            "first": [1, 2, 3],
            "largest": 2.0,
            "largest_at": [2, 0, 1],
            "largest_relative": pytest.approx(2 / 39),
        },
        {"dataset": "mine", "only_in": "a"},
        {"dataset": "shape", "shapes": ["(2, 3)", "(3, 2)"]},
        {"dataset": "t", "elements": 1, "differing": 0, "types": ["f64", "f32"]},
        {"dataset": "theirs", "only_in": "b"},
        {"attribute": "title", "of": "", "values": ["'t'", "'u'"]},
        {"attribute": "x", "of": "", "only_in": "a"},
    ]
    said = penstock("diff", str(one), str(two)).stdout.splitlines()
    assert said == [
        "'f': 2 of 60 elements differ, the first at (1, 2, 3); most by 2 at (2, 0, 1), relatively by 0.0513",
        f"'mine' is in '{one}' only",
        f"'shape' is (2, 3) in '{one}', (3, 2) in '{two}'",
        "'t': the same values (f64 and f32)",
        f"'theirs' is in '{two}' only",
        f"attribute 'title' of the file is 't' in '{one}', 'u' in '{two}'",
        f"attribute 'x' of the file is in '{one}' only",
    ]
    assert penstock("diff", str(one), str(two), "--only", "f", "--atol", "2").returncode == 0
    assert penstock("diff", str(one), str(two), "--only", "f", "--atol", "1.9").returncode == 1
    ran = penstock("diff", str(one), str(two), "-q")
    assert (ran.returncode, ran.stdout) == (1, "")
    ran = penstock("diff", str(one), str(two), "--only", "nothing")
    assert ran.returncode == 2
    assert f"neither '{one}' nor '{two}' has a dataset 'nothing'" in ran.stderr


def test_attributes_that_differ_are_shown(penstock: Penstock, tmp_path: Path) -> None:
    long = np.arange(100)
    same: dict[str, Any] = {"a": np.int32(3), "b": np.array([0.5, 1.5]), "c": "text"}
    write(tmp_path / "a.h5", {"f": [1]}, **same, d=0.1, e=[1, 2], g=np.int32(1), h=[1.0], i=long, j=1, k="z" * 70 + "a")
    long = np.where(long == 42, -1, long)
    write(
        tmp_path / "b.h5",
        {"f": [1]},
        a=np.int64(3),
        b=np.array([0.5, 1.5], "f4"),
        c="text",
        d=0.1 + 2**-56,
        e=[1, 3],
        g=1.5,
        h=1.0,
        i=long,
        j="1",
        k="z" * 70 + "b",
    )
    ran = penstock("diff", "a.h5", "b.h5")
    assert ran.returncode == 1
    assert ran.stdout.splitlines() == [
        "attribute 'a' of the file: the same value (i32 and i64)",
        "attribute 'b' of the file: the same value (f64 and f32)",
        f"attribute 'd' of the file is 0.1 in 'a.h5', {0.1 + 2**-56} in 'b.h5'",
        "attribute 'e' of the file is [1, 2] in 'a.h5', [1, 3] in 'b.h5'",
        "attribute 'g' of the file is i32 1 in 'a.h5', f64 1.5 in 'b.h5'",
        "attribute 'h' of the file is (1) [1] in 'a.h5', () 1 in 'b.h5'",
        "attribute 'i' of the file is 42 at (42) in 'a.h5', -1 at (42) in 'b.h5'",
        "attribute 'j' of the file is i64 1 in 'a.h5', text[1] '1' in 'b.h5'",
        f"attribute 'k' of the file is '...{'z' * 20}a' in 'a.h5', '...{'z' * 20}b' in 'b.h5'",
    ]
    write(tmp_path / "c.h5", {"f": [1]}, a=np.int32(3))
    write(tmp_path / "d.h5", {"f": [1]}, a=3.0)
    assert lines(penstock, "c.h5", "d.h5", status=0)[-1] == {"attribute": "a", "of": "", "types": ["i32", "f64"]}


def test_trouble_is_status_2_and_one_line(penstock: Penstock, tmp_path: Path) -> None:
    one = write(tmp_path / "a.h5", {"f": FIELD})
    (tmp_path / "broken.h5").write_bytes(one.read_bytes()[:100])
    for other in ("nowhere.h5", "broken.h5"):
        ran = penstock("diff", str(one), other)
        assert ran.returncode == 2
        assert ran.stderr.count("\n") == 1
        assert other in ran.stderr


def test_as_h5diff_finds(penstock: Penstock, tmp_path: Path) -> None:
    h5diff = shutil.which("h5diff")
    if h5diff is None:
        pytest.skip("no h5diff: Debian's hdf5-tools has it")
    random = np.random.default_rng(5)
    a, b = random.integers(0, 3, (50, 40)), random.integers(0, 3, (50, 40))
    for name, values in (("a.h5", a), ("b.h5", b)):
        with h5py.File(tmp_path / name, "w") as file:
            file.create_dataset("x", data=values, chunks=(7, 9), compression="gzip")
    (found,) = lines(penstock, "a.h5", "b.h5", status=1)
    said = subprocess.run([h5diff, "a.h5", "b.h5"], cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    assert f"{found['differing']} differences found" in said


NUMBERS = st.sampled_from([0.0, -0.0, 1.0, 1.0000001, -3.5, 1e300, float("inf"), float("-inf"), float("nan")])


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pairs=st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=48),
    rtol=st.sampled_from([0.0, 1e-6, 0.5]),
    atol=st.sampled_from([0.0, 1e-8, 2.0]),
    nan_differs=st.booleans(),
)
def test_tolerance_is_that_of_numpy(
    penstock: Penstock,
    tmp_path: Path,
    pairs: list[tuple[float, float]],
    rtol: float,
    atol: float,
    nan_differs: bool,
) -> None:
    a, b = np.array(pairs).T
    write(tmp_path / "a.h5", {"x": a})
    write(tmp_path / "b.h5", {"x": b})
    words = ["a.h5", "b.h5", "--rtol", str(rtol), "--atol", str(atol), "--np", "1"] + ["--nan-differs"] * nan_differs
    with np.errstate(all="ignore"):
        wrong = ~np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=not nan_differs)
    (found,) = lines(penstock, *words, status=int(wrong.any()))
    assert found["differing"] == wrong.sum()
    if wrong.any():
        assert found["first"] == [int(np.argmax(wrong))]


def test_more_than_a_window_on_each_rank(penstock: Penstock, tmp_path: Path) -> None:
    data = np.zeros((1000, 3001))
    write(tmp_path / "a.h5", {"x": data})
    data[999, 3000] = 1
    data[400, 7] = -2
    write(tmp_path / "b.nc", {"x": data})
    (found,) = lines(penstock, "a.h5", "b.nc", "--np", "3", status=1)
    assert (found["differing"], found["first"], found["largest_at"]) == (2, [400, 7], [400, 7])


@pytest.mark.parametrize("differing", [False, True])
def test_what_cannot_be_read_is_not_the_same(penstock: Penstock, tmp_path: Path, differing: bool) -> None:
    pair = np.dtype([("a", "i4"), ("b", "f8")])
    for name in ("a.h5", "b.h5"):
        with h5py.File(tmp_path / name, "w") as file:
            file["x"] = np.arange(4.0) + (differing and name == "b.h5")
            file["pairs"] = np.ones(2, pair) if name == "a.h5" else np.zeros(2, pair)
    found = lines(penstock, "a.h5", "b.h5", status=1 if differing else 2)
    assert [line["in"] for line in found if "pairs" in line.get("not_compared", "")] == ["a", "b"]
    ran = penstock("diff", "a.h5", "b.h5")
    assert "not compared, in 'a.h5': 'pairs' is a dataset" in ran.stdout
    assert differing or "some objects cannot be read" in ran.stderr
    assert len(lines(penstock, "a.h5", "b.h5", "--only", "x", status=int(differing))) == 1
