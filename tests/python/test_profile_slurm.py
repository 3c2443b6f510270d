"""test_profile_slurm.py: a job of a real Slurm is profiled under its id by the prolog of packaging/slurm/."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import slurm_cluster
from conftest import BUILD, ROOT
from penstock.profile.reader import read_profile


def test_a_job_is_profiled_by_the_prolog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if (lost := slurm_cluster.missing()) is not None:
        pytest.skip(lost)
    monkeypatch.setenv("PENSTOCK_PROFILES", str(tmp_path / "profiles"))
    monkeypatch.setenv("PENSTOCK_PROFILE_LIBRARY", str(BUILD / "lib" / "libpenstock_profile.so"))
    home = tmp_path / "slurm"
    home.mkdir()
    prolog = f"TaskProlog={ROOT / 'packaging' / 'slurm' / 'task-prolog.sh'}\n"
    with slurm_cluster.cluster(home, nodes=1, more=prolog) as environment:
        command = [
            "srun",
            "--mpi=none",
            "-n",
            "2",
            "dd",
            "if=/dev/zero",
            f"of={tmp_path}/out.dat",
            "bs=1000",
            "count=5",
        ]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "profiles").glob("*/*")
    assert os.path.relpath(folder, tmp_path / "profiles") == "1/0"
    job = read_profile(folder)
    assert (job.job_id, job.ranks) == ("1", 2)
    assert job.modules["POSIX"].total("POSIX_BYTES_WRITTEN") == 10000
    program = tmp_path / "bin" / "penstock"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m penstock "$@"\n')
    program.chmod(0o755)
    epilog = [str(ROOT / "packaging" / "slurm" / "epilog.sh")]
    more = {"PATH": f"{program.parent}:{os.environ['PATH']}", "SLURM_JOB_ID": "1"}
    subprocess.run(epilog, env=os.environ | more, check=True, timeout=60)
    deadline = time.monotonic() + 60
    while not (folder / "doctor.json").is_file():  # it is behind the job
        assert time.monotonic() < deadline
        time.sleep(0.1)
