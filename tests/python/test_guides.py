"""test_guides.py: the code that guides show is that of the examples, and the Python one does what the old one did."""

import re
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from conftest import ROOT
from penstock.base import launch

SHOWN = re.compile(r"^<!-- from (\S+) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("guide", sorted((ROOT / "docs" / "guides").glob("*.md")), ids=lambda path: path.name)
def test_what_is_shown_is_in_the_example(guide: Path) -> None:
    shown = SHOWN.findall(guide.read_text())
    assert shown
    for name, code in shown:
        assert code in (ROOT / name).read_text(), f"{name} has no longer\n{code}"


def test_the_python_output_is_replaced(build: Path, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    del build  # it has the extension
    for way in ("before", "after"):
        program = ROOT / "examples" / "replace" / "python" / f"{way}.py"
        command = [*launch.mpiexec(launch.Mpi.openmpi, 3), sys.executable, "-m", "mpi4py", str(program), f"{way}.h5"]
        subprocess.run(command, cwd=tmp_path, env=launch.environment(), check=True, timeout=120)
    with h5py.File(tmp_path / "before.h5") as before, h5py.File(tmp_path / "after.h5") as after:
        np.testing.assert_array_equal(before["table"][()], after["table"][()])
        assert after["table"].attrs["units"] == b"m"
        assert before.attrs["step"] == after.attrs["step"] == 4
