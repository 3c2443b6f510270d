"""test_bench_metadata.py: `penstock bench metadata`: many files, and what methods leave behind, on real ranks."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from conftest import Penstock

MADE = ["create", "close", "open", "stat", "remove"]


def job(path: Path) -> dict[str, Any]:
    (only,) = json.loads((path / "out.json").read_text())["jobs"]
    record: dict[str, Any] = only["record"]
    return record


@pytest.mark.parametrize("np", [1, 3, 4])
def test_every_operation_has_every_ranks_time(penstock: Penstock, tmp_path: Path, np: int) -> None:
    words = ("--files", "2,40", "--file-bytes", "100", "--repetitions", "2", "--json", "out.json")
    done = penstock("bench", "metadata", "--np", str(np), *words)
    assert done.returncode == 0, done.stderr
    record = job(tmp_path)
    assert [case["case"] for case in record["cases"]] == ["2 files", "40 files"]
    assert record["verified"]
    for case in record["cases"]:
        lines = {(line["method"], line["operation"]): line for line in case["results"]}
        assert set(lines) == {(folder, one) for folder in ("one folder", "a folder per rank") for one in MADE}
        for line in lines.values():
            assert [len(ranks) for ranks in line["rank_seconds"]] == [np, np]
            assert line["seconds"] == [max(ranks) for ranks in line["rank_seconds"]]
            busy = min(np, line["files"])
            assert all(sum(one > 0 for one in ranks) == busy for ranks in line["rank_seconds"])
    assert len(record["order"]) == 3
    assert all(sorted(turns) == sorted(record["order"][0]) for turns in record["order"])
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_sets_of_files_are_measured_with_what_they_leave(penstock: Penstock, tmp_path: Path) -> None:
    words = ("--files", "1", "--methods", "hdf5/two_phase,raw/per_process", "--per-rank", "64KiB", "--repetitions", "2")
    done = penstock("bench", "metadata", "--np", "3", *words, "--json", "out.json")
    assert done.returncode == 0, done.stderr
    sets = job(tmp_path)["cases"][-1]
    lines = {(line["method"], line["operation"]): line for line in sets["results"]}
    assert {operation for _, operation in lines} == {"list", "copy", "tar", "remove"}
    one, many = (lines[method, "list"] for method in ("hdf5/two_phase", "raw/per_process"))
    assert (one["inodes"], one["file_bytes"] >= 3 << 16) == (1, True)
    assert many["inodes"] >= 4
    for line in lines.values():
        assert line["wasted_bytes"] == line["allocated_bytes"] - line["file_bytes"]
        assert all(seconds > 0 for seconds in line["seconds"])
    assert "hdf5/two_phase leaves 1 file or folder," in done.stdout


def test_a_method_that_fails_is_named_and_the_others_are_measured(penstock: Penstock, tmp_path: Path) -> None:
    failing = "hdf5/servers:scratch=/nonexistent"
    methods = f"hdf5/two_phase,{failing},raw/per_process"
    words = ("--files", "1", "--methods", methods, "--per-rank", "64KiB", "--repetitions", "1")
    done = penstock("bench", "metadata", "--np", "2", *words, "--json", "out.json")
    assert done.returncode == 1, done.stderr
    lines = {(line["method"], line["operation"]): line for line in job(tmp_path)["cases"][-1]["results"]}
    assert {method for (method, _), line in lines.items() if line["error"]} == {failing}
    assert all(line["seconds"] for line in lines.values() if not line["error"])
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--files", "0"), "--files 0: from 1 to 100000"),
        (("--files", "100001"), "--files 100001: from 1 to 100000"),
        (("--folders", "some"), "--folders is one or many, not 'some'"),
        (("--file-bytes", "900TiB"), "free, this needs"),
        (("--file-bytes", "7000PiB"), "free, this needs"),
        (("--methods", "raw/none"), "there is no transport 'none'"),
        (("--size", "3"), "metadata: The following argument"),
        (("--half-width", "5"), "metadata: The following argument"),  # of a run of cases only
        (("--readers", "1"), "metadata: The following argument"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    penstock: Penstock, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = penstock("bench", "metadata", "--np", "2", *words, "--json", "out.json")
    assert done.returncode != 0
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(penstock: Penstock, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        words = ("--dir", "/proc")
    else:
        (tmp_path / "shut").mkdir(mode=0o500)
        words = ("--dir", "shut")
    done = penstock("bench", "metadata", "--np", "2", *words)
    assert done.returncode == 2
    assert "--dir" in done.stderr
