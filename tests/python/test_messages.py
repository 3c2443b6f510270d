"""test_messages.py: what `penstock` says of mistakes: one line with what and where, and a status that is not 0."""

import os
import re
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from conftest import Penstock

MISSING = r"no such file|No such file or directory"
FOLDER = r"is a folder, not a file|has no file that penstock reads"
FOREIGN = r"is no file that penstock can read|is no HDF5 file"
TRUNCATED = r"is a damaged or truncated HDF5 file"

READERS = ["info", "verify", "verify --seal", "verify --repair", "view", "picture", "diff good.h5", "convert {} o.nc"]
FILES = {"missing.h5": MISSING, "folder": FOLDER, "empty.h5": FOREIGN, "foreign.h5": FOREIGN, "cut.h5": TRUNCATED}

OTHERS = [
    ("ls missing.h5", "no such file"),
    ("join missing.h5 j.h5", "missing.h5"),
    ("seal missing.h5", "no such file|No such file or directory"),
    ("repair missing.h5", "no such file|No such file or directory"),
    ("clean missing.h5", "'missing.h5': no such file or folder"),
    ("catalogue good.h5", "good.h5: it is no folder"),
    ("catalogue missing", "missing: there is no such folder"),
    ("streams good.h5", "it is no container of streams"),
    ("import records missing.toml -o i.h5", "missing.toml: No such file or directory"),
    ("import ramses folder -o i.h5", "'folder' is no output of RAMSES"),
    ("split good.h5 s.h5", "say either --parts M or --per-rank N"),
    ("convert good.h5 nowhere/o.nc", "cannot create 'nowhere/o.nc': .*No such file or directory"),
    ("convert good.h5 foreign.h5", "'foreign.h5' is there already: --force replaces it"),
    ("view good.h5 nothing", "good.h5 has no dataset 'nothing'; it has t"),
    ("view good.h5 t --slice x=9", "--slice x=9 is outside"),
    ("view good.h5 t -o nowhere/v.png", "cannot write 'nowhere/v.png': No such file or directory"),
    ("view good.h5 t -o /dev/full", "cannot write '/dev/full': No space left on device"),
    ("picture good.h5 t -o /dev/full", "cannot write '/dev/full': No space left on device"),
    ("picture good.h5 t -o p.xyz", "p.xyz: Format 'xyz' is not supported"),
    ("picture good.h5 nothing", "good.h5 has no dataset 'nothing'"),
    ("picture other.json", "other.json: its schema is None"),
    ("verify good.h5 --np 0", "--np must be at least 1, not 0"),
    ("bench nothing", "no workload 'nothing'; there are "),
    ("bench block2d --total 1Mx", "'1Mx' is no size; write for example"),
    ("bench block2d --methods nothing", "there is no format, transport or engine 'nothing'; there are "),
    ("bench block2d --dir nowhere", "--dir nowhere: no such folder"),
]


@pytest.fixture
def files(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "good.h5", "w") as file:
        file["t"] = np.arange(12.0).reshape(3, 4)
    whole = (tmp_path / "good.h5").read_bytes()
    (tmp_path / "cut.h5").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.h5").touch()
    (tmp_path / "foreign.h5").write_text("no data\n")
    (tmp_path / "other.json").write_text('{"a": 1}\n')
    (tmp_path / "folder").mkdir()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("command", READERS)
def test_readers_say_what_is_wrong_with_a_file(penstock: Penstock, command: str, file: str) -> None:
    line = command.format(file) if "{}" in command else f"{command} {file}"
    _says(penstock, line, FILES[file], file)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("line", "message"), OTHERS, ids=[line for line, _ in OTHERS])
def test_mistakes_are_named(penstock: Penstock, line: str, message: str) -> None:
    _says(penstock, line, message, "")


@pytest.mark.parametrize("line", ["--version", "monitor --once --interval 0.1", "feed metrics --interval 0.1"])
def test_a_full_disk_below_standard_output_is_said(line: str) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "penstock", *line.split()]
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    assert (ran.returncode, ran.stderr) == (1, "penstock: cannot write standard output: No space left on device\n")


def test_who_reads_no_further_hears_nothing() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        command = [sys.executable, "-m", "penstock", "--version"]
        ran = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    finally:
        os.close(writing)
    assert (ran.returncode, ran.stderr) == (1, "")


def _says(penstock: Penstock, line: str, message: str, name: str) -> None:
    ran = penstock(*line.split())
    said = ran.stderr.splitlines()
    assert ran.returncode in (1, 2), ran.stdout
    assert len(said) == 1, ran.stderr
    assert said[0].startswith("penstock: ")
    assert name in said[0]
    assert re.search(message, said[0]), said[0]
