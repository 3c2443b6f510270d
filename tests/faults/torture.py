#!/usr/bin/env python3
"""torture.py: strikes at the file-system calls of every method of writing and prints what became of the files.

python tests/faults/torture.py [--short] --program build/bin/torture --preload build/lib/libpenstock_inject.so

One rank without MPI is walked call by call, each in a process of its own; several ranks, engines and mpiio are started
by LAUNCHER. docs/faults.md says what must hold. The last line is the sum; the exit status is 0 where nothing was wrong.
"""

import argparse
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LIMIT_SECONDS = 60
KILLS = ("kill_before", "kill_after")
POWER_KILLS = ("power_kill",)  # of power.py
ERRORS = (
    *("short", "eintr", "slow", "enospc", "edquot", "full", "gone"),
    *("eio_write", "eio_sync", "eio_rename", "eio_close", "eio_open", "eio_unlink"),
)
EXTENSIONS = {"hdf5": ".h5", "netcdf": ".nc", "raw": ".raw"}
PLACEMENTS = ("", "placement=per_rank", "placement=parts,parts=2", "placement=rank_order")
SMALL = "buffer_bytes=16KiB"
ENGINES = {"phdf5": ".h5", "netcdf4": ".nc4", "pnetcdf": ".nc"}


@dataclass(frozen=True)
class Method:
    """One way to write a file. LIBRARY: errors inside somebody else's collective calls are not ours to end."""

    plan: str
    extension: str
    library: bool = False
    scale: int = 1


@dataclass
class Tally:
    """What happened to one method."""

    kills: int = 0
    faults: int = 0
    unreached: int = 0
    states: Counter[str] = field(default_factory=Counter)
    defects: Counter[str] = field(default_factory=Counter)
    ranks: set[int] = field(default_factory=set)
    refusal: str = ""


@dataclass(frozen=True)
class Outcome:
    """Of one case."""

    fault: str
    rank: int
    at: int
    call: str
    status: str
    state: str
    defect: str
    message: str


@dataclass(frozen=True)
class Settings:
    """What the command line says."""

    program: str
    preload: str
    launcher: list[str]
    work: Path
    pages: Path
    settle: str = ""  # a command that makes the disk fit to be looked at again


class Record:
    """All tallies; threads add to it."""

    def __init__(self) -> None:
        self.tallies: dict[tuple[str, bool], Tally] = {}
        self._lock = threading.Lock()

    def tally(self, method: Method, apart: bool) -> Tally:
        return self.tallies.setdefault((method.plan, apart), Tally())

    def add(self, method: Method, ranks: int, outcome: Outcome, apart: bool) -> None:
        with self._lock:
            tally = self.tally(method, apart)
            tally.ranks.add(ranks)
            if outcome.call == "none" and not outcome.defect:
                tally.unreached += 1
                return
            if outcome.fault in (*KILLS, *POWER_KILLS):
                tally.kills += 1
            else:
                tally.faults += 1
            tally.states[outcome.state] += 1
            if not outcome.defect:
                return
            tally.defects[outcome.defect] += 1
            print(
                f"{'apart: ' if apart else ''}{outcome.defect}: {method.plan} on {ranks}: {outcome.fault} "
                f"at {outcome.at} of rank {outcome.rank} ({outcome.call}): "
                f"{outcome.status}, {outcome.state} {outcome.message}",
                flush=True,
            )

    def refuse(self, method: Method, why: str, apart: bool) -> None:
        with self._lock:
            self.tally(method, apart).refusal = why


# --- processes ------------------------------------------------------------------------------------


def environment() -> dict[str, str]:
    """Of every launcher: as the other tests have it."""
    settings = dict(os.environ)
    for name, value in {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    }.items():
        settings.setdefault(name, value)
    settings.pop("LD_PRELOAD", None)
    return settings


def command(settings: Settings, ranks: int, pages: Path, words: list[str]) -> list[str]:
    """RANKS 0: without MPI."""
    launch = [*settings.launcher, "-n", str(ranks)] if ranks else []
    return [*launch, "env", f"LD_PRELOAD={settings.preload}", f"PENSTOCK_FAULT_PAGES={pages}", settings.program, *words]


