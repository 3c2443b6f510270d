#!/usr/bin/env python3
"""strike.py: makes each file-system call of a step of a series the last, or fail, and looks at what is left.

python tests/series/strike.py --program build/bin/series_steps --preload build/lib/libpenstock_inject.so

A series must open with all that was there before the step, or all that should be there after it, and go on; its
index names files that are there. What says that it went well has left the
new steps. The last line is the sum; the exit status is 0 where nothing was wrong.
"""

import argparse
import errno
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

# Of struct fault_page, tests/faults/inject/page.h.
PAGE = struct.Struct("512s512sIiiiqiiqqii512sq")
CALL_ANY, CALL_CLOSE_READ, ERROR, KILL_BEFORE, KILL_AFTER = 1023, 64, 1, 4, 5
STRIKES = ((KILL_BEFORE, 0), (KILL_AFTER, 0), (ERROR, errno.ENOSPC), (ERROR, errno.EIO))
LIMIT_SECONDS = 60


@dataclass(frozen=True)
class Case:
    """Steps that are there, and those of the run that is killed."""

    name: str
    plan: str
    extension: str
    options: str
    before: tuple[int, int]
    run: tuple[int, int]


CASES = [
    Case("a new step", "hdf5/independent", ".h5", "", (1, 2), (3, 3)),
    Case("the oldest goes", "hdf5/independent", ".h5", "keep_last=2", (1, 2), (3, 3)),
    Case("a restart", "hdf5/independent", ".h5", "xdmf=true", (1, 4), (2, 2)),
    Case("a restart of sets", "raw/independent", ".raw", "keep_last=3", (1, 4), (3, 3)),
    Case("netCDF", "netcdf/independent", ".nc", "keep_last=1", (1, 1), (2, 2)),
]


def left(steps: list[int], options: str) -> list[int]:
    last = int(options.split("keep_last=")[1]) if "keep_last=" in options else len(steps)
    return steps[-last:]


class Killer:
    """Runs the program of one case, struck or not."""

    def __init__(self, program: str, preload: str, case: Case, room: Path) -> None:
        self.program, self.preload, self.case, self.room = program, preload, case, room

    def write(
        self, folder: Path, first: int, last: int, options: str, strike: tuple[int, int, int] | None
    ) -> tuple[int, int]:
        """The exit status and how many calls there were; STRIKE: the fault, its errno, and at which call."""
        page = folder.with_suffix(".0")
        environment = dict(os.environ)
        if strike is not None:
            fault, error, at = strike
            text = os.fsencode(folder)
            # HDF5 ends the process at its exit where closing what it read fails: docs/reproducers/hdf5_close_fails.c.
            calls = CALL_ANY - CALL_CLOSE_READ if fault == ERROR else CALL_ANY
            page.write_bytes(PAGE.pack(text, b"", calls, fault, error, 0, at, 0, 1, 0, 0, 0, 0, b"", 0))
            environment |= {"LD_PRELOAD": self.preload, "PENSTOCK_FAULT_PAGES": str(folder.with_suffix(""))}
        pattern = str(folder / f"out-*{self.case.extension}")
        command = [self.program, pattern, self.case.plan, options, str(first), str(last)]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
        )
        if done.returncode > 0 and strike is None:
            raise SystemExit(f"strike.py: {self.case.name}: {done.stderr}")
        return done.returncode, PAGE.unpack(page.read_bytes()[: PAGE.size])[9] if strike is not None else 0

    def steps(self, folder: Path) -> list[int]:
        """As a program that goes on finds them and says by keeping all and writing one far away."""
        self.write(folder, 1000, 1000, "", None)
        index = json.loads((folder / "out.series.json").read_text())
        for step in index["steps"]:
            file = folder / step["file"]
            if not file.is_file() or file.stat().st_size != step["bytes"]:
                raise SystemExit(f"strike.py: {self.case.name}: the index names {file}, which is not what it says")
        return [step["iteration"] for step in index["steps"]][:-1]


def walk(killer: Killer) -> tuple[int, list[str]]:
    """How many strikes, and what was wrong."""
    case, wrong, kills = killer.case, [], 0
    base = killer.room / "base"
    base.mkdir(parents=True)
    killer.write(base, *case.before, "", None)
    was = list(range(case.before[0], case.before[1] + 1))
    new = left([n for n in was if n < case.run[0]] + list(range(case.run[0], case.run[1] + 1)), case.options)
    whole = shutil.copytree(base, killer.room / "whole")
    _, calls = killer.write(whole, *case.run, case.options, (0, 0, 0))
    if calls < 20 or killer.steps(whole) != new:
        return 0, [f"{case.name}: without a fault: {calls} calls"]
    for at in range(1, calls + 1):
        for fault, error in STRIKES:
            folder = killer.room / f"{at}-{fault}-{error}"
            shutil.copytree(base, folder)
            status, _ = killer.write(folder, *case.run, case.options, (fault, error, at))
            found = killer.steps(folder)
            kills += 1
            # What was published is there though what it pushes out may be, too: the next step sees to that.
            more = sorted({*was, *new}) if case.run[0] > case.before[1] else new
            fits = found in (was, new) or set(new) <= set(found) <= set(more)
            ended = status < 0 if fault != ERROR else status >= 0
            if not ended or not fits or (status == 0 and not set(new) <= set(found)):
                struck = f"{'error' if fault == ERROR else 'kill'} {error} at {at} of {calls}"
                wrong.append(f"{case.name}: {struck}: status {status}, steps {found}")
            shutil.rmtree(folder)
    return kills, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="Strikes at each file-system call of a step of a series.")
    parser.add_argument("--program", required=True, type=os.path.abspath)
    parser.add_argument("--preload", required=True, type=os.path.abspath)
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="series-kill-", dir=Path.cwd()))
    try:
        killers = [Killer(options.program, options.preload, case, work / str(i)) for i, case in enumerate(CASES)]
        task: Callable[[Killer], tuple[int, list[str]]] = walk
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(task, killers))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    kills, wrong = sum(count for count, _ in results), [line for _, lines in results for line in lines]
    print("\n".join(wrong))
    passed = not wrong and kills > 800
    print(f"series: {'passed' if passed else 'FAILED'}: struck {kills} times in {len(CASES)} cases, {len(wrong)} wrong")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
