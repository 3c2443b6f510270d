"""test_slurm.py: campaigns as jobs of a real Slurm: slurmctld, slurmd and munge, started here."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import slurm_cluster
from conftest import ROOT, Penstock
from penstock.measure.campaign import queue
from penstock.measure.campaign import slurm as campaign_slurm
from penstock.measure.campaign.request import read_request

CAMPAIGN = """
name = "under Slurm"
ranks = [2, 4]
repetitions = 2
methods = ["hdf5/two_phase", "raw/per_process"]

[[workload]]
name = "block2d"
total = "256KiB"
"""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    if (lost := slurm_cluster.missing()) is not None:
        pytest.skip(lost)
    with slurm_cluster.cluster(tmp_path_factory.mktemp("slurm")) as environment:
        yield environment


class Site:
    """A user's folder on the cluster."""

    def __init__(self, build: Path, folder: Path, slurm: dict[str, str]) -> None:
        self.folder = folder
        self.environment = slurm | {"PENSTOCK_BIN": str(build / "bin")}
        (folder / "campaign.toml").write_text(CAMPAIGN)

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=120, check=False
        )

    def penstock(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.call(sys.executable, "-m", "penstock", "campaign", *words)

    def submit(self, *more: str) -> subprocess.CompletedProcess[str]:
        return self.penstock("submit", "campaign.toml", "--folder", "jobs", "--dir", ".", *more)

    def wait(self, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while self.call("squeue", "-h").stdout.strip():
            assert time.monotonic() < deadline, self.call("squeue").stdout
            time.sleep(0.3)

    def output(self) -> str:
        return "".join(path.read_text() for path in sorted((self.folder / "jobs").glob("*.out")))

    def record(self) -> dict[str, Any]:
        made: dict[str, Any] = json.loads((self.folder / "out.json").read_text())
        return made


@pytest.fixture
def site(build: Path, tmp_path: Path, slurm: dict[str, str]) -> Site:
    return Site(build, tmp_path, slurm)


def test_a_campaign_is_submitted_run_by_srun_and_collected(site: Site) -> None:
    done = site.submit("--time", "5:00", "--setup", "echo set up on $SLURM_JOB_NUM_NODES node")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": job ") == 2
    site.wait()
    gathered = site.penstock("collect", "jobs", "--json", "out.json")
    assert gathered.returncode == 0, gathered.stderr + site.output()
    content = site.record()
    assert sorted(job["np"] for job in content["jobs"]) == [2, 4]
    assert all(job["record"]["verified"] and job["record"]["complete"] for job in content["jobs"])
    assert sum(content["jobs"][0]["record"]["provenance"]["nodes"].values()) == content["jobs"][0]["np"]
    assert "set up on 1 node" in site.output()
    assert "block2d: write" in gathered.stdout
    again = site.submit()
    assert again.returncode == 0
    assert ": job " not in again.stdout  # all of it is there


def test_ranks_on_two_nodes(site: Site) -> None:
    (site.folder / "campaign.toml").write_text(CAMPAIGN.replace("[2, 4]", "[4]"))
    done = site.submit("--tasks-per-node", "2")
    assert done.returncode == 0, done.stderr
    site.wait()
    gathered = site.penstock("collect", "jobs", "--json", "out.json")
    assert gathered.returncode == 0, gathered.stderr + site.output()
    assert site.record()["jobs"][0]["record"]["provenance"]["nodes"] == {"n0": 2, "n1": 2}
    assert "--ntasks-per-node=2" in (site.folder / "jobs" / "np4.sh").read_text()


def test_mpich_is_started_by_srun_too(site: Site, build: Path) -> None:
    if not (build / "mpich" / "bin" / "penstock-bench").is_file():
        pytest.skip("build/mpich has no penstock-bench: 'make build-mpich' makes it")
    (site.folder / "campaign.toml").write_text(f'mpi = "mpich"\n{CAMPAIGN}'.replace("[2, 4]", "[3]"))
    assert site.submit().returncode == 0
    site.wait()
    gathered = site.penstock("collect", "jobs", "--json", "out.json")
    assert gathered.returncode == 0, gathered.stderr + site.output()
    assert "MPICH" in site.record()["jobs"][0]["record"]["provenance"]["mpi"]


def test_a_job_that_is_cancelled_leaves_what_it_measured_and_is_taken_up(site: Site) -> None:
    many = CAMPAIGN.replace("repetitions = 2", "repetitions = 100000").replace("[2, 4]", "[2]")
    (site.folder / "campaign.toml").write_text(many)
    done = site.submit()
    assert done.returncode == 0, done.stderr
    deadline = time.monotonic() + 90
    while not list((site.folder / "jobs").glob("np2.json.np2.0")) and time.monotonic() < deadline:
        time.sleep(0.2)
    running = site.penstock("collect", "jobs", "--json", "out.json")
    assert running.returncode == 1
    assert "2 ranks: running" in running.stderr
    assert site.record()["jobs"][0]["record"]["repetitions"] >= 1
    assert site.call("scancel", "--user=root").returncode == 0
    site.wait()
    ended = site.penstock("collect", "jobs", "--json", "out.json")
    assert ended.returncode == 1
    assert "2 ranks: cancelled, " in ended.stderr
    before = sum(job["record"]["repetitions"] for job in site.record()["jobs"])
    assert before >= 1
    (site.folder / "campaign.toml").write_text(many.replace("100000", str(before + 1)))
    assert site.submit().stdout.count(": job ") == 1
    site.wait()
    whole = site.penstock("collect", "jobs", "--json", "out.json")
    assert whole.returncode == 0, whole.stderr + site.output()
    assert sum(job["record"]["repetitions"] for job in site.record()["jobs"]) == before + 1


def test_a_job_that_fails_is_reported_in_its_own_words(site: Site) -> None:
    done = site.submit("--setup", "export PENSTOCK_PLAN=hdf5/independent")
    assert done.returncode == 0, done.stderr
    site.wait()
    gathered = site.penstock("collect", "jobs", "--json", "out.json")
    assert gathered.returncode == 1
    for np in (2, 4):
        assert f"{np} ranks: failed, 0 of 2 repetitions: " in gathered.stderr
    assert "PENSTOCK_PLAN=hdf5/independent replaces every method" in gathered.stderr


@pytest.mark.nightly  # a minute: Slurm knows no shorter limit
def test_a_job_whose_time_is_up_goes_on_later_and_on_other_ranks(site: Site, build: Path) -> None:
    """By the script that docs/guides/time-limit.md prints."""
    guide = (ROOT / "docs" / "guides" / "time-limit.md").read_text()
    program = f"{build / 'bin' / 'jacobi'} --n 32"
    script = guide.split("```sh\n")[1].split("```")[0].replace("jacobi --n 4096", program)
    script = script.replace("--ntasks=16 --time=12:00:00", "--ntasks=4 --time=1:00").replace("USR1@300", "USR1@55")
    assert "--ntasks=4 --time=1:00\n#SBATCH --signal=USR1@55" in script
    (site.folder / "job.sh").write_text(script)
    (site.folder / "jobs").mkdir()
    submitted = site.call("sbatch", "--parsable", "--output=jobs/4.out", "job.sh")
    assert submitted.returncode == 0, submitted.stderr
    deadline = time.monotonic() + 100
    while "restarted from heat.h5 at step" not in site.output():
        assert time.monotonic() < deadline, site.output() + site.call("squeue").stdout
        time.sleep(0.3)
    assert site.call("scancel", submitted.stdout.strip()).returncode == 0
    site.wait()
    last = int(site.output().rpartition("wrote heat.h5 at step")[2].split()[0])
    (site.folder / "job.sh").write_text(script.replace("1000000", str(last + 50)))
    assert site.call("sbatch", "--ntasks=3", "--output=jobs/3.out", "job.sh").returncode == 0
    site.wait()
    ended = (site.folder / "jobs" / "3.out").read_text().splitlines()
    assert ended[0] == f"restarted from heat.h5 at step {last}"
    whole = site.call(*program.split(), "--steps", str(last + 50))
    assert whole.stdout.splitlines()[-1] == ended[-1], "as without a break"


ARRAY = """#!/bin/bash
#SBATCH --ntasks=2 --array=1-3 --output=jobs/%a.out
run=$SLURM_ARRAY_TASK_ID
{penstock} profile --with own -o profile-$run -- srun {jacobi} --n 64 --steps $run --checkpoint heat-$run.h5 &&
  {penstock} doctor profile-$run > said-$run.txt
echo "ended: $?"
{jacobi} --n 64 --steps 1 --checkpoint all.h5
echo "of all: $?"
"""


def test_the_jobs_of_an_array_write_their_files_and_ask_the_doctor(site: Site, build: Path) -> None:
    """Each its own file; and all of them one more, at about the same time: one that comes too late is told so."""
    jacobi = f"{build / 'bin' / 'jacobi'}"
    script = ARRAY.format(penstock=f"{sys.executable} -m penstock", jacobi=jacobi)
    (site.folder / "array.sh").write_text(script)
    (site.folder / "jobs").mkdir()
    submitted = site.call("sbatch", "array.sh")
    assert submitted.returncode == 0, submitted.stderr
    site.wait()
    wrote_all = []
    for run in (1, 2, 3):
        output = (site.folder / "jobs" / f"{run}.out").read_text()
        assert "ended: 0" in output, output
        assert f"wrote heat-{run}.h5 at step {run}" in output
        said = (site.folder / f"said-{run}.txt").read_text()
        assert "2 ranks" in said, said
        whole = site.call(str(build / "bin" / "penstock-verify"), f"heat-{run}.h5", "all.h5")
        assert whole.returncode == 0, whole.stdout + whole.stderr
        wrote_all.append("of all: 0" in output)
        assert wrote_all[-1] or "Another job writes it too; its file stays" in output, output
    assert any(wrote_all)
    assert not list(site.folder.glob("*.partial")) + list(site.folder.glob(".*"))


def test_a_job_that_slurm_refuses_is_one_line(site: Site) -> None:
    done = site.submit("--partition", "none")
    assert done.returncode == 1
    assert "invalid partition" in done.stderr
    assert "none was submitted" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_scripts_are_written_without_slurm(penstock: Penstock, tmp_path: Path) -> None:
    (tmp_path / "campaign.toml").write_text(CAMPAIGN)
    words = ("campaign", "submit", "campaign.toml", "--folder", "jobs", "--dir", ".", "--dry-run", "--account", "p1")
    done = penstock(*words, "--sbatch", "--exclusive", "--setup", "module load penstock")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "jobs" / "np4.sh").read_text()
    assert text in done.stdout
    assert "#SBATCH --account=p1\n#SBATCH --exclusive\n" in text
    assert text.index("module load penstock") < text.index("exec ")
    check = ["bash", "-n", str(tmp_path / "jobs" / "np4.sh")]
    assert subprocess.run(check, check=False).returncode == 0
    assert os.access(tmp_path / "jobs" / "np4.sh", os.X_OK)


