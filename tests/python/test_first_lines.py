"""test_first_lines.py: the check that every file says what it is for."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

CHECK = ROOT / "tools" / "checks" / "first_lines.py"


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
        ("core/readme.md", "whatever"),
    ],
)
def test_a_file_that_speaks_passes(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert check(tmp_path).returncode == 0


def test_this_repository_speaks() -> None:
    done = check(ROOT)
    assert done.returncode == 0, done.stdout
