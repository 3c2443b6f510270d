"""test_run_background.py: `penstock run --plan servers`: what it says of data that was lost after a file was closed."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import BUILD, ROOT, run_penstock
from penstock.base import launch
from penstock.measure.unmodified.report import Background, Report, left_in_background, report_of
from penstock.measure.unmodified.request import NAME
from test_run import with_file

Ran = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(params=["openmpi", "mpich"])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Ran:
    """Runs a case of tests/mpiio/background.c on 3 ranks, with writes of the background that are as SETTINGS say."""
    mpi = launch.Mpi(request.param)
    folder = BUILD / "lib" if mpi is launch.Mpi.openmpi else BUILD / mpi.value / "lib"
    compiler = shutil.which(f"mpicc.{mpi.value}")
    if not (folder / NAME).is_file() or compiler is None:
        pytest.skip(f"{folder.relative_to(ROOT)} has no {NAME}, or there is no mpicc.{mpi.value}")
    source = ROOT / "tests" / "mpiio"
    subprocess.run([compiler, "-O1", "-o", tmp_path / "background", source / "background.c"], check=True)
    slow = tmp_path / "slow.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", slow, source / "slow.c"], check=True)

    def ran(case: str, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        command = [*launch.mpiexec(mpi, 3), "./background", case, "out.bin"]
        environment = os.environ | launch.environment() | {"LD_PRELOAD": str(slow)} | settings
        given = ["run", "--plan", "servers", *words, "--", *command]
        return run_penstock(*given, cwd=tmp_path, bin_folder=BUILD / "bin", environment=environment)

    return ran


def told(folder: Path) -> Background:
    (one,) = json.loads((folder / "r.json").read_text())["reports"]
    (file,) = report_of(one).files
    return file.background


def test_finalize_waits_and_the_report_says_how_long(program: Ran, tmp_path: Path) -> None:
    done = program("closed", "--report", "json", "-o", "r.json", SLOW_MS="100")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.bin").read_bytes() == b"\1" * 9000
    assert "LOST" not in done.stderr
    background = told(tmp_path)
    assert (background.bytes, background.bytes_most, background.lost) == (9000, 3000, 0)
    assert background.seconds_most >= 0.1  # a write takes that long


def test_a_program_that_does_not_come_to_its_end_leaves_what_it_lost(program: Ran, tmp_path: Path) -> None:
    done = program("killed", SLOW_GATE=str(tmp_path / "never"))
    assert done.returncode != 0
    assert f"penstock: LOST: 8.79 KiB of {tmp_path / 'out.bin'}: the program ended while 3 processes had" in done.stderr
    assert not list(tmp_path.glob(".penstock-run-*"))


def test_an_error_that_no_call_could_tell_becomes_the_status(program: Ran, tmp_path: Path) -> None:
    done = program("closed", "--report", "json", "-o", "r.json", SLOW_ERRNO="28", SLOW_MS="20")
    assert done.returncode == 1
    assert "out.bin could not be written in the background: " in done.stderr
    assert "No space left on device" in done.stderr
    background = told(tmp_path)
    assert (background.lost, background.untold) == (9000, True)


def test_ledgers_are_summed_and_what_was_written_is_not_lost(tmp_path: Path) -> None:
    (tmp_path / "a-1.background").write_text("                   0 /x/one\n                1024 /x/two three\n")
    (tmp_path / "a-2.background").write_text("                1024 /x/two three\n   \nrubbish\n 7\n")
    assert left_in_background(tmp_path) == [
        "LOST: 2 KiB of /x/two three: the program ended while 2 processes had them in the background"
    ]


def reported(**background: object) -> Report:
    return with_file(background=background)


def test_the_block_of_a_file_says_what_the_background_did() -> None:
    from penstock.measure.unmodified import text

    given = {"bytes": 2048, "bytes_max": 1024, "seconds_max": 2.0, "waited": 0.5, "at_once": 4096}
    lines = dict(text.block(reported(**given).files[0]))
    assert (
        lines["in the background"]
        == "2 KiB, for at most 2.00 s and 1 KiB in one rank; the program waited 500 ms for it"
    )
    assert lines["no room"].startswith("4 KiB were written at once")
    assert "LOST" not in lines
    assert not text.lost(reported(**given, lost=1024))  # a call has told it
    assert text.lost(reported(**given, lost=1024, untold=True))
    assert dict(text.block(reported(why_not="no locks").files[0]))["not in the background"] == "no locks"
