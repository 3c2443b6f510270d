"""any_job.py: the job that a path tells of: a Darshan log, a folder of PENSTOCK_TRACE, one of `penstock profile`."""

from pathlib import Path

from penstock.jobs.darshan.reader import read_log
from penstock.jobs.job import Job

RUN = (".trace", ".profile")  # of each process of a run, in its folder


def is_run(path: Path) -> bool:
    """A folder of one run: its trace, or its profile."""
    return path.is_dir() and any(next(path.glob(f"*{kind}"), None) is not None for kind in RUN)


def read_job(path: Path) -> Job:
    from penstock.jobs.profile.reader import read_profile
    from penstock.jobs.trace.reader import read_trace

    if not path.is_dir():
        return read_log(path)
    return read_profile(path) if next(path.glob("*.profile"), None) is not None else read_trace(path)
