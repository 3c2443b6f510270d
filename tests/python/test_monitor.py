"""test_monitor.py: `penstock monitor` on this machine: real bytes, real jobs, what hangs, and what makes no sense."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import run_penstock
from monitor_root import MOUNTINFO, make_root, write
from penstock.base import launch
from penstock.operate.monitor.queries import WORKER, Queries
from penstock.operate.monitor.sampler import Sampler

MIB = 1 << 20
WRITTEN = 200 * MIB
WRITE = """
import os, sys
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
sys.stdin.read(1)
for _ in range(200):
    os.write(file, bytes(1 << 20))
os.fsync(file)
print("written", flush=True)
sys.stdin.read()
"""


def test_what_a_program_writes_is_seen_on_its_device_and_of_its_process(tmp_path: Path) -> None:
    with Sampler() as sampler:
        child = subprocess.Popen(
            [sys.executable, "-c", WRITE, str(tmp_path / "big")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert child.stdin is not None
        assert child.stdout is not None
        sampler.next()
        child.stdin.write("!")
        child.stdin.flush()
        assert child.stdout.readline() == "written\n"
        sample = sampler.next()
        child.communicate()
    (one,) = (process for process in sample.processes if process.pid == child.pid)
    assert WRITTEN <= one.asked_write_bytes_per_second * sample.seconds <= WRITTEN + MIB
    device = tmp_path.stat().st_dev
    numbers = f"{os.major(device)}:{os.minor(device)}"
    if f"\n {os.major(device):3d} {os.minor(device):7d} " not in "\n" + Path("/proc/diskstats").read_text():
        pytest.skip(f"the folder for temporary files is on no device with counters ({numbers})")
    assert WRITTEN <= one.write_bytes_per_second * sample.seconds <= WRITTEN * 1.2
    mounts = sorted((s for s in sample.file_systems if tmp_path.is_relative_to(s.mount)), key=lambda s: len(s.mount))
    assert mounts[-1].write_bytes_per_second is not None
    assert mounts[-1].write_bytes_per_second * sample.seconds >= WRITTEN
    assert sample.node.write_bytes_per_second * sample.seconds >= WRITTEN


@pytest.fixture
def bench(build: Path, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """penstock-bench on two ranks, which writes and reads until it is stopped."""
    words = ["block2d", "--total", "400MiB", "--methods", "hdf5/two_phase,hdf5/independent", "--repetitions", "50"]
    command = [
        *launch.mpiexec(launch.Mpi.openmpi, 2),
        str(build / "bin/penstock-bench"),
        *words,
        "--dir",
        str(tmp_path),
    ]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=launch.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    yield process
    process.terminate()
    process.wait(60)


def test_a_running_job_is_seen_with_phase_and_progress(bench: subprocess.Popen[bytes], tmp_path: Path) -> None:
    phases, progress, rates = set(), [], []
    with Sampler() as sampler:
        for _ in range(1200):
            assert bench.poll() is None, "it ended before anything was seen of it"
            time.sleep(0.05)
            for job in sampler.next().jobs:
                for output in job.outputs:
                    if not output.path.startswith(str(tmp_path)):
                        continue  # of another job of this machine
                    assert (job.program, output.ranks in (1, 2)) == ("penstock-bench", True)
                    phases |= set(job.phases)
                    if output.operation == "write" and output.total_bytes:
                        assert 399 * MIB <= output.total_bytes <= 401 * MIB  # in whole rows
                        progress.append(output.progress or 0.0)
                    rates.append(output.bytes_per_second or 0.0)
            if phases & {"write", "sync"} and any(0 < part < 1 for part in progress) and any(rates):
                break
        else:
            pytest.fail(f"in 60 s: phases {phases}, progress {progress[-20:]}")
    assert max(progress) <= 1.0


HANGS = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
import worker
statvfs = os.statvfs
def hanging(path):
    if path.endswith("/mnt/projects"):
        time.sleep(3600)
    return statvfs(path)
os.statvfs = hanging
worker.main()
"""


