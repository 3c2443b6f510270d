#!/usr/bin/env python3
"""unmodified.py: other projects' tests give the same verdicts with libpenstock_mpiio preloaded as without.

python tests/unmodified/unmodified.py --build build [--mpich build/mpich] [SUITE...]

Sources are fetched from the archive that apt uses here; they are built and run in FOLDER (build/unmodified), and used
again by the next run. Each test runs without the library, then with it. Where it passes without and not with, both
are repeated. The last lines are the table of docs/unmodified-suites.md, and the tests that differ. The exit status is
1 if a test that passes without fails with, and 77 if nothing differs but a suite could not run.
"""

import argparse
import json
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import files
import table
from sources import Missing
from suites import SUITES
from suites.place import Place
from trial import FAILED, LATE, PASSED, Mpi, Outcome, Suite, Trial, run

SKIPPED = 77
REPEATS = 2
LIBRARY = "lib/libpenstock_mpiio.so"


class Runner:
    """Runs the tests of one suite; FOLDER is for what they write, and empty in the end."""

    def __init__(self, suite: Suite, folder: Path, library: Path | None, settings: Sequence[str]) -> None:
        self.suite = suite
        self.folder = folder
        self.library = library
        self.settings = settings
        self.mpi: Mpi = suite.mpi
        shutil.rmtree(folder, ignore_errors=True)

    def once(self, trial: Trial, kind: str, library: Path | None) -> Outcome:
        cwd = self.cwd(trial, kind)
        if not trial.group:
            shutil.rmtree(cwd, ignore_errors=True)
        cwd.mkdir(parents=True, exist_ok=True)
        return run(trial, self.mpi, cwd, library, self.settings)

    def cwd(self, trial: Trial, kind: str) -> Path:
        return self.folder / kind / (trial.group or trial.name).replace("/", "-").replace(" ", "-")

    def both(self, trial: Trial) -> dict[str, object]:
        """The record of TRIAL: its outcomes, and how the files differ that it left."""
        begin = time.time()
        without = self.once(trial, "without", None)
        record: dict[str, object] = {"name": trial.name, "without": said(without)}
        verdicts = without.verdict
        if self.library is not None and without.verdict != LATE:
            with_it = self.once(trial, "with", self.library)
            record["with"] = said(with_it)
            verdicts += f" {with_it.verdict}"
            if without.verdict == PASSED and with_it.verdict in (FAILED, LATE):
                record["again"] = self.repeat(trial)
            elif without.verdict == PASSED and with_it.verdict == PASSED:
                record["files"] = self.compare(trial, begin)
        if not trial.group:
            self.clear(trial)
        print(f"{verdicts:<14}  {self.suite.name}  {trial.name}  {without.seconds:.1f} s", flush=True)
        return record

    def clear(self, trial: Trial) -> None:
        for kind in ("without", "with", "repeated"):
            shutil.rmtree(self.cwd(trial, kind), ignore_errors=True)

    def repeat(self, trial: Trial) -> dict[str, list[str]]:
        verdicts: dict[str, list[str]] = {"without": [], "with": []}
        for _ in range(REPEATS):
            verdicts["without"].append(self.once(trial, "without", None).verdict)
            verdicts["with"].append(self.once(trial, "with", self.library).verdict)
        return verdicts

    def compare(self, trial: Trial, begin: float) -> dict[str, list[str]]:
        """A file that differs says nothing if it does so between two runs without the library, too."""
        left, right = (self.cwd(trial, kind) for kind in ("without", "with"))
        same, differ = files.compared(left, right, begin)
        varies: list[str] = []
        if differ and not trial.group:
            self.once(trial, "repeated", None)
            varies = files.compared(left, self.cwd(trial, "repeated"), begin)[1]
        return {
            "same": same,
            "differ": [name for name in differ if name not in varies],
            "vary": [name for name in differ if name in varies],
        }


def said(outcome: Outcome) -> dict[str, object]:
    record = dict(vars(outcome))
    if outcome.verdict == PASSED:
        del record["said"]
    return record


def run_suite(name: str, place: Place, library: Path | None, options: argparse.Namespace) -> dict[str, object]:
    began = time.strftime("%Y-%m-%d")
    try:
        suite = SUITES[name](place)
    except Missing as why:
        print(f"not run  {name}: {why}", flush=True)
        return {"name": name, "date": began, "missing": str(why)}
    runner = Runner(suite, place.folder / "work" / name.replace("/", "-"), library, options.set)
    chosen = [trial for trial in suite.trials if not options.only or any(word in trial.name for word in options.only)]
    trials = [runner.both(trial) for trial in chosen]
    for trial in chosen:
        runner.clear(trial)
    return {
        "name": name,
        "version": suite.version,
        "date": began,
        "settings": options.set,
        "notes": list(suite.notes),
        "trials": trials,
    }


def load(results: Path) -> dict[str, dict[str, object]]:
    known: dict[str, dict[str, object]] = json.loads(results.read_text()) if results.exists() else {}
    return known


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs other projects' tests with libpenstock_mpiio and without.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"all of them if none is named: {', '.join(SUITES)}")
    parser.add_argument("--build", type=Path, default=Path("build"), help="the folder of a build with Open MPI")
    parser.add_argument("--mpich", type=Path, default=Path("build/mpich"), help="the folder of a build with MPICH")
    parser.add_argument("--folder", type=Path, default=Path("build/unmodified"), help="for sources, builds and results")
    parser.add_argument(
        "--program", action="append", default=[], metavar="NAME=PATH", help="IOR, E3SM_IO or H5BENCH, built before"
    )
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="tests with TEXT in their names")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="for the library: its settings"
    )
    parser.add_argument("--baseline", action="store_true", help="only without the library")
    parser.add_argument("--table", action="store_true", help="run nothing: print the table of the last results")
    options = parser.parse_args()
    libraries = {"openmpi": options.build.resolve() / LIBRARY, "mpich": options.mpich.resolve() / LIBRARY}
    chosen = options.suites or list(SUITES)
    unknown = [name for name in chosen if name not in SUITES]
    if unknown:
        parser.error(f"no suite {', '.join(unknown)}; there are {', '.join(SUITES)}")
    programs = dict(one.split("=", 1) for one in options.program)
    place = Place(options.folder.resolve(), {name: Path(path) for name, path in programs.items()})
    results = place.folder / "results.json"
    known = load(results)
    if not options.table:
        for name in chosen:
            library = libraries["mpich" if name.endswith("/mpich") else "openmpi"]
            if not options.baseline and not library.exists():
                found = {"name": name, "date": time.strftime("%Y-%m-%d"), "missing": f"no {library}"}
            else:
                found = run_suite(name, place, None if options.baseline else library, options)
            known = load(results) | {name: found}
            results.parent.mkdir(parents=True, exist_ok=True)
            results.write_text(json.dumps(known, indent=1))
    shown = [known[name] for name in chosen if name in known]
    print(table.text(shown))
    if any(table.lost(one) for one in shown):
        return 1
    return SKIPPED if any("missing" in one for one in shown) else 0


if __name__ == "__main__":
    sys.exit(main())
