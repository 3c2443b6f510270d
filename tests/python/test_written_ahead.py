"""test_written_ahead.py: compressed chunks that are written while others are encoded."""

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.base import launch

PROGRAM = Path(__file__).parent / "ranks_written_ahead.py"


# The codec makes no difference to where chunks go: the others have one rank count each.
@pytest.mark.parametrize(
    ("ranks", "codec", "extension"),
    [
        (1, "zstd", "h5"),
        (3, "deflate", "h5"),
        (3, "lz4", "h5"),
        (4, "lz4", "h5"),
        (1, "deflate", "raw"),
        (3, "zstd", "raw"),
        (4, "blosc", "raw"),
        pytest.param(7, "lz4", "raw", marks=pytest.mark.nightly),
    ],
)
@pytest.mark.parametrize("case", ["own", "shared", "one_chunk", "many", "rounded", "changed"])
def test_every_value_is_in_its_place(tmp_path: Path, ranks: int, case: str, codec: str, extension: str) -> None:
    command = ["mpiexec.openmpi", "-n", str(ranks), sys.executable, "-m", "mpi4py", str(PROGRAM), str(tmp_path)]
    done = subprocess.run(
        [*command, case, codec, extension],
        env=launch.environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
