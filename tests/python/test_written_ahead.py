"""test_written_ahead.py: compressed chunks that are written while others are encoded."""

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.base import launch

PROGRAM = Path(__file__).parent / "ranks_written_ahead.py"


@pytest.mark.parametrize("codec", ["lz4", "zstd", "deflate"])
@pytest.mark.parametrize("case", ["own", "shared", "one_chunk", "many", "rounded", "changed"])
@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_every_value_is_in_its_place(tmp_path: Path, ranks: int, case: str, codec: str) -> None:
    if codec == "deflate" and ranks != 3:
        pytest.skip("one rank count is enough for the third codec")
    command = ["mpiexec.openmpi", "-n", str(ranks), sys.executable, "-m", "mpi4py", str(PROGRAM), str(tmp_path)]
    done = subprocess.run(
        [*command, case, codec], env=launch.environment(), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
