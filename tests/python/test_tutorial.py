"""test_tutorial.py: every block of docs/tutorial/index.md runs as it is printed, in order."""

import os
import re
import subprocess
import sys
from pathlib import Path

from conftest import ROOT
from penstock.base import launch

BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_tutorial_runs_as_printed(build: Path, tmp_path: Path) -> None:
    launcher = tmp_path / "bin"
    launcher.mkdir()
    for name, words in {
        "python": f'exec {sys.executable} "$@"',
        "penstock": f'exec {sys.executable} -m penstock "$@"',
        "mpiexec": 'exec mpiexec.openmpi "$@"',
    }.items():
        (launcher / name).write_text(f"#!/bin/sh\n{words}\n")
        (launcher / name).chmod(0o755)
    environment = launch.environment() | {
        "PATH": f"{launcher}:{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT / 'tools'}:{build / 'lib' / 'python'}",
        "PENSTOCK_BIN": str(build / "bin"),
    }
    said: dict[str, str] = {}
    for language, text in BLOCK.findall((ROOT / "docs" / "tutorial" / "index.md").read_text()):
        if language == "python":
            title = re.match(r"# (\w+\.py)\n", text)
            assert title is not None, text
            (tmp_path / title[1]).write_text(text)
            continue
        for line in text.strip().split("\n"):
            command = ["bash", "-c", line]
            done = subprocess.run(
                command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=300
            )
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
            said[line] = done.stdout
    assert "(48, 32) K" in said["python look.py"]
    means = [float(word) for word in said["python means.py"].strip(" []\n").split()]
    assert len(means) == 5
    assert means == sorted(means)
    assert (tmp_path / "bench.svg").read_text().startswith("<svg")
    assert (tmp_path / "plate.png").stat().st_size > 1000