def end(process: subprocess.Popen[str]) -> None:
    """With all that it started: a launcher ends its ranks when it is told to."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def lines_of(process: subprocess.Popen[str], limit: float) -> Iterator[str]:
    """Its output, and "hung" where none comes for LIMIT seconds; the process has ended then."""
    assert process.stdout is not None
    descriptor, rest = process.stdout.fileno(), ""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while selector.select(limit):
            data = os.read(descriptor, 65536)
            if not data:
                process.wait()
                return
            *whole, rest = (rest + data.decode(errors="replace")).split("\n")
            yield from whole
    end(process)
    yield "hung"


def start(arguments: list[str], folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        arguments,
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


# --- the three ways to torture --------------------------------------------------------------------


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
        process = start(command(self.settings, ranks, pages, words), self.settings.pages)
        try:
            said, _ = process.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            end(process)
            return None, ""
        return process.returncode, said

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


# --- what is tortured -----------------------------------------------------------------------------


Task = tuple[Any, ...]  # a function of Torture's, the method, and its other arguments


def plan(way: str, *settings: str) -> str:
    text = ",".join(word for word in settings if word)
    return f"{way}:{text}" if text else way


def own(name: str, ways: Mapping[str, tuple[str, ...]], placements: tuple[str, ...]) -> list[Method]:
    """Format NAME by transports with their settings, in each placement."""
    return [
        Method(plan(f"{name}/{transport}", setting, placement), EXTENSIONS[name])
        for transport, settings in ways.items()
        for setting in settings
        for placement in placements
    ]


def each_io(*io: str) -> tuple[str, ...]:
    return tuple(f"io={word},{SMALL}" for word in io)


SERVERS = ("buffer_bytes=256KiB",)
STREAMS = [
    Method(f"stream:{options},buffer_bytes=8KiB,chunk_bytes=16KiB", ".pstream") for options in ("files=1", "files=2")
]
ALL_WAYS = {
    "independent": each_io("buffered", "direct", "mmap"),
    "two_phase": each_io("buffered", "direct", "mmap"),
    "servers": SERVERS,
}
JOB_WAYS = {
    "independent": (SMALL,),
    "two_phase": tuple(f"writers=2,{settings}" for settings in each_io("buffered", "direct")),
    "servers": SERVERS,
}
# Large enough for several requests of io_uring at once, and for blocks that are freed behind.
QUEUED = [
    Method(f"hdf5/{way}:io={io},queue_depth=4", ".h5", scale=48)
    for way in ("independent", "two_phase")
    for io in ("direct", "buffered")
]
MPIIO = [
    Method(f"{name}/mpiio:coordination={how}{placement and ',' + placement}", extension, library=True)
    for name, extension in EXTENSIONS.items()
    for how, placement in (("collective", ""), ("independent", ""), ("independent", PLACEMENTS[2]))
]
BY_ENGINES = [Method(name, extension, library=True) for name, extension in ENGINES.items()]


# Sets with one file more, which goes and comes with the others.
PARITY = [
    Method(f"{name}/two_phase:{SMALL},{placement},parity=1", EXTENSIONS[name])
    for name, placement in (("hdf5", PLACEMENTS[2]), ("raw", PLACEMENTS[1]), ("netcdf", PLACEMENTS[3]))
]


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


# --- the table ------------------------------------------------------------------------------------


def table(record: Record, apart: bool) -> list[str]:
    rows = [f"{'method':76} {'ranks':6} {'kills':>6} {'faults':>6} {'old':>6} {'new':>6} {'unmet':>6}  defects"]
    for (name, is_apart), tally in sorted(record.tallies.items()):
        if is_apart != apart:
            continue
        if tally.refusal:
            rows.append(f"{name:76} refused: {tally.refusal}")
            continue
        ranks = " ".join(str(n) for n in sorted(tally.ranks))
        wrong = ", ".join(f"{n} {word}" for word, n in sorted(tally.defects.items())) or "none"
        rows.append(
            f"{name:76} {ranks:6} {tally.kills:6} {tally.faults:6} {tally.states['old']:6} {tally.states['new']:6} "
            f"{tally.unreached:6}  {wrong}"
        )
    return rows


def conclude(record: Record, seconds: float, least: tuple[int, int]) -> int:
    """Prints all; the exit status."""
    kept = [tally for (_, apart), tally in record.tallies.items() if not apart]
    defects: Counter[str] = sum((tally.defects for tally in kept), Counter())
    kills, faults = sum(tally.kills for tally in kept), sum(tally.faults for tally in kept)
    named = {
        "lost": "previous checkpoints lost",
        "damaged": "half-written files accepted",
        "hang": "hangs",
        "crash": "crashes",
    }
    others = {word: n for word, n in defects.items() if word not in named}
    if any(apart for _, apart in record.tallies):
        print("\ninside MPI-IO and engines, where an error may leave other ranks waiting: not in the sum")
        print("\n".join(table(record, True)))
    print()
    print("\n".join(table(record, False)))
    enough = kills >= least[0] and faults >= least[1]
    passed = enough and not defects
    text = ", ".join(f"{defects[word]} {name}" for word, name in named.items())
    more = ", ".join(f"{n} {word}" for word, n in sorted(others.items())) or "0"
    print(f"{seconds:.0f} s; needed: {least[0]} kill points and {least[1]} faults, and no defect")
    print(
        f"torture: {'passed' if passed else 'FAILED'}: {kills} kill points, {faults} faults injected: {text}, "
        f"other defects: {more}"
    )
    return 0 if passed else 1


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
