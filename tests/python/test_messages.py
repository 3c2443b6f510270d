"""test_messages.py: what `penstock` says of mistakes: one line with what and where, and a status that is not 0."""

import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import penstock as library
from conftest import Penstock

MISSING = r"'missing.h5': no such file or folder"
FOLDER = r"is a folder, not a file|has no file that penstock reads"
FOREIGN = r"is no file that penstock can read|is no HDF5 file"
TRUNCATED = r"is a truncated HDF5 file: it has \d+ of \d+ bytes, .* copy it again, or use an earlier file \(HDF5: "

READERS = ["info", "verify", "verify --seal", "verify --repair", "view", "picture", "diff good.h5", "convert {} o.nc"]
FILES = {
    "missing.h5": MISSING,
    "folder": FOLDER,
    "empty.h5": r"is empty \(0 bytes\)|is no HDF5 file",
    "foreign.h5": FOREIGN,
    "cut.h5": TRUNCATED,
}

OTHERS = [
    ("catalogue good.h5", "'good.h5': it is not a folder"),
    ("catalogue folder --database foreign.h5", "file is not a database: name another with --database FILE"),
    ("catalogue folder --database other.db", "the database of something else: name another with --database FILE"),
    ("streams good.h5", "it is no container of streams"),
    ("import ramses folder -o i.h5", "'folder' is no output of RAMSES"),
    ("split good.h5 s.h5", "say either --parts M or --per-rank N"),
    ("convert good.h5 nowhere/o.nc", "cannot create 'nowhere/o.nc': 'nowhere/': no such file or folder"),
    ("convert good.h5 foreign.h5", "'foreign.h5' is there already: --force replaces it"),
    ("view good.h5 nothing", "good.h5 has no dataset 'nothing'; it has t"),
    ("view good.h5 t --slice x=9", "--slice x=9 is outside"),
    ("view good.h5 t -o nowhere/v.png", "cannot write 'nowhere/v.png': No such file or directory"),
    ("view good.h5 t -o /dev/full", "cannot write '/dev/full': No space left on device"),
    ("picture good.h5 t -o /dev/full", "cannot write '/dev/full': No space left on device"),
    ("picture good.h5 t -o p.xyz", "p.xyz: pictures cannot be written as .xyz: use .png, .jpg, .svg or .pdf"),
    ("picture good.h5 nothing", "good.h5 has no dataset 'nothing'"),
    ("picture other.json", "other.json: its schema is None"),
    ("report foreign.h5", r"foreign.h5: neither a record of penstock bench, .* standard output$"),
    ("report cut.json", "cut.json: neither a record .*; it begins as JSON, and is damaged or cut in line 1"),
    ("report foreign.h5 -o r.svg", r"foreign.h5: it is not a result of penstock bench or campaign \(JSON\)$"),
    ("verify good.h5 --np 0", "--np must be at least 1, not 0"),
    ("bench nothing", "no workload 'nothing'; there are "),
    ("bench block2d --total 1Mx", "'1Mx' is no size; write for example"),
    ("bench block2d --methods nothing", "there is no format, transport or engine 'nothing'; there are "),
    ("bench block2d --resume", "--resume goes on with the file of --json: name it"),
    ("bench --preset table2 --resume", "--resume goes on with the file of --json: name it"),
]

