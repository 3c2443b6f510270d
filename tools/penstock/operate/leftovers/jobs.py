"""jobs.py: whether a batch job still exists, where its scheduler can be asked."""

import functools
import subprocess

SECONDS = 30


@functools.cache
def state(job: str) -> str | None:
    """Returns the state of JOB, as partial files name it: "gone", "RUNNING", "PENDING", ...; None if unknown."""
    kind, _, rest = job.partition("-")
    if kind != "slurm":
        return None
    number, _, cluster = rest.partition("-")
    command = ["squeue", "-h", "-o", "%T", *(["-M", cluster] if cluster else []), "-j", number]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if asked.returncode != 0:
        return "gone" if "invalid job id" in asked.stderr.lower() else None
    states = [line.strip() for line in asked.stdout.splitlines() if line.strip() and not line.startswith("CLUSTER:")]
    return states[0] if states else "gone"
