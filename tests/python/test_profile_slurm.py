"""test_profile_slurm.py: jobs of a real Slurm are profiled and looked at under their ids, as their users."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import slurm_cluster
from conftest import BUILD, ROOT
from penstock.jobs.profile.reader import read_profile

SLURM = ROOT / "packaging" / "slurm"
OTHER = "nobody"


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user may enter, as those of pytest are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        (Path(folder) / "profiles").mkdir()
        (Path(folder) / "profiles").chmod(0o1777)
        yield Path(folder)


def waited_for(path: Path) -> Path:
    deadline = time.monotonic() + 60
    while not path.is_file():  # it is behind the job
        assert time.monotonic() < deadline, f"no {path}"
        time.sleep(0.1)
    return path


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_jobs_are_profiled_by_the_prolog_and_looked_at_by_the_epilog(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (lost := slurm_cluster.missing()) is not None:
        pytest.skip(lost)
    library = shutil.copy(BUILD / "lib" / "libpenstock_profile.so", shared)
    for name in ("task-prolog.sh", "epilog.sh"):
        shutil.copy(SLURM / name, shared)
    monkeypatch.setenv("PENSTOCK_PROFILES", str(shared / "profiles"))
    monkeypatch.setenv("PENSTOCK_PROFILE_LIBRARY", str(library))
    # Slurm gives it no environment of ours. This penstock says for whom it looks.
    script(shared / "bin" / "penstock", 'echo "$1 $2 $(id -un)" > "$4"')
    where = f'PATH="{shared}/bin:$PATH:/usr/bin:/bin" PENSTOCK_PROFILES={shared}/profiles'
    epilog = script(shared / "epilog", f"{where} exec {shared}/epilog.sh")
    home = shared / "slurm"
    home.mkdir()
    more = f"TaskProlog={shared}/task-prolog.sh\nEpilog={epilog}\n"
    with slurm_cluster.cluster(home, nodes=1, more=more) as environment:
        for user in ("root", OTHER):
            command = ["srun", "--mpi=none", "--chdir=/", "-n", "2", "dd", "if=/dev/zero"]
            command += [f"of={shared}/profiles/{user}.dat", "bs=1000", "count=5"]
            group = pwd.getpwnam(user).pw_gid
            done = subprocess.run(
                command,
                env=environment,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
                user=user,
                group=group,
            )
            assert done.returncode == 0, done.stderr
        for number, user in enumerate(("root", OTHER), 1):
            folder = shared / "profiles" / str(number) / "0"
            said = waited_for(folder / "doctor.json")
            assert said.stat().st_uid == pwd.getpwnam(user).pw_uid
            job = read_profile(folder)
            assert (job.job_id, job.ranks) == (str(number), 2)
            assert job.modules["POSIX"].total("POSIX_BYTES_WRITTEN") == 10000
            while not said.read_text().endswith("\n"):
                time.sleep(0.1)
            assert said.read_text() == f"doctor {folder}/ {user}\n"


def test_the_epilog_has_the_doctor_look(shared: Path) -> None:
    folder = shared / "profiles" / "1" / "0"
    folder.mkdir(parents=True)
    environment = os.environ | {"PENSTOCK_PROFILE_DIR": str(folder), "PATH": f"{shared}/bin:{os.environ['PATH']}"}
    library = str(BUILD / "lib" / "libpenstock_profile.so")
    command = ["dd", "if=/dev/zero", f"of={shared}/out.dat", "bs=1000", "count=5"]
    subprocess.run(command, env=environment | {"LD_PRELOAD": library}, check=True, capture_output=True, timeout=60)
    script(shared / "bin" / "penstock", f'exec {sys.executable} -m penstock "$@"')
    environment |= {"SLURM_JOB_ID": "1", "SLURM_JOB_USER": pwd.getpwuid(os.getuid()).pw_name}
    environment |= {"PENSTOCK_PROFILES": str(shared / "profiles")}
    subprocess.run([str(SLURM / "epilog.sh")], env=environment, check=True, timeout=60)
    waited_for(folder / "doctor.json")


def test_a_folder_that_somebody_else_made_is_not_used(shared: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can do what others did")
    environment = os.environ | {"PENSTOCK_PROFILES": str(shared / "profiles"), "SLURM_JOB_ID": "7"}
    environment |= {"PENSTOCK_PROFILE_LIBRARY": str(BUILD / "lib" / "libpenstock_profile.so")}

    def said() -> str:
        command = [str(SLURM / "task-prolog.sh")]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    assert "LD_PRELOAD" in said()
    for folder in (shared / "profiles" / "7" / "batch", shared / "profiles" / "7"):
        os.chown(folder, pwd.getpwnam(OTHER).pw_uid, -1)
        assert said() == ""
        os.chown(folder, 0, -1)
