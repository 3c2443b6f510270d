#!/usr/bin/env python3
"""torture.py: strikes at the file-system calls of every method of writing and prints what became of the files.

python tests/faults/torture.py [--short] --program build/bin/torture --preload build/lib/libpenstock_inject.so

One rank without MPI is walked call by call, each in a process of its own; several ranks, engines and mpiio are started
by LAUNCHER. docs/faults.md says what must hold. The last line is the sum; the exit status is 0 where nothing was wrong.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from methods import (
    ALL_WAYS,
    BY_ENGINES,
    EXTENSIONS,
    JOB_WAYS,
    MPIIO,
    PARITY,
    PLACEMENTS,
    QUEUED,
    SERVERS,
    SMALL,
    STREAMS,
    Method,
    each_io,
    own,
    plan,
)
from processes import hear, lines_of, start
from record import KILLS, POWER_KILLS, Outcome, Record, conclude

LIMIT_SECONDS = 60
ERRORS = (
    *("short", "eintr", "slow", "enospc", "edquot", "full", "gone"),
    *("eio_write", "eio_sync", "eio_rename", "eio_close", "eio_open", "eio_unlink"),
)
Task = tuple[Any, ...]  # a function of Torture's, the method, and its other arguments


@dataclass(frozen=True)
class Settings:
    """What the command line says."""

    program: str
    preload: str
    launcher: list[str]
    work: Path
    pages: Path
    settle: str = ""  # a command that makes the disk fit to be looked at again


def command(settings: Settings, ranks: int, pages: Path, words: list[str]) -> list[str]:
    """RANKS 0: without MPI."""
    launch = [*settings.launcher, "-n", str(ranks)] if ranks else []
    return [*launch, "env", f"LD_PRELOAD={settings.preload}", f"PENSTOCK_FAULT_PAGES={pages}", settings.program, *words]


class Torture:
    """Runs cases of one method after another and records their outcomes."""

    def __init__(self, settings: Settings, record: Record) -> None:
        self.settings = settings
        self.record = record
        self._count = 0
        self._lock = threading.Lock()

    def _places(self) -> tuple[Path, Path]:
        """A folder and a prefix for pages that nobody else uses."""
        with self._lock:
            self._count += 1
            return self.settings.work / str(self._count), self.settings.pages / str(self._count)

    def _words(self, method: Method, work: Path, pages: Path, faults: tuple[str, ...], most: int) -> list[str]:
        words = ["--plan", method.plan, "--extension", method.extension, "--work", str(work), "--pages", str(pages)]
        words += ["--faults", ",".join(faults), "--most", str(most), "--scale", str(method.scale)]
        return [*words, *(("--settle", self.settings.settle) if self.settings.settle else ())]

    def walk(self, method: Method, most_kills: int, most_errors: int) -> None:
        """Every fault at calls of one rank without MPI: at so many for each fault; 0: at all."""
        self.walk_faults(method, KILLS, most_kills)
        self.walk_faults(method, ERRORS, most_errors)

    def walk_faults(self, method: Method, faults: tuple[str, ...], most: int) -> None:
        work, pages = self._places()
        words = ["walk", *self._words(method, work, pages, faults, most)]
        self.follow(method, 1, command(self.settings, 0, pages, words), 3 * LIMIT_SECONDS, False)
        shutil.rmtree(work, ignore_errors=True)

    def errors(self, method: Method, ranks: int, most: int, apart: bool, faults: tuple[str, ...] = ERRORS) -> None:
        """Every fault that does not kill, at some calls of each rank, in one job, or in as many as survive."""
        work, pages = self._places()
        first, losses = 1, 0
        while losses < (2 if apart else 5):
            words = ["errors", *self._words(method, work, pages, faults, most), "--from", str(first)]
            limit = LIMIT_SECONDS / 4 if apart else LIMIT_SECONDS
            last = self.follow(method, ranks, command(self.settings, ranks, pages, words), limit, apart)
            if last == 0:
                break
            first, losses = last + 1, losses + 1
        shutil.rmtree(work, ignore_errors=True)

    def follow(
        self,
        method: Method,
        ranks: int,
        arguments: list[str],
        limit: float,
        apart: bool,
        unclear: list[str] | None = None,
    ) -> int:
        """Records what a walk or a job says, and messages that it calls unclear.

        The number of the case in which it ended before its time, or 0.
        """
        process = start(arguments, self.settings.pages)
        begun: list[str] = []
        finished = hung = False
        for line in lines_of(process, limit):
            word, *rest = line.split("\t")
            if word == "hung":
                hung = True
            elif word == "begin":
                begun = rest
            elif word == "case":
                begun = []
                number, fault, rank, at, *others = rest
                self.record.add(method, ranks, Outcome(fault, int(rank), int(at), *others), apart)
            elif word == "unclear" and unclear is not None:
                unclear.append(rest[1])
            elif word == "refused":
                self.record.refuse(method, rest[0], apart)
                finished = True
            elif word == "done":
                finished = True
        if finished and not hung and process.returncode == 0:
            return 0
        number, fault, rank, at = begun or ["0", "none", "0", "0"]
        wrong = Outcome(fault, int(rank), int(at), "unknown", "", "unknown", "hang" if hung else "crash", "")
        self.record.add(method, ranks, wrong, apart)
        return int(number)

    def kills(self, method: Method, ranks: int, count: int, faults: tuple[str, ...] = KILLS) -> None:
        """A job for each kill, at COUNT points spread over the calls of all ranks."""
        work, pages = self._places()
        base = work / "base"
        base.mkdir(parents=True)
        path = f"state{method.extension}"
        words = ["--plan", method.plan, "--scale", str(method.scale), "--path"]
        made, said = self.run(ranks, pages, ["write", *words, str(base / path), "--version", "1"])
        if refusal := re.search(r"^refused\t(.*)$", said, re.MULTILINE):
            return self.record.refuse(method, refusal[1], False)
        shutil.copytree(base, work / "0")
        tried, said = self.run(ranks, pages, ["write", *words, str(work / "0" / path), "--pages", str(pages)])
        calls = [int(n) for n in re.findall(r"^calls\t\d+\t(\d+)$", said, re.MULTILINE)]
        if made or tried or sum(calls) == 0:
            outcome = Outcome("none", 0, 0, "unknown", "", "unknown", "crash", "without any fault")
            return self.record.add(method, ranks, outcome, False)
        points = [(rank, at) for rank, number in enumerate(calls) for at in range(1, number + 1)]
        if len(points) > count:
            points = [points[i * (len(points) - 1) // (count - 1)] for i in range(count)]
        for number, (rank, at) in enumerate(points, 1):
            fault, folder = faults[number % len(faults)], work / str(number)
            shutil.copytree(base, folder)
            if self.settings.settle:
                subprocess.run(["sync", "--file-system", str(folder)], check=True)
            strike = ["--pages", str(pages), "--strike", f"{rank},{fault},{at}"]
            code, said = self.run(ranks, pages, ["write", *words, str(folder / path), *strike])
            if self.settings.settle:
                subprocess.run(self.settings.settle, shell=True, check=True)
            found = self.check(folder / path, pages, rank)
            outcome = judge_kill(fault, rank, at, code, said, found, leftovers(base, folder))
            self.record.add(method, ranks, outcome, False)
            shutil.rmtree(folder)
        shutil.rmtree(work)
        return None

    def run(self, ranks: int, pages: Path, words: list[str]) -> tuple[int | None, str]:
        """The exit status, None where it hung, and the output."""
        return hear(start(command(self.settings, ranks, pages, words), self.settings.pages), LIMIT_SECONDS)

    def check(self, path: Path, pages: Path, rank: int) -> list[str]:
        words = ["check", "--path", str(path), "--pages", str(pages), "--rank", str(rank)]
        try:
            done = subprocess.run(
                [self.settings.program, *words], capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return ["lost", "1", "unknown", "reading it hung"]
        found = done.stdout.rstrip("\n").split("\t")
        return found if len(found) == 4 else ["lost", "1", "unknown", f"reading it ended with {done.returncode}"]


def leftovers(base: Path, folder: Path) -> list[str]:
    before = {entry.name for entry in base.iterdir()}
    return sorted(entry.name for entry in folder.iterdir() if entry.name not in before)


def judge_kill(
    fault: str, rank: int, at: int, code: int | None, said: str, found: list[str], left: list[str]
) -> Outcome:
    """A process that survives, since a server of its was killed, has an error like any other."""
    state, struck, call, why = found
    ended = re.search(r"^ended\t(.*)\t(alike|differ)\t(.*)$", said, re.MULTILINE)
    status = ended[1] if ended else "killed"
    defect = state if state in ("lost", "damaged") else ""
    if code is None:
        defect = "hang"
    elif not defect and ended:
        if ended[2] == "differ":
            defect = "differ"
        elif state != ("new" if status == "ok" else "old"):
            defect = "state"
        elif fault in POWER_KILLS:
            pass  # nothing can be removed then
        elif (status != "ok" and left) or any(name.endswith(".partial") for name in left):
            defect = "leftover"
        why = why or f"{ended[3]} {' '.join(left)}"
    elif not defect and int(struck) == 0:
        defect, why = "crash", f"exit status {code}"
    return Outcome(fault, rank, at, call, status, state, defect, why)


def full(torture: Torture) -> Iterator[Task]:
    """Everything, several ranks first."""
    for ranks in (4, 2):
        for name in EXTENSIONS:
            for method in own(name, JOB_WAYS, PLACEMENTS):
                yield torture.errors, method, ranks, 3, False
                yield torture.kills, method, ranks, 5
        for method in [*PARITY, *STREAMS]:
            yield torture.errors, method, ranks, 3, False
            yield torture.kills, method, ranks, 8
        for method in [*MPIIO, *BY_ENGINES]:
            yield torture.kills, method, ranks, 6
    for method in [*MPIIO, *BY_ENGINES]:
        yield torture.kills, method, 1, 6
        for ranks in (1, 2):
            yield torture.errors, method, ranks, 2, True
    for name in EXTENSIONS:
        for method in own(name, ALL_WAYS, PLACEMENTS):
            yield torture.walk, method, 0, 0
    for method in [*PARITY, *STREAMS]:
        yield torture.walk, method, 0, 0
    for method in QUEUED:
        yield torture.walk, method, 12, 12


def short(torture: Torture) -> Iterator[Task]:
    """The same in little: every transport and placement, most of it on one rank."""
    ways = {"independent": each_io("buffered"), "two_phase": each_io("direct"), "servers": SERVERS}
    yield torture.errors, Method(plan("hdf5/two_phase", "writers=2", SMALL), ".h5"), 4, 1, False
    for method in (
        Method(plan("netcdf/two_phase", "writers=2", SMALL), ".nc"),
        Method(plan("raw/independent", "placement=per_rank", SMALL), ".raw"),
    ):
        yield torture.errors, method, 2, 1, False
        yield torture.kills, method, 2, 6
    yield torture.kills, BY_ENGINES[0], 2, 4
    for name in EXTENSIONS:
        for method in own(name, ways, PLACEMENTS if name == "hdf5" else PLACEMENTS[::2]):
            yield torture.walk, method, 22, 9
    yield torture.errors, PARITY[0], 2, 1, False
    yield torture.kills, PARITY[0], 2, 4
    for method in (PARITY[0], STREAMS[1]):
        yield torture.walk, method, 22, 9


def main() -> int:
    parser = argparse.ArgumentParser(description="Strikes at the file-system calls of every method of writing.")
    parser.add_argument("--program", required=True, help="the test program 'torture'")
    parser.add_argument("--preload", required=True, help="the libraries to preload, with colons between them")
    parser.add_argument(
        "--launcher", default="mpiexec.openmpi", help="what starts ranks, with its options; '' without MPI"
    )
    parser.add_argument("--folder", type=Path, default=Path(), help="where files are written")
    parser.add_argument("--short", action="store_true", help="minutes")
    parser.add_argument("--only", default="", help="methods whose plan has this in it")
    parser.add_argument(
        "--jobs",
        type=int,
        default=1 + (os.cpu_count() or 1),
        help="at once: they wait for the disk more than for cores",
    )
    options = parser.parse_args()
    begin = time.monotonic()
    work = Path(tempfile.mkdtemp(prefix="torture-", dir=options.folder.resolve()))
    memory = Path("/dev/shm")
    pages = Path(tempfile.mkdtemp(prefix="torture-", dir=memory if memory.is_dir() else work))
    record = Record()
    program = str(Path(options.program).resolve())
    preload = ":".join(str(Path(library).resolve()) for library in options.preload.split(":"))
    settings = Settings(program, preload, options.launcher.split(), work, pages)
    torture = Torture(settings, record)
    try:
        with ThreadPoolExecutor(options.jobs) as pool:
            tasks = [
                pool.submit(*task)
                for task in (short if options.short else full)(torture)
                if options.only in task[1].plan and (settings.launcher or task[0] == torture.walk)
            ]
            for number, task in enumerate(tasks, 1):
                task.result()
                if number % 20 == 0:
                    print(f"{number} of {len(tasks)} tasks, {time.monotonic() - begin:.0f} s", flush=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)
        shutil.rmtree(pages, ignore_errors=True)
    return conclude(record, time.monotonic() - begin, (0, 0) if options.only else (1000, 2000))


if __name__ == "__main__":
    sys.exit(main())
