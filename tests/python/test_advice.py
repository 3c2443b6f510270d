"""test_advice.py: what a record is said to mean."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import line, ratio, write_record
from penstock.base.errors import UserError
from penstock.measure.report.advice import advice, failures, is_portable
from penstock.measure.report.results import Line, Record, read_record

BASE = line("raw/per_process", 1.0)


def advise(tmp_path: Path, *lines: dict[str, Any]) -> str:
    return " ".join(advice(read_record(write_record(tmp_path / "record.json", *lines))))


def test_a_faster_portable_file_is_advised_with_its_factor(tmp_path: Path) -> None:
    said = advise(tmp_path, BASE, line("hdf5/two_phase", 0.5, ratio=ratio(0.5, 0.4, 0.6, "faster")))
    assert "use hdf5/two_phase: 2.00 times as fast as raw/per_process (95 % interval 1.67 to 2.50)" in said


def test_where_the_interval_covers_one_no_difference_is_claimed(tmp_path: Path) -> None:
    said = advise(tmp_path, BASE, line("hdf5/two_phase", 0.98, ratio=ratio(0.98, 0.9, 1.1, "no detectable difference")))
    assert "use hdf5/two_phase: no detectable difference from raw/per_process" in said
    assert "times as fast" not in said


def test_a_slower_portable_file_is_called_slower(tmp_path: Path) -> None:
    said = advise(tmp_path, BASE, line("hdf5/two_phase", 1.5, ratio=ratio(1.5, 1.4, 1.6, "slower")))
    assert "it takes 1.50 times as long as raw/per_process" in said
    assert "the shortest median is raw/per_process's" in said


def test_too_few_runs_are_called_so(tmp_path: Path) -> None:
    few = {"to": "raw/per_process", "median": 0.5, "low": None, "high": None, "verdict": "no 95 % interval"}
    assert "too few repetitions" in advise(tmp_path, BASE, line("hdf5/two_phase", 0.5, ratio=few))


def test_a_wrong_file_is_never_advised(tmp_path: Path) -> None:
    fast = line("hdf5/two_phase", 0.1, verified=False, ratio=ratio(0.1, 0.1, 0.1, "faster"))
    path = write_record(tmp_path / "record.json", BASE, fast)
    assert "use hdf5/two_phase" not in " ".join(advice(read_record(path)))
    assert failures(read_record(path)) == ["hdf5/two_phase did not verify: what was read back is not what was written"]


def test_what_rounds_values_is_advised_only_where_all_do(tmp_path: Path) -> None:
    error = {"absolute": 0.1, "relative": 0.001}
    rounding = line("hdf5/two_phase:keep_bits=9", 0.1, ratio=ratio(0.1, 0.1, 0.1, "faster"), largest_error=error)
    exact = line("hdf5/two_phase", 0.5, ratio=ratio(0.5, 0.4, 0.6, "faster"))
    assert "use hdf5/two_phase: 2.00 times" in advise(tmp_path, BASE, exact, rounding)
    assert "use hdf5/two_phase:keep_bits=9: 10.0 times" in advise(tmp_path, rounding)


def test_a_failure_is_told_with_its_cause(tmp_path: Path) -> None:
    broken = line("hdf5/two_phase", error="No space left on device", verified=False, median=None, bwMiB=None, low=None)
    path = write_record(tmp_path / "record.json", BASE, broken)
    assert failures(read_record(path)) == ["hdf5/two_phase failed: No space left on device"]


@pytest.mark.parametrize(
    ("method", "portable"),
    [
        ("hdf5/two_phase", True),
        ("hdf5/two_phase:io=direct,writers=2", True),
        ("phdf5:collective=true", True),
        ("hdf5/per_process", False),
        ("hdf5/two_phase:parts=4", False),
        ("hdf5/two_phase:writers=1,placement=per_rank", False),
        ("raw/two_phase", False),
    ],
)
def test_what_counts_as_one_portable_file(method: str, portable: bool) -> None:
    assert is_portable(method) is portable


def make_line(method: str, seconds: float, verified: bool, control: bool) -> Line:
    return Line(method, "write", control, 4, seconds, None, None, 1.0, False, None, verified, None)


METHODS = st.sampled_from(["hdf5/two_phase", "hdf5/independent", "raw/two_phase", "raw/per_process", "raw/gather"])


@given(st.lists(st.builds(make_line, METHODS, st.floats(0.001, 1000), st.booleans(), st.booleans()), max_size=8))
def test_only_verified_methods_are_advised(lines: list[Line]) -> None:
    whole = Record("w", 1, "durable", 4, 3, 6, None, "raw/per_process", True, tuple(lines), {}, {}, ())
    good = {entry.method for entry in lines if entry.usable and not entry.control}
    for sentence in advice(whole):
        assert "no method worked" in sentence or any(method in sentence for method in good)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "it is not a result of penstock bench or campaign"),
        ("[]", "schema is None"),
        ('{"schema": "penstock.bench/9"}', "'penstock.bench/9'"),
        ('{"schema": "penstock.bench/1"}', "not a whole"),
        ('{"schema": "penstock.bench/1", "workload": 3}', "not a whole"),
    ],
)
def test_a_file_that_is_no_record_is_refused_in_one_line(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "record.json"
    path.write_text(text)
    with pytest.raises(UserError, match=complaint):
        read_record(path)
