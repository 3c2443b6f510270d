"""trace: what PENSTOCK_TRACE wrote, as a Job, as a Darshan log and for Perfetto."""

from penstock.jobs.trace.reader import read_trace

__all__ = ["read_trace"]
