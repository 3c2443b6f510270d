"""test_bench_data.py: what the elements of a workload are, and what the bench says of methods that compress them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Penstock, line, write_record
from penstock.measure.report.results import read_record
from penstock.measure.report.table import remarks

KINDS = ("smooth", "turbulence", "particles", "ramses", "random")
PLAIN, ZSTD = "hdf5/two_phase", "hdf5/two_phase:compression=zstd"


@pytest.fixture(autouse=True)
def _sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_DATA", str(ROOT / "tests" / "data"))


def run(penstock: Penstock, *words: str) -> tuple[dict[str, Any], str]:
    """The record and the words of a run of one repetition on 3 ranks."""
    done = penstock("bench", *words, "--np", "3", "--repetitions", "1", "--json", "out.json")
    assert done.returncode == 0, done.stdout + done.stderr
    record: dict[str, Any] = json.loads(Path("out.json").read_text())
    assert record["verified"]
    return record, done.stdout


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "workload",
    [
        ("block3d", "--total", "1MiB", "--ghosts", "1"),
        ("block2d", "--total", "1MiB", "--type", "real32", "--order", "Fortran"),
        ("many", "--datasets", "4", "--dataset-bytes", "80KiB", "--type", "int16"),
        ("particles", "--total", "1MiB"),
        ("ramses-amr", "--domain", "16"),
        ("ior", "-b", "64KiB", "-t", "4KiB", "--one-buffer", "--type", "complex64"),
    ],
    ids=lambda words: words[0],
)
@pytest.mark.usefixtures("_here")
def test_every_kind_verifies_in_every_workload(penstock: Penstock, kind: str, workload: tuple[str, ...]) -> None:
    several = f"{ZSTD},netcdf/two_phase,raw/per_process"
    if kind == "smooth":
        several += ",raw/two_phase:compression=zstd"
    methods = "raw/independent" if "--one-buffer" in workload else several
    record, said = run(penstock, *workload, "--data", kind, "--methods", methods)
    assert record["workload"]["data"] == kind
    assert "numbering" not in record["workload"]
    assert f" of data {kind}, written" in said
    assert all(line["checks"] == 2 for line in record["results"])


@pytest.mark.usefixtures("_here")
def test_encoded_chunks_travel_by_every_transport(penstock: Penstock) -> None:
    encoded = [
        f"{form}/{transport}compression={codec}"
        for form in ("raw", "hdf5")
        for transport, codec in (
            ("independent:", "lz4"),
            ("mpiio:", "deflate"),
            ("mpiio:coordination=independent,", "zstd"),
            ("servers:buffer_bytes=4MiB,", "blosc"),
        )
    ]
    record, _ = run(penstock, "block3d", "--total", "1MiB", "--data", "smooth", "--methods", ",".join(encoded))
    assert {line["method"] for line in record["results"]} == set(encoded)
    assert all(line["checks"] == 2 for line in record["results"])


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_here")
def test_seeds_and_repetitions_have_contents_of_their_own(penstock: Penstock) -> None:
    words = ("block3d", "--total", "1MiB", "--data", "turbulence", "--methods", PLAIN)
    first, again, other = (run(penstock, *words, "--seed", seed)[0]["expected_digests"] for seed in ("1", "1", "2"))
    assert first == again
    assert len({*first, *other}) == 4


@pytest.mark.usefixtures("_here")
def test_what_is_stored_is_the_size_of_the_files(penstock: Penstock, tmp_path: Path) -> None:
    record, said = run(
        penstock, "block3d", "--total", "2MiB", "--data", "smooth", "--methods", f"{PLAIN},{ZSTD}", "--keep"
    )
    sizes = {path.stat().st_size for path in tmp_path.rglob("data.h5")}
    lines = {line["method"]: line for line in record["results"] if line["operation"] == "write"}
    assert sizes == {lines[PLAIN]["stored_bytes"][0], lines[ZSTD]["stored_bytes"][0]}
    assert "compressed" not in lines[PLAIN]
    found = lines[ZSTD]["compressed"]
    assert found["stored_bytes"] == lines[ZSTD]["stored_bytes"][0]
    assert found["ratio"] == pytest.approx(record["workload"]["total_bytes"] / found["stored_bytes"])
    assert 1.1 < found["ratio"] < 4
    heads = next(line for line in said.splitlines() if "MiB/s" in line)
    assert re.search(r"MiB/s\s+stored\s+ratio\s+time", heads)
    row = next(line for line in said.splitlines() if line.split()[:2] == [ZSTD, "write"])
    assert f" {found['ratio']:.2f} " in row


@pytest.mark.usefixtures("_here")
def test_columns_are_there_only_where_something_compresses(penstock: Penstock, tmp_path: Path) -> None:
    for methods, there in ((PLAIN, False), (f"{PLAIN},{ZSTD}", True)):
        record, said = run(penstock, "block3d", "--total", "1MiB", "--data", "random", "--methods", methods)
        assert ("stored" in said) == there
        assert any("compressed" in line for line in record["results"]) == there
        page = tmp_path / "out.html"
        page.unlink(missing_ok=True)
        assert penstock("report", "out.json", "-o", "out.html").returncode == 0
        assert ("<h3>Compression</h3>" in page.read_text()) == there


def test_what_a_plan_rounds_is_said(penstock: Penstock, tmp_path: Path) -> None:
    rounding = line(
        "hdf5/two_phase:keep_bits=9",
        compressed={"stored_bytes": 1 << 18, "ratio": 4.0},
        largest_error={"absolute": 0.00125, "relative": 0.000976},
        verified=True,
    )
    path = write_record(tmp_path / "in.json", line("raw/per_process"), rounding, provenance={})
    said = remarks(read_record(path))
    assert "hdf5/two_phase:keep_bits=9: no value is off by more than 0.00125, relatively 0.000976." in said
    done = penstock("report", "in.json", "-o", "out.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out.html").read_text()
    assert "<td>256 KiB</td><td>4.00</td><td>0.00125, relatively 0.000976</td>" in page


@pytest.mark.parametrize("kept", ["hdf5/two_phase:compression=zstd,keep_bits=9", "phdf5:keep_bits=9"])
@pytest.mark.usefixtures("_here")
def test_rounded_values_are_within_their_bound(penstock: Penstock, kept: str) -> None:
    words = ("block3d", "--total", "1MiB", "--data", "turbulence", "--type", "real32")
    record, said = run(penstock, *words, "--methods", f"{PLAIN},{kept}")
    found = {line["method"]: line.get("largest_error") for line in record["results"]}
    assert found[PLAIN] is None
    assert 2**-12 < found[kept]["relative"] <= 2**-10
    assert f"{kept}: no value is off by more than" in said
    assert said.count("use hdf5/two_phase: the others are compared with it") == 2
    exact, _ = run(penstock, *words, "--methods", f"{PLAIN},{kept.replace('=9', '=23')}")
    assert all("largest_error" not in line for line in exact["results"])


@pytest.mark.usefixtures("_here")
def test_a_filter_of_parallel_hdf5_is_compared_in_the_same_way(penstock: Penstock) -> None:
    filtered = "phdf5:chunked=true,collective=true,filter=deflate"
    record, _ = run(penstock, "block3d", "--total", "1MiB", "--data", "smooth", "--methods", f"{PLAIN},{filtered}")
    assert {line["method"] for line in record["results"] if "compressed" in line} == {filtered}


def test_what_is_not_there_is_named(penstock: Penstock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = penstock("bench", "block3d", "--np", "2", "--data", "noise")
    assert done.returncode == 2
    assert "no data 'noise'; there are numbers, smooth, turbulence, particles, ramses, random" in done.stderr
    monkeypatch.setenv("PENSTOCK_DATA", str(tmp_path))
    done = penstock("bench", "block3d", "--np", "2", "--data", "ramses")
    assert done.returncode == 2
    assert f"--data ramses: there is no '{tmp_path}/ramses/sedov3d_amr_6p/hydro_00002.out00001'" in done.stderr
    assert done.stderr.count("\n") == 1
