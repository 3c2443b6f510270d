"""test_printable.py: no name, value or unit of other people's files drives the terminal, or makes two lines of one."""

import json
import re
from pathlib import Path

import h5py
import numpy as np
import pytest

import penstock as library
from conftest import Penstock
from penstock.base.mounts import kind_of
from penstock.base.printable import printable
from penstock.operate.leftovers.survey import ASIDE
from test_hostile import container

EVIL = "\x1b]0;gone\x07\n\t\x9b31m"
WRITTEN = r"\x1b]0;gone\x07\n\t\x9b31m"
COMMANDS = [
    "info {}", "info --all {}", "info --list {}", "info --only no {}", "info .", "ls {}", "ls --long {}", "ls .",
    "diff {} other.h5", "diff other.h5 {}", "diff {} {}.no", "verify {}", "verify --seal {}", "view {} no", "view {}",
    "picture {}", "convert {} no/{}", "convert {} o.h5", "streams {}", "streams evil.pstream", "catalogue .",
    "clean --dry-run .",
]  # fmt: skip


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    path = tmp_path / f"f{EVIL}.h5"
    with h5py.File(path, "w") as file:
        rho = file.create_dataset(f"rho{EVIL}", data=np.arange(12.0).reshape(3, 4))
        rho.attrs["units"] = f"K{EVIL}"
        rho.attrs[f"name{EVIL}"] = f"value{EVIL}"
        file.attrs[f"of the file{EVIL}"] = f"value{EVIL}"
        file.attrs["list"] = np.array([f"one{EVIL}", "two"], dtype=h5py.string_dtype())
        file.create_group(f"group{EVIL}").attrs["step"] = 1
        file[f"compound{EVIL}"] = np.zeros(1, [("a", "i4"), ("b", "f4")])
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["p"] = np.arange(3.0)
    (tmp_path / f".old{EVIL}.{'0' * 16}.partial{ASIDE}").touch()
    (tmp_path / "evil.pstream").write_bytes(container({}))
    (tmp_path / f"s{EVIL}.pstream").write_bytes(container({}))
    return path


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_gives_the_terminal_no_orders(penstock: Penstock, evil: Path, command: str) -> None:
    ran = penstock(*(word.format(evil.name) for word in command.split()))
    said = ran.stdout + ran.stderr
    assert "Traceback" not in said
    assert re.findall(r"[^\n\x20-\x7e\xa0-\uffff]", said) == []
    assert not [line for line in said.splitlines() if line.startswith(("\t", "31m"))]
    if "evil.pstream" not in command:
        assert "gone" in said


def test_what_is_told_is_all_there(penstock: Penstock, evil: Path) -> None:
    said = penstock("info", evil.name).stdout
    for name in ("rho", "of the file", "value", "units K", "group"):
        assert f"{name}{WRITTEN}" in said
    told = json.loads(penstock("info", "--json", evil.name).stdout)["found"]
    assert f"rho{EVIL}" in [each["name"] for each in told["datasets"]], "programs get it as it is"


def test_the_format_of_an_index_is_listed_harmlessly(penstock: Penstock, tmp_path: Path) -> None:
    index = {"schema": "penstock.index/1", "format": f"raw{EVIL}", "datasets": []}
    (tmp_path / "index").write_text(json.dumps(index), encoding="utf-8")
    assert f"raw{WRITTEN}" in penstock("catalogue", ".").stdout


def test_an_error_of_the_library_is_one_line(evil: Path) -> None:
    with library.open(evil) as file, pytest.raises(library.NotFound) as missing:
        file[f"no{EVIL}"]
    with pytest.raises(library.NotFound) as nothing:
        library.open(f"no{EVIL}")
    for error in (missing, nothing):
        assert f"no{WRITTEN}" in str(error.value)


def test_texts_of_a_list_are_written_as_a_single_one(penstock: Penstock, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "texts.h5", "w") as file:
        file.attrs["one"] = "a\\b\x1b"
        file.attrs["list"] = np.array(["a\\b\x1b", 'c"d'], dtype=h5py.string_dtype())
    said = penstock("info", "texts.h5").stdout
    assert "one   a\\b\\x1b\n" in said
    assert r"""list  ["a\b\x1b", "c\"d"]""" in said


def test_a_mount_point_has_its_name_in_any_script(monkeypatch: pytest.MonkeyPatch) -> None:
    line = r"36 35 98:0 / /data/Проект\040x\134 rw - lustre src rw"
    monkeypatch.setattr(Path, "read_text", lambda self, **_: f"1 1 0:1 / / rw - overlay o rw\n{line}\n")
    assert kind_of(Path("/data/Проект x\\/run")) == "lustre"
    assert kind_of(Path("/data/other")) == "overlay"


def test_text_is_left_alone() -> None:
    assert printable("käse 漢\u3000字 \xa0$") == "käse 漢\u3000字 \xa0$"
    assert printable("\x00\x7f\x85\u202e\udc9b") == r"\x00\x7f\x85\u202e\x9b"