def test_each_job_starts_when_those_before_have_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file, folder, submitted = tmp_path / "campaign.toml", tmp_path / "jobs", []
    file.write_text(CAMPAIGN.replace("[2, 4]", "[2, 3, 4]"))
    request, wishes = read_request(file), campaign_slurm.Wishes(tmp_path)

    def submit(script: Path, after: list[str]) -> str:
        submitted.append((script.name, after))
        return str(100 + len(submitted))

    monkeypatch.setattr(queue, "submit", submit)
    monkeypatch.setattr(queue, "standings", lambda jobs: {job: queue.Standing("RUNNING") for job in jobs})
    scripts = campaign_slurm.write_scripts(request, file, folder, wishes)
    campaign_slurm.submit(request, folder, {2: scripts[2]}, wishes)
    campaign_slurm.submit(request, folder, scripts, wishes)
    assert submitted == [("np2.sh", []), ("np3.sh", ["101"]), ("np4.sh", ["102"])]
    together = campaign_slurm.Wishes(tmp_path, together=True)
    again = tmp_path / "again"
    campaign_slurm.submit(request, again, campaign_slurm.write_scripts(request, file, again, together), together)
    assert submitted[3:] == [("np2.sh", []), ("np3.sh", []), ("np4.sh", [])]


def test_a_folder_is_of_one_campaign(penstock: Penstock, tmp_path: Path) -> None:
    (tmp_path / "campaign.toml").write_text(CAMPAIGN)
    words = ("campaign", "submit", "campaign.toml", "--folder", "jobs", "--dir", ".", "--dry-run")
    assert penstock(*words).returncode == 0
    (tmp_path / "jobs" / "np2.json").write_text("{}")
    (tmp_path / "campaign.toml").write_text(CAMPAIGN.replace("repetitions = 2", "repetitions = 3"))
    assert penstock(*words).returncode == 0
    (tmp_path / "campaign.toml").write_text(CAMPAIGN.replace("256KiB", "512KiB"))
    done = penstock(*words)
    assert done.returncode == 2
    assert "jobs is of another campaign (different: cases); name another --folder" in done.stderr


def test_a_job_has_the_time_of_its_campaign(penstock: Penstock, tmp_path: Path) -> None:
    (tmp_path / "campaign.toml").write_text(CAMPAIGN.replace('name = "under', 'time-limit = 1200\nname = "under', 1))
    words = ("campaign", "submit", "campaign.toml", "--folder", "50% done", "--dir", ".", "--dry-run", "--nodes", "2")
    done = penstock(*words)
    assert done.returncode == 0, done.stderr
    assert "#SBATCH --time=30\n#SBATCH --nodes=2\n" in done.stdout
    assert f"#SBATCH --output='{tmp_path}/50%% done/np2.out'\n" in done.stdout
