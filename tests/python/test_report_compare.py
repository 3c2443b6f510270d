"""test_report_compare.py: two campaigns compared, by numbers alone; what else needs no record of a run."""

import sys
from pathlib import Path

import pytest

from conftest import Penstock
from penstock.base.errors import UserError
from penstock.measure.report.page import tidy
from penstock.measure.studies import stats, unpaired


def test_beside_a_competing_job_no_more_is_claimed_than_an_aa_pair_allows() -> None:
    from penstock.measure.report.page import verdict
    from penstock.measure.report.page.model import BESIDE, CaseView, Line, Source

    def line(method: str, seconds: float, control: bool = False) -> Line:
        return Line(method, "write", control, 1, [seconds] * 6, [], {}, {}, {}, [], "", True, None, {})

    def source(again: float) -> Source:
        quiet, loud = (
            CaseView(name, 2, 2, "durable", {"name": "block2d"}, "hdf5/a", None, {}) for name in ("c", "c" + BESIDE)
        )
        quiet.lines = [line("hdf5/a", 1.0), line("hdf5/b", 2.0)]
        loud.lines = [line("hdf5/a", 1.0), line("hdf5/b", 0.9), line("hdf5/a (A/A)", again, control=True)]
        return Source(Path(), "t", [quiet, loud], [], [])

    (said,) = verdict.under_load(source(1.0))
    assert "holds only while the file system is quiet" in said
    (said,) = verdict.under_load(source(1.2))  # the same method differs by more than the two do
    assert "no difference is claimed" in said


def test_the_interval_of_unpaired_ratios_is_that_of_the_exact_test() -> None:
    # Tables of U at 5 %, two-sided: 5 for 6 and 6, 17 for 9 and 9, 2 for 5 and 5; there is none for 3 and 3.
    assert [unpaired._critical(m, n) - 1 for m, n in ((6, 6), (9, 9), (5, 5), (3, 3), (10, 8))] == [5, 17, 2, -1, 17]
    assert unpaired.ratio([2.0] * 3, [1.0] * 3) == stats.Interval(2.0, None, None, 0.0)
    assert unpaired.ratio([2.0, 2.1, 2.2, 2.3, 2.4, 2.5], [1.0] * 6).median == pytest.approx(2.25)
    assert unpaired.cliffs_delta([1.0, 2.0], [3.0, 4.0]) == -1
    assert unpaired.cliffs_delta([1.0, 4.0], [2.0, 3.0]) == 0


def test_thousands_of_repetitions_are_compared_in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    unpaired._critical.cache_clear()
    exact = {(m, n): unpaired._critical(m, n) for m, n in ((30, 30), (60, 40), (6, 200), (100, 100))}
    monkeypatch.setattr(unpaired, "EXACT", 0)
    unpaired._critical.cache_clear()
    for (m, n), k in exact.items():
        assert unpaired._critical(m, n) == pytest.approx(k, abs=2 + k / 500)
    assert unpaired._critical(1, 1) == 0
    unpaired._critical.cache_clear()
    monkeypatch.undo()
    found = unpaired.ratio([2.0 + index % 7 / 100 for index in range(1000)], [1.0] * 1000)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.median <= found.high


def test_what_took_no_time_is_compared_with_nothing() -> None:
    # A write behind a compute phase may add none.
    assert stats.ratio([1.0, 2.0], [0.5, 0.0]) is None
    assert stats.smallest_difference([0.0, 0.0], [0.0, 0.0]) == 0
    assert stats.smallest_difference([1.5, 1.0], [1.0, 0.0]) == 0.5


def test_parquet_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError, match="Parquet needs pyarrow, which is not there: pip install pyarrow"):
        tidy.write_parquet([], tmp_path / "r.parquet")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "neither a record of penstock bench, nor IOR's JSON, nor h5bench's CSV or standard output"),
        ("[1]", "neither a record of penstock bench"),
        ('{"schema": "penstock.other/1"}', "its schema is 'penstock.other/1'"),
        ('{"schema": "penstock.bench/1", "results": ["\\ud800"]}', r"it has '\ud800', which is half of a UTF-16 pair"),
        ('{"schema": "penstock.bench/1"}', "not a whole penstock.bench/1 record: KeyError"),
        ('{"tests": [{}]}', "not a whole JSON summary of IOR"),
        ("metric, value, unit\noperation, write, \n", "not whole results of h5bench"),
        ("== Performance Results ==\nTotal number of ranks: 2\n", "not whole results of h5bench"),
        ('{"mpi": {}, "benchmarks": []}', "this is what h5bench was asked to do"),
        ('{"tests": [{"Parameters": {}}]}', "not a whole JSON summary of IOR"),
    ],
)
def test_what_is_no_record_is_refused_in_one_line(penstock: Penstock, tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "x").write_text(content)
    done = penstock("report", "x")
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_of_a_ratio_all_but_its_numbers_may_be_missing() -> None:
    from penstock.measure.report.page import build
    from penstock.measure.report.page.model import source_of

    content = {"schema": "penstock.preset/1", "cases": [], "provenance": {}, "repetitions": 1}
    rows = [{"id": "1a", "name": "<b>", "value": 0.5}, {"id": "2", "skipped": "no space"}, {"value": 1, "low": 1}]
    text = build.page([source_of(content | {"ratios": rows}, Path("x.json"))]).replace("\n", "")
    assert "<td>1a</td><td>&lt;b&gt;</td><td>0.5</td><td></td>" in text
    assert "skipped: no space" in text
    with pytest.raises(UserError, match=r"x\.json: not a whole penstock\.preset/1 record"):
        source_of(content | {"ratios": [{"value": "half"}]}, Path("x.json"))
