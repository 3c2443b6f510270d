"""test_verify_against.py: `penstock verify --against`: errors beside a reference, against NumPy."""

import json
import math
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import penstock as library
from conftest import Penstock

FIELD = np.fromfunction(lambda i, j, k: np.sin(i / 3) + np.cos(j / 5) * (k + 0.1), (30, 40, 50))
WAVES = FIELD.astype("f4")


def write(path: Path, datasets: dict[str, Any], plan: str = "") -> Path:
    with library.create(path, plan=plan) as file:
        for name, values in datasets.items():
            file[name] = library.replicated(np.asarray(values))
    return path if path.exists() else Path(f"{path}.json")


def found(penstock: Penstock, *words: str, status: int) -> dict[str, dict[str, Any]]:
    """The datasets of one file, by name."""
    ran = penstock("verify", *words, "--json")
    assert ran.returncode == status, ran.stdout + ran.stderr
    (line,) = ran.stdout.splitlines()
    told = json.loads(line)
    assert told["agrees"] == (status == 0)
    return {one["dataset"]: one for one in told["datasets"]}


@pytest.mark.parametrize(
    ("name", "plan"),
    [
        ("b.h5", "hdf5:compression=zstd"),
        ("b.nc", "netcdf/two_phase"),
        ("b.raw", "raw/two_phase:placement=parts,parts=2"),
        ("b.h5", "hdf5/independent:placement=per_rank"),
    ],
)
def test_the_same_in_any_format(penstock: Penstock, tmp_path: Path, name: str, plan: str) -> None:
    data = {"f": FIELD, "g": WAVES, "n": np.arange(7), "none": np.zeros((0, 3)), "one": np.float64("nan")}
    one, other = write(tmp_path / "a.h5", data), write(tmp_path / name, data, plan)
    for ranks in ("1", "3"):
        ran = penstock("verify", str(other), "--against", str(one), "--np", ranks)
        assert (ran.returncode, ran.stderr) == (0, "")
        said = ran.stdout.splitlines()
        assert said[0] == f"{other} against {one}:"
        assert [line.strip() for line in said[1:-1]] == [f"'{dataset}': the same, bit by bit" for dataset in data]
        assert said[-1] == "  all bits are the same"


def test_what_rounding_does_is_measured_and_bounded(penstock: Penstock, tmp_path: Path) -> None:
    write(tmp_path / "a.h5", {"f": FIELD, "n": np.arange(100_000)})
    write(tmp_path / "b.h5", {"f": FIELD, "n": np.arange(100_000)}, "hdf5:compression=zstd,keep_bits=9")
    with h5py.File(tmp_path / "b.h5") as file:
        stored = file["f"][...]
    off = np.abs(stored - FIELD)
    told = found(penstock, "b.h5", "--against", "a.h5", "--np", "3", status=1)
    assert told["n"]["bit_equal"]
    assert told["f"]["differing"] == told["f"]["beyond"] == np.count_nonzero(off)
    assert told["f"]["first_differing"] == list(np.argwhere(off)[0])
    assert (told["f"]["largest"], told["f"]["largest_at"]) == (off.max(), list(np.argwhere(off == off.max())[0]))
    relative = off / np.abs(FIELD)
    assert told["f"]["largest_relative"] == pytest.approx(relative.max(), rel=1e-12)
    assert relative[tuple(told["f"]["largest_relative_at"])] == pytest.approx(relative.max(), rel=1e-12)
    ran = penstock("verify", "b.h5", "--against", "a.h5", "--max-relative-error", str(2**-10))
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[-1] == "  no value differs by more than 0.000976562 of the reference's values"
    ran = penstock("verify", "b.h5", "--against", "a.h5", "--max-relative-error", str(2**-11))
    beyond = np.count_nonzero(off > 2**-11 * np.abs(FIELD))
    assert ran.returncode == 1
    assert (
        ran.stdout.splitlines()[-1]
        == f"  DIFFERS: {beyond} elements by more than 0.000488281 of the reference's values"
    )
    assert penstock("verify", "b.h5", "--against", "a.h5", "--max-error", str(off.max())).returncode == 0
    assert penstock("verify", "b.h5", "--against", "a.h5", "--max-error", str(off.max() * 0.99)).returncode == 1


