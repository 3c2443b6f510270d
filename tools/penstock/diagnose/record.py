"""record.py: a diagnosis as JSON, schema penstock.doctor/1; docs/doctor.md describes it."""

from typing import Any

import numpy as np

from penstock.diagnose.diagnosis import Diagnosis
from penstock.diagnose.facts import Facts
from penstock.diagnose.model import Model
from penstock.diagnose.model import to_record as model_record
from penstock.diagnose.tuning import tuning
from penstock.jobs.job import FunctionTime, Job

SCHEMA = "penstock.doctor/1"
MOST_FILES = 50
CONTAINED = (
    "An interface contains what it calls (HDF5 and PnetCDF call MPI-IO, MPI-IO calls POSIX): rows do not add up."
)


def to_record(diagnosis: Diagnosis, model: Model) -> dict[str, Any]:
    job, facts = diagnosis.job, diagnosis.facts
    return {
        "schema": SCHEMA,
        "job": {
            "source": job.source,
            "kind": job.kind,
            "program": job.program,
            "job_id": job.job_id,
            "ranks": job.ranks,
            "seconds": job.seconds,
            "core_hours": job.core_hours,
            "start": job.start,
        },
        "verdict": {
            "io_share": facts.outermost.share,
            "core_hours": diagnosis.core_hours,
            "lost_core_hours": diagnosis.lost_core_hours,
            "saved_seconds": diagnosis.saved_seconds,
            "is_io": diagnosis.is_io,
            "text": diagnosis.verdict,
        },
        "findings": [one.as_json() for one in diagnosis.findings],
        "layers": [vars(one) for one in facts.layers],
        "phases": [
            {
                "start": one.start,
                "end": one.end,
                "bytes": one.bytes,
                "read_bytes": one.read,
                "written_bytes": one.written,
                "weight": one.weight,
                "operation": "write" if one.written >= one.read else "read",
                "ranks": len(one.ranks),
                "files": list(one.files[:MOST_FILES]),
            }
            for one in diagnosis.phases
        ],
        "tuning": tuning(job),
        "files": files(facts),
        "functions": functions(facts),
        "call_sites": [{**vars(one), "share": share} for share, one in call_sites(job)],
        "model": model_record(model),
        "troubles": list(job.troubles),
    }


def files(facts: Facts) -> list[dict[str, Any]]:
    """Those that take longest."""
    made: dict[str, dict[str, Any]] = {}
    for use in (facts.mpi, facts.posix, facts.stdio):
        read, written = use.of("BYTES_READ"), use.of("BYTES_WRITTEN")
        for i in np.argsort(-use.slowest, kind="stable")[: 2 * MOST_FILES]:
            path = use.paths[i]
            if path in made:
                continue  # an outer interface has it
            made[path] = {
                "path": path,
                "module": use.module,
                "read_bytes": int(read[i]),
                "written_bytes": int(written[i]),
                "seconds": max(float(use.slowest[i]), float(use.seconds[i]) / facts.ranks),
                "ranks": int(use.rank_count[i]),
                "file_system": facts.file_system(path),
            }
    return sorted(made.values(), key=lambda one: -one["seconds"])[:MOST_FILES]


def call_sites(job: Job) -> list[tuple[float, FunctionTime]]:
    """Each with its share of the I/O time; from a profile."""
    whole = sum(one.seconds for one in job.functions) or 1.0
    return [(one.seconds / whole, one) for one in job.functions[:MOST_FILES]]


def functions(facts: Facts) -> list[dict[str, Any]]:
    """Seconds of the mean rank by kind of call."""
    made = []
    for use in (facts.mpi, facts.posix, facts.stdio):
        for kind, verb in (("read", "READ"), ("write", "WRITE"), ("metadata", "META")):
            seconds = float(use.of(f"F_{verb}_TIME").sum()) / facts.ranks
            if seconds > 0:
                made.append({"module": use.module, "kind": kind, "seconds": seconds})
    return made
