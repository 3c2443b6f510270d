"""test_bench_counts.py: `penstock bench --count-only`: its table, its record, and what it refuses."""

import json
from pathlib import Path

import pytest

from conftest import Penstock


def test_counts_are_printed_and_kept(penstock: Penstock, tmp_path: Path) -> None:
    words = ("block2d", "--np-virtual", "4,64", "--tasks-per-node", "2", "--per-rank", "2MiB", "--json", "out.json")
    done = penstock("bench", "--count-only", *words, "--methods", "hdf5/two_phase:writers=2,buffer_bytes=1MiB")
    assert (done.returncode, done.stderr) == (0, "")
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["schema"] == "penstock.counts/1"
    assert [row["np"] for row in record["counts"]] == [4, 64]
    few = record["counts"][0]
    # As in bench/count/count_test.cpp: two of four ranks tell their writers and send to neighbours.
    assert few["ours"]["bytes"] == 8 << 20
    assert few["ours"]["plan_messages"] == {"mean": 0.5, "max": 1}
    assert few["ours"]["data_messages"] == {"mean": 2.0, "max": 4}
    assert few["ours"]["messages"]["mean"] == 0.5
    assert few["ours"]["metadata_calls"]["total"] == 14
    assert few["textbook"]["plan_received"] == 16 * (64 + 64 + 512)
    assert record["counts"][1]["textbook"]["plan_messages"]["mean"] > 63
    rows = [line.split() for line in done.stdout.splitlines()]
    ours = next(row for row in rows if "ours" in row)
    assert ours[:6] == ["4", "8", "MiB", "ours", "2", "0.500"]
    assert sum("textbook" in row[:1] for row in rows) == 2
    assert "8 MiB" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_nothing_is_left_where_nothing_is_kept(penstock: Penstock, tmp_path: Path) -> None:
    done = penstock("bench", "--count-only", "block3d", "--np-virtual", "8")
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["block2d"], "--np-virtual names no number of ranks"),
        (["block2d", "--np", "2", "--np-virtual", "4"], "--np-virtual says for how many ranks"),
        (["block2d", "--np-virtual", "0"], "--np-virtual must be at least 1"),
        (["block2d", "--np-virtual", "4", "--preset", "ratios"], "--preset cannot stand beside it"),
        (["block2d", "--np-virtual", "4", "--methods", "phdf5"], "counts FORMAT/two_phase, not 'phdf5'"),
        (["block2d", "--np-virtual", "4", "--stripe", "1000"], "--stripe is a multiple of 4096"),
        (["--np-virtual", "4"], "which workload?"),
    ],
)
def test_bad_input_is_one_line(penstock: Penstock, words: list[str], complaint: str) -> None:
    done = penstock("bench", "--count-only", *words)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_belongs_to_counting_is_refused_without_it(penstock: Penstock) -> None:
    done = penstock("bench", "block2d", "--np-virtual", "4", "--np", "1")
    assert done.returncode == 2
    assert "--np-virtual belongs to --count-only" in done.stderr