def test_packed_values_are_compared_unpacked(penstock: Penstock, tmp_path: Path) -> None:
    values = FIELD.copy()
    values[3, 4, 5] = math.nan
    write(tmp_path / "a.h5", {"f": values})
    with library.create(tmp_path / "b.h5") as file:
        file["f"] = library.block(values, values.shape, (0, 0, 0), dtype="i2", scale=0.01, offset=20)
    with netCDF4.Dataset(tmp_path / "c.nc", "w") as other:
        for name, extent in zip("xyz", values.shape, strict=True):
            other.createDimension(name, extent)
        packed = other.createVariable("f", "i2", ("x", "y", "z"), fill_value=-32768)
        packed.scale_factor, packed.add_offset = 0.01, 20.0
        packed[...] = np.ma.masked_array(np.nan_to_num(values), np.isnan(values))
    for name in ("b.h5", "c.nc"):
        told = found(penstock, name, "--against", "a.h5", "--max-error", "0.00501", status=0)["f"]
        assert told["types"] == ["i16", "f64"]
        assert told["packed"] == [True, False]
        assert not told["one_nan"]
        assert 0.004 < told["largest"] <= 0.00501
        assert penstock("verify", name, "--against", "a.h5", "--max-error", "0.004").returncode == 1
    ran = penstock("verify", "b.h5", "--against", "a.h5")
    assert "'f' (i16 and f64, unpacked): 5" in ran.stdout
    assert found(penstock, "b.h5", "--against", "c.nc", "--max-error", "1e-9", status=0)["f"]["packed"] == [True, True]


def test_what_differs_as_a_whole_is_named(penstock: Penstock, tmp_path: Path) -> None:
    data = {"f": [1.0, 2.0, math.nan], "mine": [1], "shape": np.zeros((2, 3)), "word": np.array([b"ab", b"c"])}
    write(tmp_path / "a.h5", data)
    write(
        tmp_path / "b.h5",
        {"f": np.array([1, math.nan, math.nan], "f4"), "shape": np.zeros((3, 2)), "theirs": [1], "word": [b"ab", b"d"]},
    )
    ran = penstock("verify", "a.h5", "--against", "b.h5", "--max-error", "10")
    assert ran.returncode == 1
    assert ran.stdout.splitlines() == [
        "a.h5 against b.h5:",
        "  'f' (f64 and f32): 1 of 3 elements differ, the first at (1); 1 are NaN in one of both only, "
        "the first at (1)",
        "  'mine' is in 'a.h5' only",
        "  'shape' is (2, 3), (3, 2) in the reference",
        "  'word': 1 of 2 elements differ, the first at (1)",
        "  'theirs' is in 'b.h5' only",
        "  DIFFERS: 2 elements by more than 10 and 3 datasets as a whole",
    ]
    assert penstock("verify", "a.h5", "--against", "b.h5", "--only", "mine").returncode == 1
    write(tmp_path / "c.h5", {"f": [1.0, 2.0, math.nan], "mine": [1.0]})
    ran = penstock("verify", "a.h5", "--against", "c.h5", "--only", "f", "--only", "mine")
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[1:] == [
        "  'f': the same, bit by bit",
        "  'mine' (i64 and f64): the same values",
        "  all values are the same",
    ]


def test_zero_in_the_reference_and_infinities(penstock: Penstock, tmp_path: Path) -> None:
    write(tmp_path / "a.h5", {"zero": [1e-20, 1], "far": [1, math.inf]})
    write(tmp_path / "b.h5", {"zero": [0.0, 1], "far": [1, 2.0]})
    told = found(penstock, "a.h5", "--against", "b.h5", "--max-error", "1", status=1)
    assert (told["zero"]["largest"], told["zero"]["largest_relative"], told["zero"]["beyond"]) == (1e-20, "inf", 0)
    assert (told["far"]["largest"], told["far"]["beyond"], told["far"]["first_beyond"]) == ("inf", 1, [1])
    ran = penstock("verify", "a.h5", "--against", "b.h5", "--max-relative-error", "0.5")
    assert "by at most 1e-20 at (0); relatively infinity at (0)" in ran.stdout