# Every command that is given files or folders, the path at {}.
COMMANDS = [
    "info {}",
    "ls {}",
    "view {}",
    "picture {}",
    "verify {}",
    "verify --seal {}",
    "repair {}",
    "diff {} good.h5",
    "diff good.h5 {}",
    "convert {} o.nc",
    "join {} o.h5",
    "clean {}",
    "catalogue {}",
    "streams {}",
    "report {}",
    "report {} -o r.svg",
    "import ramses {} -o o.h5",
    "import records {} -o o.h5",
    "campaign run {} --json o.json",
    "campaign submit {} --folder o --dir .",
    "campaign collect {} --json o.json",
    "trace {}",
    "monitor --history {}",
    "feed splunk {}",
    "feed metrics --textfile o.prom --logs {}",
    "hints --dir {}",
    "bench block2d --dir {}",
]
MADE = ["convert good.h5 {}", "view good.h5 -o {}", "report other.json -o {}", "bench block2d --json {}"]
VALUES = [
    ("diff good.h5 good.h5 --rtol x", "'--rtol': 'x' is not a number"),
    ("diff good.h5 good.h5 --rtol -1", "'--rtol': -1 must be at least 0"),
    ("view good.h5 --size 1.5", "'--size': '1.5' is not a whole number"),
    ("info good.h5 --mpi x", "'--mpi': 'x' is not one of 'openmpi', 'mpich', 'serial'"),
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
    (tmp_path / "cut.json").write_text('{"a": 1')
    (tmp_path / "folder").mkdir()
    with contextlib.closing(sqlite3.connect(tmp_path / "other.db")) as database:
        database.execute("CREATE TABLE mine (number INTEGER)")
        database.commit()


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


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("command", COMMANDS)
def test_all_commands_say_the_same_of_a_path_that_is_not_there(penstock: Penstock, command: str) -> None:
    ran = penstock(*command.format("missing").split())
    assert ran.returncode == 2
    assert ran.stderr.startswith("penstock: 'missing': no such file or folder")
    assert ran.stderr.count("\n") == 1


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("command", COMMANDS + MADE)
def test_no_command_takes_an_empty_path(penstock: Penstock, command: str) -> None:
    ran = penstock(*(word.replace("{}", "") for word in command.split()))
    assert ran.returncode == 2
    assert "the path is empty ('.' is the current folder)" in ran.stderr


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("line", "message"), VALUES)
def test_wrong_values_are_named_in_plain_words(penstock: Penstock, line: str, message: str) -> None:
    ran = penstock(*line.split())
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[-1].startswith(f"Error: Invalid value for {message}")


@pytest.mark.usefixtures("files")
def test_what_may_not_be_read_is_named(tmp_path: Path, build: Path) -> None:
    shut = tmp_path / "folder" / "shut"
    shut.mkdir()
    (tmp_path / "good.h5").rename(tmp_path / "folder/good.h5")
    (tmp_path / "folder/good.h5").chmod(0)
    shut.chmod(0)
    if os.geteuid() == 0 and not shutil.which("setpriv"):
        pytest.skip("root may read everything, and there is no setpriv")
    powers = "-dac_override,-dac_read_search"
    plain = ["setpriv", f"--bounding-set={powers}", f"--inh-caps={powers}"] if os.geteuid() == 0 else []
    environment = {**os.environ, "PENSTOCK_BIN": str(build / "bin")}
    for command, status, said in (
        ("info folder", 1, "good.h5  cannot be read: Permission denied\n"),
        ("catalogue folder", 0, "not searched: shut: Permission denied\n"),
        ("info folder/shut/a.h5", 2, "penstock: 'folder/shut/a.h5': Permission denied\n"),
        ("trace folder/shut/a", 2, "penstock: 'folder/shut/a': Permission denied\n"),
    ):
        words = [*plain, sys.executable, "-m", "penstock", *command.split()]
        ran = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert ran.returncode == status
        assert said in (ran.stderr if said.startswith("penstock") else ran.stdout)
        assert ran.stderr.count("\n") == said.startswith("penstock")


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


@pytest.mark.parametrize("path", ["missing.h5", "nowhere/missing.h5"])
def test_a_missing_file_is_said_by_the_library_as_by_the_tools(
    penstock: Penstock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(tmp_path)
    calls: list[Callable[[str], Any]] = [
        library.open,
        library.open_latest,
        library.verify,
        library.repair,
        library.seal,
    ]
    calls += [lambda path: library.copy(path, "o.h5"), lambda path: library.clone(path, "o.h5")]
    for call in calls:
        with pytest.raises(library.NotFound) as missing:
            call(path)
        assert str(missing.value) == f"'{path}': no such file or folder"
        assert penstock("info", path).stderr == f"penstock: {missing.value}\n"
    with pytest.raises(library.NotFound, match="'nowhere/': no such file or folder"):
        library.open_series("nowhere/out-*.h5")
    with pytest.raises(library.NotFound, match="'nowhere/': no such file or folder"):
        library.reopen("nowhere/missing.h5")
