"""test_soak.py: `penstock soak` for a few seconds, and what it makes of programs that lose checkpoints or fail."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Penstock, run_penstock

Program = Callable[[str], Path]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Makes a build folder whose serial penstock-soak is the Python text given, and returns its bin folder."""

    def make(body: str) -> Path:
        folder = tmp_path / "stand-in" / "serial" / "bin"
        folder.mkdir(parents=True)
        path = folder / "penstock-soak"
        path.write_text(f"#!{sys.executable}\nimport json, sys, time\nfrom pathlib import Path\n{SAY}{body}")
        path.chmod(0o755)
        return tmp_path / "stand-in" / "bin"

    return make


SAY = """
def say(**line):
    print(json.dumps(line), flush=True)
def committed(step, kib=1000):
    say(committed=step, resident_kib=kib, open_files=5)
"""


def test_a_short_one_loses_nothing(penstock: Penstock, tmp_path: Path) -> None:
    ran = penstock("soak", "--minutes", "0.2", "--max-np", "3", "--seed", "4", "--dir", str(tmp_path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    *_, counts, _growth, verdict = ran.stdout.splitlines()
    assert verdict == "0 committed checkpoints lost, 0 hangs, 0 errors"
    happened = {what: int(number) for number, what in re.findall(r"(\d+) (jobs|commits|restarts)", counts)}
    assert min(happened.values()) >= 1, counts
    assert len(happened) == 3
    assert not list(tmp_path.glob("penstock-soak-*"))


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("say(restarted_at=0, ranks=1, passed_over=[])\ncommitted(5)\n", "1 committed checkpoints lost"),
        ("say(error='3 elements of step 7 are wrong')\n", "1 errors"),
        ("sys.exit(1)\n", "1 errors"),
        ("for step in range(1, 30):\n    committed(step, 1000 * step)\n    time.sleep(0.01)\n", "0 errors"),
    ],
    ids=["an old checkpoint is the newest", "wrong values", "a failure", "steady"],
)
def test_what_is_wrong_is_counted(program: Program, tmp_path: Path, body: str, verdict: str) -> None:
    ran = run_penstock(
        "soak", "--minutes", "0.02", "--mpi", "serial", "--seed", "1", cwd=tmp_path, bin_folder=program(body)
    )
    assert verdict in ran.stdout.splitlines()[-1], ran.stdout + ran.stderr
    assert ran.returncode == (0 if verdict.startswith("0") else 1)


def test_growth_is_a_failure(program: Program, tmp_path: Path) -> None:
    grows = "for step in range(1, 560):\n    committed(step, 2000 * step)\n"
    ran = run_penstock(
        "soak", "--minutes", "0.02", "--mpi", "serial", "--seed", "1", cwd=tmp_path, bin_folder=program(grows)
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "after 500 commits memory grew by" in ran.stdout


def test_too_short_to_see_growth_is_said(program: Program, tmp_path: Path) -> None:
    ran = run_penstock(
        *("soak", "--minutes", "0.02", "--mpi", "serial", "--seed", "1"),
        cwd=tmp_path,
        bin_folder=program("for step in range(1, 60):\n    committed(step, 2000 * step)\n"),
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "no job made 500 commits" in ran.stdout


def test_bad_arguments_are_one_line(penstock: Penstock) -> None:
    ran = penstock("soak", "--minutes", "0")
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