def test_several_files_have_one_reference(penstock: Penstock, tmp_path: Path) -> None:
    for name, value in (("a.h5", 1.0), ("b.h5", 1.0), ("c.h5", 2.0)):
        write(tmp_path / name, {"x": np.full(9, value)})
    ran = penstock("verify", "a.h5", "c.h5", "b.h5", "--against", "a.h5")
    assert ran.returncode == 1
    assert [line for line in ran.stdout.splitlines() if not line.startswith("  '")] == [
        "a.h5 against a.h5:",
        "  all bits are the same",
        "c.h5 against a.h5:",
        "  DIFFERS: 9 elements",
        "b.h5 against a.h5:",
        "  all bits are the same",
    ]


def test_more_than_a_window_on_each_rank(penstock: Penstock, tmp_path: Path) -> None:
    data = np.zeros((1000, 3001))
    write(tmp_path / "a.h5", {"x": data})
    data[999, 3000], data[400, 7] = 1, -2
    write(tmp_path / "b.nc", {"x": data})
    told = found(penstock, "b.nc", "--against", "a.h5", "--np", "3", status=1)["x"]
    assert (told["differing"], told["first_differing"], told["largest_at"]) == (2, [400, 7], [400, 7])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.h5", "--max-error", "1"], "--max-error is about --against"),
        (["a.h5", "--max-relative-error", "0"], "--max-relative-error is about --against"),
        (["a.h5", "--only", "x"], "--only is about --against"),
        (["a.h5", "--against", "a.h5", "--seal"], "--seal and --force cannot stand beside it"),
        (["a.h5", "--against", "nowhere.h5"], "'nowhere.h5': no such file or folder"),
        (["nowhere.h5", "--against", "a.h5"], "'nowhere.h5': no such file or folder"),
        (["a.h5", "--against", "broken.h5"], "broken.h5"),
        (["a.h5", "--against", "a.h5", "--only", "y"], "neither 'a.h5' nor 'a.h5' has a dataset 'y'"),
        (["a.h5", "--against", "a.h5", "--np", "0"], "--np must be at least 1, not 0"),
    ],
)
def test_trouble_is_status_2_and_one_line(penstock: Penstock, tmp_path: Path, words: list[str], said: str) -> None:
    whole = write(tmp_path / "a.h5", {"x": FIELD})
    (tmp_path / "broken.h5").write_bytes(whole.read_bytes()[:100])
    ran = penstock("verify", *words)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert ran.stderr.count("\n") == 1


NUMBERS = st.sampled_from([0.0, -0.0, 1.0, 1.0000001, -3.5, 1e300, math.inf, -math.inf, math.nan])


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pairs=st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=48),
    absolute=st.sampled_from([0.0, 1e-8, 2.0]),
    relative=st.sampled_from([0.0, 1e-6, 0.5]),
)
def test_bounds_are_those_of_numpy(
    penstock: Penstock, tmp_path: Path, pairs: list[tuple[float, float]], absolute: float, relative: float
) -> None:
    ours, reference = np.array(pairs).T
    write(tmp_path / "a.h5", {"x": ours})
    write(tmp_path / "b.h5", {"x": reference})
    limits = ("--max-error", str(absolute), "--max-relative-error", str(relative))
    with np.errstate(all="ignore"):
        near = np.isclose(ours, reference, rtol=0, atol=absolute, equal_nan=True)
        near |= np.isclose(ours, reference, rtol=relative, atol=0, equal_nan=True)
    told = found(penstock, "a.h5", "--against", "b.h5", "--np", "1", *limits, status=int(not near.all()))["x"]
    assert told["beyond"] == np.count_nonzero(~near)
    assert told["one_nan"] == np.count_nonzero(np.isnan(ours) != np.isnan(reference))
    assert told["bit_equal"] == (ours.tobytes() == reference.tobytes())
