"""trial.py: one test of another project: how it is run, with and without the library, and its verdict."""

import json
import os
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PASSED, FAILED, LATE, SKIPPED = "passed", "failed", "late", "skipped"
NOTHING_TO_TEST = 77  # the exit status by which Automake's tests say so
KEPT_CHARACTERS = 3000


@dataclass(frozen=True)
class Mpi:
    """An MPI library of this machine, and which of its implementations of MPI-IO is used."""

    name: str
    suffix: str  # of mpicc.SUFFIX and mpiexec.SUFFIX
    environment: Mapping[str, str] = field(default_factory=dict)

    def compiler(self, language: str = "cc") -> str:
        return f"mpi{language}.{self.suffix}"

    def start(self, ranks: int) -> tuple[str, ...]:
        return f"mpiexec.{self.suffix}", "-n", str(ranks)


OMPIO = Mpi("openmpi", "openmpi", {"OMPI_MCA_io": "ompio"})
ROMIO = Mpi("romio", "openmpi", {"OMPI_MCA_io": "romio321"})
MPICH = Mpi("mpich", "mpich")


@dataclass(frozen=True)
class Trial:
    """A test: it passes if WORDS exit with 0 in time, and what they print has WANTED in it and nothing UNWANTED.

    FOLDER in a word stands for the folder in which it runs.
    """

    name: str
    words: Sequence[str]
    limit_seconds: int = 120
    wanted: str = ""
    unwanted: str = r"\A\Z."  # matches nothing
    group: str = ""  # those of one group find each other's files, otherwise each has an empty folder


@dataclass(frozen=True)
class Suite:
    """The tests of a project, built with MPI; tests run in this order."""

    name: str
    version: str
    mpi: Mpi
    trials: Sequence[Trial]
    notes: Sequence[str] = ()


@dataclass
class Outcome:
    verdict: str
    seconds: float
    said: str
    jobs: int = 0  # those that the library reported on
    calls: Counter[str] = field(default_factory=Counter)  # of MPI-IO that the library did itself
    passed: Counter[str] = field(default_factory=Counter)  # that it left to the MPI library


def environment(mpi: Mpi) -> dict[str, str]:
    """What jobs run in: as the project's own tests do, and without what a user's shell has set for MPI-IO."""
    words = [line.partition("=") for line in (ROOT / "tools/penstock/mpi.env").read_text().splitlines()]
    given = {name: value for name, equals, value in words if equals and name.isidentifier()}
    dropped = ("PENSTOCK_", "ROMIO_", "LD_PRELOAD", "HDF5_", "MAKE", "MFLAGS")
    mine = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return mine | given | dict(mpi.environment)


def run(trial: Trial, mpi: Mpi, cwd: Path, library: Path | None, settings: Sequence[str] = ()) -> Outcome:
    """Runs TRIAL in CWD, which exists, with LIBRARY, under SETTINGS, preloaded into all that it starts, or without."""
    there = environment(mpi)
    reports = cwd.parent / "reports"
    if library is not None:
        reports.mkdir(exist_ok=True)
        there |= {"LD_PRELOAD": str(library), "PENSTOCK_RUN_REPORT": str(reports)}
        there |= dict(setting.split("=", 1) for setting in settings)
        if there.get("HDF5_DRIVER") == "penstock":
            driver = library.parent / "hdf5" / "libpenstock_hdf5_driver.so"
            there |= {"LD_PRELOAD": f"{driver}:{library}", "HDF5_PLUGIN_PATH": str(driver.parent)}
    begin = time.monotonic()
    with (cwd.parent / "said").open("w+b") as said:
        words = [word.replace("FOLDER", str(cwd)) for word in trial.words]
        job = subprocess.Popen(
            words, cwd=cwd, env=there, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
        )
        try:
            status: int | None = job.wait(trial.limit_seconds)
        except subprocess.TimeoutExpired:
            status = None
        end_session(job)
        seconds = time.monotonic() - begin
        said.seek(0)
        text = said.read().decode(errors="replace")
    outcome = Outcome(judge(trial, status, text), round(seconds, 2), text[-KEPT_CHARACTERS:])
    for report in sorted(reports.glob("*.json")):
        count(json.loads(report.read_text()), outcome)
        report.unlink()
    return outcome


def judge(trial: Trial, status: int | None, text: str) -> str:
    if status is None:
        return LATE
    if status == NOTHING_TO_TEST:
        return SKIPPED
    good = status == 0 and re.search(trial.wanted, text) is not None and re.search(trial.unwanted, text) is None
    return PASSED if good else FAILED


def count(report: dict[str, object], outcome: Outcome) -> None:
    """Adds the calls in REPORT, which is of one MPI job, to OUTCOME."""
    outcome.jobs += 1
    files = report.get("files", [])
    assert isinstance(files, list)
    for one in files:
        outcome.calls.update({name: call["count"] for name, call in one["calls"].items()})
    for where in (*files, report):
        assert isinstance(where, dict)
        outcome.passed.update({name: call["count"] for name, call in where.get("passed", {}).items()})


def end_session(job: subprocess.Popen[bytes]) -> None:
    """Ends JOB and whatever it has left: ranks form process groups of their own, but stay in its session."""
    if job.poll() is None:
        os.killpg(job.pid, signal.SIGTERM)  # mpiexec ends its ranks
        with suppress(subprocess.TimeoutExpired):
            job.wait(5)
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            after_name = (process / "stat").read_text().rpartition(")")[2].split()
            if int(after_name[3]) == job.pid:
                os.kill(int(process.name), signal.SIGKILL)
    job.wait()
