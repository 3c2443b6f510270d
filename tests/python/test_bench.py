"""test_bench.py: `penstock bench` from end to end, on real ranks and a real disk."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import BUILD, INTERRUPTIBLE, Penstock
from penstock.base import launch
from penstock.measure.campaign import program

SMALL = ("block2d", "--total", "1MiB", "--np", "2")
METHODS = "hdf5/two_phase,raw/per_process"


def test_two_ranks_end_to_end(penstock: Penstock, tmp_path: Path) -> None:
    done = penstock("bench", *SMALL, "--methods", METHODS, "--repetitions", "2", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["verified"]
    assert {line["method"] for line in record["results"]} == {"hdf5/two_phase", "raw/per_process"}
    assert len({line["digest"] for line in record["results"]}) == 1
    assert "use hdf5/two_phase" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_all_default_methods_verify(penstock: Penstock) -> None:
    done = penstock("bench", *SMALL, "--repetitions", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" yes") == 10


def test_what_became_of_hints(penstock: Penstock, tmp_path: Path) -> None:
    methods = "raw/mpiio:hint.no_such_hint=1,raw/two_phase"
    done = penstock("bench", *SMALL, "--methods", methods, "--repetitions", "1", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    lines = json.loads((tmp_path / "out.json").read_text())["results"]
    assert all(line["filesystem"] for line in lines)
    hinted = [line for line in lines if "no_such_hint" in line["requested_plan"]]
    assert len(hinted) == 2
    assert all(any("no_such_hint=1" in text for text in line["warnings"]) for line in hinted)
    assert "hint no_such_hint=1" in done.stdout
    assert all(not line["warnings"] for line in lines if line not in hinted)


def test_mpich(penstock: Penstock) -> None:
    if not (BUILD / "mpich" / "bin" / "penstock-bench").is_file():
        pytest.skip("build/mpich has no penstock-bench")
    done = penstock("bench", *SMALL, "--methods", METHODS, "--repetitions", "1", "--mpi", "mpich")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["no-such-workload"], "no workload 'no-such-workload'; there are block2d"),
        (["block2d", "--total", "many"], "many"),
        (["block2d", "--methods", "hdf5/carrier_pigeon"], "carrier_pigeon"),
        (["block2d", "--methods", "hdf5/two_phase:writers=none"], "writers"),
        (["block2d", "--regime", "hopeful"], "--regime is durable or cached"),
        (["block2d", "--repetitions", "0"], "--repetitions"),
        (["block2d", "--no-such-option"], "no-such-option"),
    ],
)
def test_bad_input_is_one_line(penstock: Penstock, tmp_path: Path, words: list[str], complaint: str) -> None:
    done = penstock("bench", "--np", "2", *words)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_help_lists_the_options_of_both_programs(penstock: Penstock) -> None:
    done = penstock("bench", "--help")
    assert done.returncode == 0
    assert "--np" in done.stdout
    assert "--repetitions" in done.stdout
    assert "block2d" in done.stdout


def test_the_table_of_options_is_that_of_the_help(
    penstock: Penstock, build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_BIN", str(build / "bin"))
    found = program.options(launch.Mpi.openmpi)
    parts = re.split(r"^(\w+):$", penstock("bench", "--help").stdout, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert set(found) - set(sections) <= {"machine", "metadata", "readers"}  # which have a help of their own
    for group in set(found) & set(sections):
        assert all(name in sections[group] for name in found[group]), group
    assert found["Conditions"] == {"--regime": True, "--interfere": False, "--aa": False, "--no-aa": False}


def test_an_interrupt_ends_all_ranks(build: Path, tmp_path: Path) -> None:
    marker = tmp_path.name  # in the ranks' command lines, by --dir
    command = [
        *INTERRUPTIBLE,
        str(build / "bin" / "penstock"),
        "bench",
        "block2d",
        "--np",
        "2",
        "--total",
        "64MiB",
        "--repetitions",
        "50",
    ]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "Warm-up" in line:
                break
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait(60) == 130
    deadline = time.monotonic() + 30
    while ranks(marker) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert ranks(marker) == []
    assert list(tmp_path.iterdir()) == []


def ranks(marker: str) -> list[int]:
    """The living processes of penstock-bench whose arguments name MARKER."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"penstock-bench" in words[0] and any(marker.encode() in word for word in words):
            found.append(int(entry.parent.name))
    return found


def test_the_launcher_needs_no_activation(build: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(build / "bin" / "penstock")
    empty = {"PATH": str(Path(shutil.which("sh") or "/bin/sh").parent)}
    done = subprocess.run([str(link), "--version"], cwd="/", env=empty, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()[0]) == (0, "penstock"), done.stderr
    assert sys.version_info >= (3, 11)


def test_it_stops_when_all_intervals_are_narrow_enough(penstock: Penstock, tmp_path: Path) -> None:
    words = ["--total", "32MiB", "--methods", "raw/per_process,raw/gather", "--json", "out.json"]
    done = penstock("bench", "block2d", "--np", "2", *words, "--repetitions", "80", "--half-width", "99.99")
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", all intervals as narrow as asked for" in done.stdout
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["stopped"] == "half-width"
    assert 7 <= record["repetitions"] < 80, (
        "six give an interval, and the last one is known to be that before it begins"
    )
