"""test_lines.py: the check that every file says what it is for, and that lines are not too long."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

CHECK = ROOT / "tools" / "checks" / "lines.py"


def check(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(CHECK), "--root", str(root)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("core/a.cpp", '#include "core/a.hpp"\n// What it is for.\n'),
        ("core/a.cpp", "// a.cpp\n"),
        ("core/a.hpp", ""),
        ("tools/a.py", "import sys\n"),
        ("scripts/a", "#!/bin/sh\necho says nothing here\n"),
        ("core/CMakeLists.txt", "project(a)\n"),
    ],
)
def test_a_mute_file_is_named(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    done = check(tmp_path)
    assert done.returncode == 1
    assert f"{name}:1: " in done.stdout


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("core/a.cpp", "// What it is for.\n"),
        ("include/a.h", "/* What it is for. */\n"),
        ("tools/a.py", '"""a.py: what it is for."""\n'),
        ("scripts/a", "#!/bin/sh\n# What it is for.\n"),
        ("packaging/a.in", "#%Module1.0\n# What it is for.\n"),
        ("core/readme.md", "whatever"),
    ],
)
def test_a_file_that_speaks_passes(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert check(tmp_path).returncode == 0


@pytest.mark.parametrize("name", ["README.md", "core/a.hpp", "docs/a.md", "tools/penstock/a.toml", "tests/data/a.txt"])
def test_a_long_line_is_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("// # What it is for.\n" + 121 * "x" + "\n")
    done = check(tmp_path)
    assert done.returncode == 1
    assert f"{name}:2: 121 columns" in done.stdout


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", 120 * "x" + "\n"),
        ("README.md", 120 * "é" + "\n"),
        ("docs/a.svg", 121 * "x"),
        ("tests/data/ramses/a.txt", 121 * "x"),
        ("build/a.md", 121 * "x"),
    ],
)
def test_other_lines_pass(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    assert check(tmp_path).returncode == 0


def test_what_is_no_text_passes(tmp_path: Path) -> None:
    (tmp_path / "a.h5").write_bytes(b"\x89HDF" + 200 * b"\xff")
    assert check(tmp_path).returncode == 0


def test_this_repository_speaks() -> None:
    done = check(ROOT)
    assert done.returncode == 0, done.stdout
