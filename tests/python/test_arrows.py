"""test_arrows.py: the include check catches what the laws of the house forbid, and lets the rest pass."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import BUILD, ROOT

ARROWS = ROOT / "tools" / "checks" / "arrows.py"
LAW = """\
core/base:
core/comm: core/base
core/storage: core/base
core/model: core/base core/comm
core/format: core/base core/model
core/transport: core/base core/storage core/model
core/session: core/format core/transport
bindings/c: core/session
"""


def check(root: Path, law: str = LAW) -> subprocess.CompletedProcess[str]:
    (root / "build").mkdir(exist_ok=True)
    (root / "build" / "arrows.txt").write_text(law)
    command = [sys.executable, str(ARROWS), "--root", str(root)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def put(root: Path, path: str, *lines: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("// A file of a test.\n" + "\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("path", "include"),
    [
        ("core/base/status.cpp", '"core/model/selection.hpp"'),  # against an arrow
        ("core/base/encode.hpp", "<penstock/decomposition.hpp>"),  # against an arrow, by a public header
        ("core/model/layout.hpp", '"core/storage/storage.hpp"'),  # no arrow either way
        ("core/format/raw/raw.cpp", '"core/transport/move.hpp"'),
        ("core/transport/two_phase/two_phase.cpp", '"core/format/format.hpp"'),
        ("core/transport/two_phase/two_phase.cpp", '"../../format/format.hpp"'),
        ("core/model/layout.cpp", "<mpi.h>"),
        ("bench/main.cpp", "<mpi.h>"),
        ("core/transport/move.cpp", "<hdf5.h>"),
        ("core/format/raw/raw.cpp", "<hdf5.h>"),
        ("include/penstock/status.hpp", "<penstock/type.hpp>"),
        ("include/penstock/new.hpp", "<penstock/status.hpp>"),  # a public header that nobody has given a room
        ("core/model/layout.cpp", "<penstock/new.hpp>"),
        ("core/attic/old.cpp", '"core/base/crc64.hpp"'),  # a folder that is no room
        ("examples/jacobi/jacobi.cpp", '"bench/options.hpp"'),
    ],
)
def test_a_forbidden_include_is_named(tmp_path: Path, path: str, include: str) -> None:
    put(tmp_path, path, "#include <vector>", f"  #  include {include}")
    done = check(tmp_path)
    assert done.returncode == 1
    assert f"{path}:3: " in done.stdout


@pytest.mark.parametrize(
    ("path", "include"),
    [
        ("core/base/status.cpp", '"core/base/units.hpp"'),
        ("core/base/status.cpp", "<penstock/status.hpp>"),
        ("core/format/raw/raw.cpp", '"core/comm/agree.hpp"'),  # through model
        ("core/session/file.cpp", '"core/format/format.hpp"'),
        ("core/comm/mpi/mpi.cpp", "<mpi.h>"),
        ("bench/launch.cpp", "<mpi.h>"),
        ("include/penstock.h", "<mpi.h>"),
        ("include/penstock.h", "<penstock/config.h>"),
        ("examples/jacobi/plate.c", '"plate.h"'),
        ("tests/conformance/cases.cpp", '"core/transport/transport.hpp"'),
        ("core/base/status.cpp", "<fmt/format.h>"),
    ],
)
def test_an_allowed_include_passes(tmp_path: Path, path: str, include: str) -> None:
    put(tmp_path, path, f"#include {include}")
    done = check(tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_formats_and_transports_never_meet_even_if_linked(tmp_path: Path) -> None:
    put(tmp_path, "core/format/raw/raw.cpp", '#include "core/transport/move.hpp"')
    done = check(tmp_path, LAW.replace("core/format: ", "core/format: core/transport "))
    assert done.returncode == 1


def test_without_a_law_it_says_how_to_make_one(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ARROWS), "--root", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "configuring the build makes it" in done.stderr


def test_this_repository_obeys() -> None:
    law = BUILD / "arrows.txt"
    if not law.is_file():
        pytest.fail("there is no build/arrows.txt: 'make build' makes it")
    done = subprocess.run(
        [sys.executable, str(ARROWS), "--root", str(ROOT)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_picture_of_the_rooms_is_the_laws(tmp_path: Path) -> None:
    page = tmp_path / "ARCHITECTURE.md"
    page.write_text("# Rooms\n\n```mermaid\ngraph TD\n  comm --> nothing\n```\n\nAnd more.\n")
    found = check(tmp_path)
    assert found.returncode == 1
    assert "ARCHITECTURE.md: the picture of the rooms is old" in found.stdout
    command = [sys.executable, str(ARROWS), "--root", str(tmp_path), "--draw"]
    subprocess.run(command, check=True, capture_output=True)
    text = page.read_text()
    assert text.startswith("# Rooms\n\n```mermaid\ngraph TD\n  comm --> base\n")
    assert "  transport --> storage & model\n" in text  # base follows from it
    assert "  session --> format & transport\n```\n\nAnd more.\n" in text
    assert check(tmp_path).returncode == 0
