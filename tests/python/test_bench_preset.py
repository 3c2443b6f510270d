"""test_bench_preset.py: `penstock bench --preset` and the workloads it needs, on real ranks, with few bytes."""

import json
import statistics
from pathlib import Path
from typing import Any

import pytest

from conftest import Penstock

ONLY = "1a,3,7a,7c,8b,10a,10b,11,12"
SMALL = ("bench", "--preset", "ratios", "--total", "1MiB", "--json", "out.json")


def read(path: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((path / "out.json").read_text())
    return record


def times(record: dict[str, Any], side: dict[str, Any]) -> list[float]:
    """The raw seconds of one side of a ratio."""
    results = next(case["results"] for case in record["cases"] if case["case"] == side["case"])
    found = [line for line in results if line["method"] == side["method"] and line["operation"] == side["measure"]]
    assert len(found) == 1
    seconds: list[float] = found[0]["seconds"]
    return seconds


def recomputed(record: dict[str, Any], ratio: dict[str, Any]) -> float:
    ours, other = (times(record, side) for side in ratio["sides"])
    return statistics.median(a / b for a, b in zip(ours, other, strict=True))


def test_ratios_are_those_of_the_raw_times(penstock: Penstock, tmp_path: Path) -> None:
    done = penstock(*SMALL, "--np", "3", "--repetitions", "2", "--only", ONLY)
    assert done.returncode == 0, done.stderr
    record = read(tmp_path)
    assert record["verified"]
    assert [ratio["id"] for ratio in record["ratios"]] == ONLY.split(",")
    measured = [ratio for ratio in record["ratios"] if not ratio["counted"]]
    counted = [ratio for ratio in record["ratios"] if ratio["counted"]]
    assert [ratio["id"] for ratio in counted] == ["10a", "10b"]
    assert all(ratio["met"] == (ratio["value"] <= 1) and ratio["low"] is None for ratio in counted)
    assert done.stdout.count(" exact ") == 2
    for ratio in measured:
        assert ratio["value"] == pytest.approx(recomputed(record, ratio))
        assert (ratio["low"], ratio["high"], ratio["pairs"], ratio["better"]) == (None, None, 2, "lower")
        assert ratio["met"] == (None if ratio["id"] == "12" else ratio["value"] <= ratio["target"])
    device = next(ratio for ratio in measured if ratio["id"] == "3")
    medians = {
        line["method"]: line["median"]
        for line in record["cases"][0]["results"]
        if line["method"].startswith("reference/device")
    }
    assert device["other"] == min(medians, key=lambda method: medians[method])
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_ratios_of_compression(penstock: Penstock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HDF5_PLUGIN_PATH", str(tmp_path))  # no filter of others
    done = penstock(*SMALL, "--np", "2", "--repetitions", "1", "--only", "13")
    assert done.returncode == 0, done.stderr
    record = read(tmp_path)
    assert record["verified"]
    lines = {
        (case["case"], line["method"], line["operation"]): line for case in record["cases"] for line in case["results"]
    }
    for ratio, measure in zip(record["ratios"], ("write", "write", "write", "read", "stored"), strict=True):
        operation, name = ("write", "stored_bytes") if measure == "stored" else (measure, "seconds")
        ours, other = (lines[side["case"], side["method"], operation][name][0] for side in ratio["sides"])
        assert ratio["value"] == pytest.approx(ours / other), ratio["id"]
    assert record["ratios"][-1]["met"], "as small as what HDF5 writes"
    assert "median_bytes" in record["ratios"][-1]["sides"][0]
    rounded = [line for line in lines.values() if "keep_bits=9" in line["method"]]
    assert all(0 < line["largest_error"]["relative"] <= 2**-10 for line in rounded)
    assert {one["method"].partition("filter=")[2] for one in record["unavailable"]} == {"zstd,level=1,checksums=none"}


def test_every_repetition_has_every_method_once(penstock: Penstock, tmp_path: Path) -> None:
    done = penstock(*SMALL, "--np", "2", "--repetitions", "1", "--only", "7")
    assert done.returncode == 0, done.stderr
    record = read(tmp_path)
    methods = {f"{case['case']}: {line['method']}" for case in record["cases"] for line in case["results"]}
    assert len(record["order"]) == 2
    for order in record["order"]:
        assert sorted(order) == sorted(methods)


def test_another_mpi_io_library_has_a_second_job(penstock: Penstock, tmp_path: Path) -> None:
    done = penstock(*SMALL, "--np", "2", "--repetitions", "1", "--only", "4a,4b")
    assert done.returncode == 0, done.stderr
    record = read(tmp_path)
    other = record["ratios"][1]
    if other["value"] is None:
        pytest.skip("this MPI has no ROMIO")
    assert [side["case"] for side in other["sides"]] == ["short rows (ROMIO)"] * 2
    assert other["value"] == pytest.approx(recomputed(record, other))
    assert "4b comes from a second job" in done.stdout


def test_a_ratio_without_its_data_is_skipped_by_name(
    penstock: Penstock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_DATA", str(tmp_path))
    done = penstock(*SMALL, "--np", "2", "--repetitions", "1", "--only", "6")
    assert done.returncode == 0, done.stderr
    assert "needs an E3SM map: --map FILE" in read(tmp_path)["ratios"][0]["skipped"]
    assert "6 was skipped" in done.stdout


def test_what_a_write_costs_besides_moving_data(penstock: Penstock, tmp_path: Path) -> None:
    words = ("many", "--datasets", "7", "--dataset-bytes", "1KiB", "--np", "3", "--repetitions", "1")
    done = penstock("bench", *words, "--methods", "hdf5/two_phase,raw/per_process", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    lines = read(tmp_path)["results"]
    for line in lines:
        assert line["define_seconds_per_dataset"] == pytest.approx(statistics.median(line["phases"]["define"]) / 7)
    calls = [line["metadata_calls"] for line in lines if line["operation"] == "write"]
    said = " ".join(done.stdout.split())
    methods = "hdf5/two_phase {}, raw/per_process {}"
    assert f"Metadata calls of one write, all ranks: {methods.format(*calls)}." in said
    assert "Definition of one dataset: hdf5/two_phase " in said
    assert all(calls)


@pytest.mark.parametrize("np", ["1", "6"])
@pytest.mark.parametrize(
    "words",
    [
        ("block3d", "--ghosts", "2"),
        ("block2d", "--ghosts", "1", "--row-bytes", "512", "--type", "real32"),
        ("block2d", "--total", "32B"),  # more ranks than rows
        ("many", "--datasets", "5", "--dataset-bytes", "200", "--ghosts", "1"),
        ("block3d", "--own-ranks", "--order", "Fortran"),
    ],
)
def test_workloads_verify(penstock: Penstock, tmp_path: Path, words: tuple[str, ...], np: str) -> None:
    total = () if "--total" in words or "--datasets" in words else ("--total", "100KiB")
    methods = "hdf5/two_phase,raw/mpiio"
    done = penstock("bench", *words, *total, "--np", np, "--methods", methods, "--repetitions", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" yes") == 4


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--preset", "no-such"], "no preset 'no-such'; there are ratios, idris-create"),
        (["block2d", "--preset", "ratios"], "brings its own cases: the workload 'block2d' cannot stand beside it"),
        (["--preset", "ratios", "--methods", "phdf5"], "--methods cannot stand beside it"),
        (["--preset", "ratios", "--regime", "cached"], "--regime cannot stand beside it"),
        (["--preset", "ratios", "--only", "1a,99"], "--only: no ratio '99'; there are 1a, 1b"),
        (["--preset", "haefele-weak", "--put"], "--put cannot stand beside it"),
        (["block2d", "--dry-run", "--keep"], "files of many cases: --keep cannot stand beside it"),
        (["block2d", "--only", "1a"], "--only chooses from a --preset"),
        (["map", "--ghosts", "1"], "--ghosts: what map writes is contiguous in memory"),
        (["block2d", "--own-ranks", "--readers", "1"], "--own-ranks: all that write read"),
        (["block2d", "--methods", "reference/pigeon"], "no reference 'reference/pigeon'; there are reference/pwrite"),
        (["many", "--total", "1MiB"], "many: its size is said by --datasets and --dataset-bytes, not by --total"),
        (["ior", "--per-rank", "1MiB"], "ior: its size is said by --block-size and --segment-count, not by --per-rank"),
        (["ramses-amr", "--type", "real32"], "ramses-amr: its elements have types of their own: no --type"),
        (["particles", "--type", "int8"], "particles: its elements have types of their own"),
        (["many", "--dataset-bytes", "7"], "many: --dataset-bytes is less than one element"),
    ],
)
def test_bad_input_is_one_line(penstock: Penstock, tmp_path: Path, words: list[str], complaint: str) -> None:
    done = penstock("bench", "--np", "1", *words)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
