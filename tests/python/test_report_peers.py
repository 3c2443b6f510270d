"""test_report_peers.py: what IOR and h5bench measured, in a report of theirs alone."""

import csv
import json
from pathlib import Path

from conftest import Penstock
from reports import H5BENCH_PRINTED, IOR, made


def test_what_h5bench_printed_are_repetitions(penstock: Penstock, tmp_path: Path) -> None:
    (tmp_path / "stdout").write_text(H5BENCH_PRINTED.format(5, 512) + H5BENCH_PRINTED.format(9, 256))
    made(penstock, tmp_path, "stdout", target=tmp_path / "r.csv")
    with (tmp_path / "r.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["operation"], row["np"], float(row["seconds"]), float(row["bwMiB"])) for row in rows] == [
        ("write", "2", 4.0, 512.0),
        ("write", "2", 8.0, 256.0),
    ]
    assert {(row["imported"], row["verified"]) for row in rows} == {("h5bench", "False")}


def test_iors_rates_are_of_what_it_moved(penstock: Penstock, tmp_path: Path) -> None:
    """A deadline (-D) ends a test before all its bytes are written; the summary says how many were."""
    summary = {"summary": [{"TestID": 0, "operation": "write", "xsizeMiB": 4.0}]}
    (tmp_path / "ior.json").write_text(json.dumps(IOR | summary))
    made(penstock, tmp_path, "ior.json", target=tmp_path / "r.csv")
    with (tmp_path / "r.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(int(row["bytes"]), float(row["seconds"])) for row in rows] == [(2**22, 0.005), (2**22, 0.01)]
