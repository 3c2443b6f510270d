"""run.py: which files of a folder are of one run of a program."""

import json
from dataclasses import dataclass
from pathlib import Path

from penstock.base.errors import UserError, must_be_there
from penstock.jobs.trace.blocks import SUFFIX, TraceFile


@dataclass(frozen=True)
class Run:
    files: tuple[TraceFile, ...]  # by rank, servers last
    troubles: tuple[str, ...]

    @property
    def ranks(self) -> int:
        return max([1, *(int(file.job.get("ranks", 1)) for file in self.files)])


def find_run(folder: Path) -> Run:
    """The newest run that left its trace in FOLDER."""
    must_be_there(folder)
    if not folder.is_dir():
        raise UserError(f"{folder} is no folder: give the one that PENSTOCK_TRACE named")
    files, troubles = [], []
    for path in sorted(folder.glob("*" + SUFFIX)):
        try:
            files.append(TraceFile(path))
        except UserError as error:
            troubles.append(str(error))
    if not files:
        why = f" ({troubles[0]})" if troubles else ""
        raise UserError(f"there is no trace in {folder}{why}: run the program with PENSTOCK_TRACE={folder}")
    runs = _runs(files)
    newest = max(runs, key=lambda run: max(file.job["start"] for file in run))
    if len(runs) > 1:
        troubles.append(f"{len(runs)} runs left traces in {folder}: this is the newest; give each a folder of its own")
    run = Run(tuple(sorted(newest, key=lambda file: (file.job.get("role") == "server", file.job["rank"]))), ())
    missing = sorted(set(range(run.ranks)) - {file.job["rank"] for file in run.files})
    if missing:
        some = ", ".join(str(rank) for rank in missing[:4]) + (", ..." if len(missing) > 4 else "")
        troubles.append(f"{len(missing)} of {run.ranks} ranks have no trace here: {some}")
    return Run(run.files, tuple(troubles))


def _runs(files: list[TraceFile]) -> list[list[TraceFile]]:
    """Processes of one launch, which say the same of themselves; a rank that comes again begins another run."""
    runs: list[list[TraceFile]] = []
    current: dict[str, tuple[list[TraceFile], set[int]]] = {}
    for file in sorted(files, key=lambda one: one.job["start"]):
        job = file.job
        key = json.dumps([job.get("ranks"), job.get("environment")], sort_keys=True)
        server = job.get("role") == "server"
        if key not in current or (not server and job["rank"] in current[key][1]):
            current[key] = ([], set())
            runs.append(current[key][0])
        current[key][0].append(file)
        if not server:
            current[key][1].add(job["rank"])
    return runs
