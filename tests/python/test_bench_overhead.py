"""test_bench_overhead.py: what the bench needs besides the data that it writes."""

import contextlib
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from penstock.base import launch

RANKS = 16
DATA = RANKS * 2 << 20
LIMIT = 200e6  # bytes beyond the data, of all ranks together, without what MPI itself takes; the bench warms DATA of it
IDLE = """
#include <mpi.h>
#include <unistd.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  sleep(2);
  return MPI_Finalize();
}
"""


def proportional_bytes(name: str) -> int:
    """What all processes called NAME have in memory now, what they share counted once."""
    total = 0
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            if entry.name.isdigit() and (entry / "comm").read_text().strip() == name[:15]:
                lines = (entry / "smaps_rollup").read_text().splitlines()
                total += 1024 * next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total


def most(program: Path, *words: str) -> int:
    """The most memory that RANKS of PROGRAM have at once."""
    command = [*launch.mpiexec(launch.Mpi.openmpi, RANKS), str(program), *words]
    process = subprocess.Popen(command, env=launch.environment(), stdout=subprocess.DEVNULL)
    found = 0
    while process.poll() is None:
        found = max(found, proportional_bytes(program.name))
        time.sleep(0.02)
    assert process.returncode == 0
    return found


@pytest.mark.parametrize("method", ["hdf5/two_phase", "raw/per_process", "phdf5:collective=true"])
def test_sixteen_ranks_need_little_beside_their_data(build: Path, tmp_path: Path, method: str) -> None:
    compiler = shutil.which("mpicc.openmpi")
    if compiler is None:
        pytest.skip("no mpicc.openmpi")
    # Names of their own: others run the bench too, and this test.
    source, idle, bench = tmp_path / "idle.c", tmp_path / f"idle-{os.getpid()}", tmp_path / f"bench-{os.getpid()}"
    source.write_text(IDLE)
    subprocess.run([compiler, str(source), "-o", str(idle)], check=True)
    bench.symlink_to(build / "bin" / "penstock-bench")
    words = ("block2d", "--per-rank", "2MiB", "--methods", method, "--repetitions", "2", "--dir", str(tmp_path))
    used = most(bench, *words)
    assert used > DATA, "nothing was sampled"
    assert used - DATA - most(idle) < LIMIT
