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


def simulate(
    machine: dict[str, Any], workload: list[str], ranks: list[int], methods: list[str], *, read: bool
) -> dict[str, Any]:
    """The record "penstock.simulation/1" of WORKLOAD, words of penstock-bench, by all METHODS on all RANKS."""
    words = list(workload)
    if not any(word.partition("=")[0] in (TASKS, "--tasksPerNode") for word in words):
        words += [TASKS, str(machine.get("nodes", {}).get("cores", 1))]
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(machine, file)
        file.flush()
        words += ["--np-virtual", ",".join(map(str, ranks)), "--methods", ",".join(methods)]
        command = [str(_program()), file.name, *words, *(["--read"] if read else [])]
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