def test_a_mount_that_hangs_holds_up_nobody(tmp_path: Path) -> None:
    make_root(tmp_path)
    with Sampler(tmp_path, (sys.executable, "-c", HANGS, str(WORKER.parent))) as sampler:
        for _ in range(60):  # a worker on a busy machine takes its time to begin
            systems = {one.mount: one for one in sampler.next().file_systems}
            hung = systems["/mnt/projects"]
            if hung.space_waiting_seconds > 0.9 and systems["/scratch"].total_bytes is not None:
                break
        process = sampler._queries._process
    assert hung.space_waiting_seconds > 0.9
    assert (hung.total_bytes, hung.used) == (None, None)
    assert systems["/scratch"].total_bytes is not None
    assert process is not None
    assert process.poll() is not None, "its worker is ended although it hangs"


def test_a_worker_that_dies_is_started_again(tmp_path: Path) -> None:
    with Queries() as queries:
        for _ in range(2):
            queries.ask("a", "space", str(tmp_path))
            queries.wait(30)
            assert queries.answer("a").value[0] > 0
            assert queries._process is not None
            queries._process.kill()
            queries._process.wait()
        queries.ask("b", "space", str(tmp_path / "none"))
        queries.wait(30)
        assert queries.answer("b").error == "No such file or directory"


def test_once_as_json_is_one_record(tmp_path: Path) -> None:
    done = run_penstock("monitor", "--once", "--json", "--interval", "0.2", cwd=tmp_path, bin_folder=tmp_path)
    assert done.returncode == 0, done.stderr
    record: dict[str, Any] = json.loads(done.stdout)
    assert (record["schema"], record["troubles"]) == ("penstock.monitor/1", [])
    assert 0.2 <= record["interval_seconds"] < 30
    assert "/" in [one["mount"] for one in record["file_systems"]]
    assert record["processes_seen"] >= record["processes_refused"]


def test_elsewhere_there_are_lines_and_a_history(tmp_path: Path) -> None:
    words = ["--interval", "0.2", "--count", "3", "--record", "h.sqlite", "--json"]
    done = run_penstock("monitor", *words, cwd=tmp_path, bin_folder=tmp_path)
    assert len(done.stdout.splitlines()) == 3
    done = run_penstock("monitor", "--interval", "0.2", "--for", "0.4", cwd=tmp_path, bin_folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    said = run_penstock("monitor", "--history", "h.sqlite", "--json", cwd=tmp_path, bin_folder=tmp_path)
    history = json.loads(said.stdout)
    assert (history["schema"], history["nodes"][0]["intervals"]) == ("penstock.monitor.history/1", 3)
    tables = run_penstock("monitor", "--history", "h.sqlite", cwd=tmp_path, bin_folder=tmp_path)
    assert "3 intervals" in tables.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--interval", "0"], "--interval 0: 0.1 seconds to a day"),
        (["--interval", "nan"], "--interval nan"),
        (["--for", "-1"], "--for -1: more than no seconds"),
        (["--keep", "0"], "--keep 0: more than no days"),
        (["--job", "7"], "name its file with --history FILE"),
        (["--record", "no/such/folder/a"], "cannot be recorded to: unable to open database file"),
        (["--history", "none"], "'none': no such file or folder"),
    ],
)
def test_what_makes_no_sense_is_said_in_a_line(tmp_path: Path, words: list[str], said: str) -> None:
    done = run_penstock("monitor", "--once", *words, cwd=tmp_path, bin_folder=tmp_path)
    assert (done.returncode in (1, 2), done.stdout) == (True, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_it_works_where_there_is_nothing(tmp_path: Path) -> None:
    with Sampler(tmp_path) as sampler:
        sample = sampler.next()
    assert (sample.file_systems, sample.devices, sample.jobs, sample.processes) == ([], [], [], [])
    write(tmp_path / "proc/self/mountinfo", "nonsense\n" + MOUNTINFO[:100])
    with Sampler(tmp_path) as sampler:
        sampler.next()
