"""probe.py: measures the rates by which the library estimates plans, with the bench's program for a machine."""

import statistics
from datetime import date
from pathlib import Path
from typing import Any

from penstock.base import launch
from penstock.base.errors import UserError
from penstock.measure import records
from penstock.measure.campaign.execute import Listen
from penstock.measure.campaign.program import PROGRAM
from penstock.measure.campaign.run import run

REPETITIONS, TOTAL = 5, "128MiB"
BY_BYTES = ("copy", "send", "write_", "read_")  # how the names of rates begin; others are of seconds
CALLS = ("write_call", "read_call")


def probe(mpi: launch.Mpi, ranks: int, scratch: Path, listen: Listen) -> dict[str, Any]:
    """The machine of SCRATCH's file system, as wisdom keeps it, by a job of RANKS."""
    path = scratch / "machine.json"
    words = [
        "--repetitions",
        str(REPETITIONS),
        "--total",
        TOTAL,
        "--dir",
        str(scratch),
        "--json",
        str(path),
    ]
    outcome = run([*launch.command(PROGRAM, mpi, ranks), "machine", *words, "--progress"], launch.environment(), listen)
    if not path.is_file():
        raise UserError(outcome.complaint(PROGRAM), 2 if outcome.status == 2 else 1)
    case = records.read(path, records.CASES)["cases"][0]
    machine: dict[str, Any] = {
        "filesystem": case["workload"]["filesystem"],
        "mpi": case["workload"]["mpi"],
        "ranks": ranks,
        "measured": date.today().isoformat(),
        "bytes_per_second": {},
        "seconds": {},
    }
    for line in case["results"]:
        name = line["operation"]
        if line["error"] or not line["seconds"]:
            raise UserError(f"{name} could not be measured: {line['error']}", 1)
        seconds = statistics.median(line["seconds"]) / line["amount"] if line["amount"] else 0.0
        if name.startswith(BY_BYTES) and name not in CALLS:
            machine["bytes_per_second"][name] = float(f"{1 / seconds:.4g}")
        else:
            machine["seconds"][name] = float(f"{seconds:.4g}")
    return machine
