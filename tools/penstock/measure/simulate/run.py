"""run.py: runs penstock-simulate."""

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.base import launch
from penstock.base.errors import UserError

PROGRAM = "penstock-simulate"
TASKS = "--tasks-per-node"
AS_RECORDED = "as recorded"  # what stands for a method: the calls of a pattern
ALIKE = 1.05  # of the shortest time: methods within it are not told apart


@dataclass(frozen=True)
class Simulated:
    """What one method would take on RANKS; LIMIT is what alone would take longest: LIMIT_SECONDS."""

    ranks: int
    method: str
    seconds: float
    bytes: float
    limit: str
    limit_seconds: float

    @property
    def rate(self) -> float:
        """In bytes per second."""
        return self.bytes / self.seconds


@dataclass(frozen=True)
class By:
    """All METHODS; with FORM instead of them the plans that penstock tune tries for files of this format."""

    methods: list[str]
    form: str = ""
    read: bool = False

    @property
    def words(self) -> list[str]:
        methods = ["--methods", ",".join(self.methods)] if self.methods else []
        return [*(["--plans-of", self.form] if self.form else methods), *(["--read"] if self.read else [])]


def simulate(machine: dict[str, Any], workload: list[str], ranks: list[int], by: By) -> dict[str, Any]:
    """The record "penstock.simulation/1" of WORKLOAD, words of penstock-bench, on all RANKS. A pattern, as words in
    WORKLOAD, says its ranks itself; it comes first as it was recorded.
    """
    words = list(workload)
    if not any(word.partition("=")[0] in (TASKS, "--tasksPerNode") for word in words):
        words += [TASKS, str(machine.get("nodes", {}).get("cores", 1))]
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(machine, file)
        file.flush()
        words += ["--np-virtual", ",".join(map(str, ranks))] if ranks else []
        command = [str(_program()), file.name, *words, *by.words]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            said = [line for line in done.stderr.splitlines() if line and not line.startswith("Run with --help")]
            if done.returncode < 0 or not said:
                raise UserError(f"{PROGRAM} ended by signal {-done.returncode}", 1)
            raise UserError(said[0].removeprefix(f"{PROGRAM}: ").replace(file.name, machine["name"]))
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def _program() -> Path:
    try:
        return launch.program(PROGRAM, launch.HERE)
    except UserError as missing:
        raise UserError(f"{missing}, if SimGrid is installed (Debian: libsimgrid-dev)") from None


def results(record: dict[str, Any]) -> list[Simulated]:
    """The results in RECORD, in its order."""
    return [
        Simulated(r["np"], r["method"], r["seconds"], r["demand"]["bytes"], r["limit"], r["limit_seconds"])
        for r in record["results"]
    ]


def headline(record: dict[str, Any]) -> str:
    """What was simulated, in a line."""
    doing = "reading" if record["operation"] == "read" else "writing"
    tasks = record["tasks_per_node"]
    one = all(result["np"] <= tasks for result in record["results"])
    where = "on one node" if one else f"{tasks} ranks on each node"
    return f"{record['machine']}: {doing} {record['workload']}, {where}; simulated"


def advice(record: dict[str, Any]) -> list[str]:
    """What to use, for one portable file and over all; neighbouring numbers of ranks with the same advice together."""
    found = results(record)
    if len({one.method for one in found}) == 1:
        return []
    groups: list[tuple[str, list[int]]] = []
    for ranks in dict.fromkeys(one.ranks for one in found):
        here = [one for one in found if one.ranks == ranks]
        portable = _fastest([one for one in here if not one.method.startswith("raw/")])
        of_all = _fastest(here)
        said = " or ".join(of_all)
        if not set(portable) <= set(of_all):
            said = f"{' or '.join(portable)} for one portable file, {said} otherwise"
        if not groups or groups[-1][0] != said:
            groups.append((said, []))
        groups[-1][1].append(ranks)
    return [
        f"On {ranks[0]:,}{f' to {ranks[-1]:,}' if len(ranks) > 1 else ''} ranks use {said}." for said, ranks in groups
    ]


def _fastest(found: list[Simulated]) -> list[str]:
    shortest = min((one.seconds for one in found), default=0.0)
    return [
        "the calls as recorded" if one.method == AS_RECORDED else one.method
        for one in found
        if one.seconds <= shortest * ALIKE
    ]


def assumed(machine: dict[str, Any]) -> str:
    """The keys of MACHINE whose values are not published."""
    return ", ".join(machine.get("assumed", []))
