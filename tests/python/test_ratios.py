"""test_ratios.py: the table of ratios, what is measured for them, and ratios computed from raw times."""

from pathlib import Path
from typing import Any

import pytest

from penstock.base import launch
from penstock.base.errors import UserError
from penstock.measure.campaign.request import split_words
from penstock.measure.studies import ratios
from penstock.measure.studies.presets.ratios import CASES, ROWS, Ratio, Side
from penstock.measure.studies.ratio_results import result

CASE = "block2d"


def parts(mpi: launch.Mpi, only: str, *words: str) -> list[ratios.Part]:
    job = ratios.Job(mpi, 4, split_words(list(words), {}), only, None, Path())
    return ratios._parts(job, [row for row in ratios.choose(only) if isinstance(row, Ratio)])


def test_every_ratio_names_cases_that_there_are() -> None:
    assert len({row.id for row in ROWS}) == len(ROWS)
    for row in ROWS:
        for side in (row.ours, row.other) if isinstance(row, Ratio) else ():
            assert side.case in CASES
            assert side.methods


def test_only_what_the_ratios_need_is_measured() -> None:
    (part,) = parts(launch.Mpi.openmpi, "4a,11", "--total", "1MiB")
    assert [case["case"] for case in part.cases] == ["short rows", "small"]
    rows, small = (case["words"] for case in part.cases)
    assert rows[:5] == ["block3d", "--row-bytes", "512", "--no-aa", "--total"]
    assert small[-2:] == ["--methods", "hdf5/two_phase,reference/pwrite"]
    assert [row.id for row in ratios.choose("4")] == ["4a", "4b", "4c"]
    with pytest.raises(UserError, match="--only: no ratio '99'; there are 1a, 1b"):
        ratios.choose("1a,99")


@pytest.mark.parametrize(("word", "chosen"), [("1", "1a 1b 1c 1d 1e 1f"), ("3", "3"), ("11", "11"), ("10a", "10a")])
def test_numbers_choose_their_letters(word: str, chosen: str) -> None:
    assert [row.id for row in ratios.choose(word)] == chosen.split()


def test_romio_has_a_job_where_it_is_not_the_first_ones() -> None:
    assert [[row.id for row in part.rows] for part in parts(launch.Mpi.openmpi, "4a,4b")] == [["4a"], ["4b"]]
    assert [[row.id for row in part.rows] for part in parts(launch.Mpi.mpich, "4a,4b")] == [["4a", "4b"]]
    assert [[row.id for row in part.rows] for part in parts(launch.Mpi.serial, "4a,4b")] == [["4a"]]
    assert parts(launch.Mpi.openmpi, "4b")[1].cases[0]["case"] == "short rows (ROMIO)"


def test_rivals_are_those_of_whom_the_best_counts() -> None:
    (part,) = parts(launch.Mpi.openmpi, "1a,1e,8a,9")
    (engines,) = part.cases[0]["rivals"]
    assert "phdf5:checksums=none" in engines
    assert "hdf5/two_phase" not in engines
    assert part.cases[1]["case"] == "background"
    assert part.cases[1]["rivals"] == []


def test_what_a_ratio_needs_by_itself_is_no_rival() -> None:
    (part,) = parts(launch.Mpi.openmpi, "13a,13e")
    (filtered,) = part.cases[0]["rivals"]
    assert part.cases[0]["words"][-1].count("filter=deflate,checksums") == 1
    assert [method.partition("filter=")[2] for method in filtered] == [
        "zstd,level=1,checksums=none",
        "deflate,level=1,checksums=none",
    ]


def test_many_datasets_shrink_with_the_whole() -> None:
    assert "--total" not in parts(launch.Mpi.openmpi, "5", "--total", "1MiB")[0].cases[0]["words"]
    assert "2621" in parts(launch.Mpi.openmpi, "5", "--total", "1MiB")[0].cases[0]["words"]
    assert "131072" in parts(launch.Mpi.openmpi, "5", "--total=1GiB")[0].cases[0]["words"]


def test_targets_depend_on_the_ranks() -> None:
    side = Side(CASE, ("a",))
    row = Ratio("x", "name", side, side, 0.5, 0.75)
    assert (row.target_on(16), row.target_on(15)) == (0.5, 0.75)
    assert Ratio("x", "name", side, side, 0.2).target_on(4) == 0.2


def line(method: str, seconds: list[float], **more: Any) -> dict[str, Any]:
    return {"method": method, "operation": "write", "seconds": seconds, "error": None, **more}


def record(*lines: dict[str, Any]) -> dict[str, Any]:
    return {"cases": [{"case": CASE, "regime": "durable", "results": list(lines)}], "unavailable": []}


def ratio(others: str, lines: dict[str, Any], measure: str = "write") -> dict[str, Any]:
    return result(
        Ratio("1", "name", Side(CASE, ("ours",)), Side(CASE, tuple(others.split()), measure), 0.5), 4, lines, ""
    )


def test_ratios_are_of_pairs_with_the_best_rival() -> None:
    # The best rival has the lowest median (4), although another has the lowest time (1).
    found = ratio(
        "slow best",
        record(line("ours", [1, 2, 3, 2, 1, 2]), line("slow", [9, 9, 1, 9, 9, 9]), line("best", [2, 4, 6, 4, 4, 8])),
    )
    assert (found["other"], found["value"], found["low"], found["high"]) == ("best", 0.5, 0.25, 0.5)
    assert found["met"]
    assert [side["median_seconds"] for side in found["sides"]] == [2, 4]


def test_few_pairs_have_no_interval() -> None:
    found = ratio("other", record(line("ours", [3, 3]), line("other", [4, 4])))
    assert (found["value"], found["low"], found["met"], found["pairs"]) == (0.75, None, False, 2)


def test_a_copy_is_of_the_same_run() -> None:
    found = ratio("ours other", record(line("ours", [3, 3], behind={"copy_seconds": [1.5, 1.5]})), "copy")
    assert (found["value"], found["other"], found["sides"][1]["method"]) == (2, "memory copy", "ours")


def test_what_failed_or_was_dropped_does_not_stand() -> None:
    ours, failed = line("ours", [1]), line("a", [1], error="out of cheese")
    assert ratio("a b", record(ours, failed, line("b", [4])))["other"] == "b"
    found = ratio("a b", record(ours, failed, line("b", [4], dropped="hopeless")))
    assert found["value"] is None
    assert found["skipped"] == "a: out of cheese; b: hopeless"


def test_what_this_build_lacks_is_named() -> None:
    lines = record(line("ours", [1]))
    lines["unavailable"].append({"case": CASE, "method": "a", "reason": "needs PnetCDF"})
    assert ratio("a", lines)["skipped"] == "a: needs PnetCDF"
