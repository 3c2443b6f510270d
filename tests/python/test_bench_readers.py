"""test_bench_readers.py: `penstock bench readers`: workers that read again and again, on real ranks."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Penstock


def lines(path: Path) -> dict[str, dict[str, Any]]:
    (job,) = json.loads((path / "out.json").read_text())["jobs"]
    (case,) = job["record"]["cases"]
    assert case["verified"]
    return {line["method"]: line for line in case["results"]}


@pytest.mark.parametrize("np", [1, 3, 4])
def test_a_node_fetches_each_byte_once(penstock: Penstock, tmp_path: Path, np: int) -> None:
    words = ("--total", "24MiB", "--repetitions", "2", "--json", "out.json")
    done = penstock("bench", "readers", "--np", str(np), *words)
    assert done.returncode == 0, done.stderr
    found = lines(tmp_path)
    assert set(found) == {"netcdf", "penstock"}
    assert found["netcdf"]["bytes"] == found["penstock"]["bytes"]
    assert found["penstock"]["bytes"] / found["penstock"]["unique_bytes"] == pytest.approx(2.7, abs=0.02)
    assert 1 <= found["penstock"]["fetched_per_unique"] <= 1.1
    assert found["penstock"]["system_call_bytes_per_unique"] <= 1.1
    assert found["netcdf"]["system_call_bytes_per_unique"] > 2.6
    assert "penstock reads 1.0" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_chunked_files_are_read_right_too(penstock: Penstock, tmp_path: Path) -> None:
    words = ("--total", "17MiB", "--chunked", "3", "--repetitions", "1", "--json", "out.json")
    done = penstock("bench", "readers", "--np", "3", *words)
    assert done.returncode == 0, done.stderr
    assert set(lines(tmp_path)) == {"netcdf", "penstock"}


def test_a_node_keeps_no_more_than_it_may(penstock: Penstock, tmp_path: Path) -> None:
    words = ("--total", "24MiB", "--node-memory", "12MiB", "--repetitions", "1", "--json", "out.json")
    done = penstock("bench", "readers", "--np", "3", *words)
    assert done.returncode == 0, done.stderr
    found = lines(tmp_path)
    assert found["penstock"]["node_memory_bytes"] == 12 << 20
    assert 1.2 < found["penstock"]["fetched_per_unique"] < 2.7


def test_the_study_is_judged(penstock: Penstock, tmp_path: Path) -> None:
    words = ("--preset", "lrz-readers", "--np", "2,3", "--scale", "0.05", "--repetitions", "1", "--json", "out.json")
    done = penstock("bench", *words)
    assert done.returncode == 0, done.stderr
    content = json.loads((tmp_path / "out.json").read_text())
    assert [one["verdict"] for one in content["conclusions"]] == ["reproduced", "not testable"]
    assert [one["id"] for one in content["figures"]] == ["readers", "readers-bytes"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--total", "1MiB"), "--total is at least"),
        (("--total", "7000PiB"), "free, --total 7000PiB needs"),
        (("--piece", "1KiB"), "--piece is at least a plane of 32 KiB"),
        (("--piece", "65MiB"), "and at most 64 MiB"),
        (("--chunked", "-1"), "--chunked is a number of planes"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    penstock: Penstock, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = penstock("bench", "readers", "--np", "2", *words)
    assert done.returncode != 0
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
