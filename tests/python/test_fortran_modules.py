"""The generator of the Fortran modules: it translates penstock.h, and says which declaration it cannot."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

GENERATE = ROOT / "bindings" / "fortran" / "generate.py"
HEADER = ROOT / "include" / "penstock.h"


def generate(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, GENERATE, *map(str, words)], capture_output=True, text=True, check=False)


def with_declaration(folder: Path, declaration: str) -> Path:
    header = folder / "penstock.h"
    text = HEADER.read_text(encoding="utf-8")
    header.write_text(text.replace("/* --- errors", declaration + "\n/* --- errors"), encoding="utf-8")
    return header


def test_every_declaration_is_translated(tmp_path: Path) -> None:
    done = generate("c", "--header", HEADER, "--output", tmp_path / "penstock_c.f90")
    assert done.returncode == 0, done.stderr
    module = (tmp_path / "penstock_c.f90").read_text(encoding="utf-8")
    assert "integer(c_int) function penstock_put(file, name, type, d, data, memory) bind(C)" in module
    assert "integer(c_int), parameter :: PENSTOCK_INTERNAL = 16" in module
    assert max(map(len, module.splitlines())) <= 132


@pytest.mark.parametrize(
    "declaration",
    [
        "penstock_status penstock_new(void (*callback)(int));",
        "penstock_status penstock_new(float **values);",
        "float penstock_new(int rank);",
        "#define PENSTOCK_NEW 3",
        "typedef union penstock_new { int a; } penstock_new;",
    ],
)
def test_what_it_cannot_translate_is_named(tmp_path: Path, declaration: str) -> None:
    header = with_declaration(tmp_path, declaration)
    done = generate("c", "--header", header, "--output", tmp_path / "penstock_c.f90")
    assert done.returncode == 1
    assert "NEW" in done.stderr.upper()
    assert not (tmp_path / "penstock_c.f90").exists()


def test_a_function_that_fortran_does_not_reach_is_named(tmp_path: Path) -> None:
    header = with_declaration(tmp_path, "penstock_status penstock_new(penstock_file *file);")
    sources = [*GENERATE.parent.glob("*.c"), GENERATE.parent / "penstock.f90.in"]
    assert generate("check", "--header", HEADER, *sources).returncode == 0
    done = generate("check", "--header", header, *sources)
    assert done.returncode == 1
    assert "penstock_new" in done.stderr
