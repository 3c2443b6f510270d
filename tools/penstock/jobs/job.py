"""job.py: what one run of a program did to files, as a log or a trace tells it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

SHARED = -1  # the rank of a record that all ranks share
JOB_IDS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "JOB_ID")  # where schedulers say a job's number
SEGMENT = np.dtype(
    [("offset", "<i8"), ("length", "<i8"), ("start", "<f8"), ("end", "<f8")]
)  # bytes; seconds from the start

Counts = npt.NDArray[np.int64]
Segments = npt.NDArray[np.void]  # of SEGMENT


@dataclass(frozen=True)
class Record:
    """What RANK, or all ranks together, did to one file through one interface. Names as in Darshan, "POSIX_OPENS"."""

    path: str
    rank: int
    counters: dict[str, int]
    times: dict[str, float]  # seconds, and Darshan's other numbers with a fraction

    @property
    def shared(self) -> bool:
        return self.rank == SHARED


@dataclass(frozen=True)
class Module:
    """An interface: "POSIX", "MPI-IO", "STDIO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR", "LUSTRE"."""

    name: str
    records: Sequence[Record]
    partial: bool = False  # records are missing: there were more than the log had room for

    def total(self, counter: str) -> int:
        return sum(record.counters.get(counter, 0) for record in self.records)


@dataclass(frozen=True)
class Heat:
    """Bytes moved through one interface: [rank, bin], each bin WIDTH seconds long, the first from the start on."""

    width: float
    read: Counts
    written: Counts


@dataclass(frozen=True)
class Traced:
    """Every access of one rank to one file through one interface, in the order of the log."""

    module: str  # "POSIX" or "MPI-IO"
    path: str
    rank: int
    host: str
    reads: Segments
    writes: Segments


def nothing_traced() -> Iterator[Traced]:
    return iter(())


@dataclass(frozen=True)
class Step:
    """One commit or one read of penstock's, from a trace of ours."""

    path: str
    operation: str  # "write" or "read"
    plan: str
    start: float  # seconds from the start
    seconds: float  # of the slowest rank
    phases: dict[str, float]  # seconds of the slowest rank in each phase of penstock
    bytes: int
    writers: tuple[int, ...]  # ranks that called the file system
    datasets: tuple[str, ...]
    hints_requested: dict[str, str] = field(default_factory=dict)
    hints_effective: dict[str, str] = field(default_factory=dict)
    problem: str = ""  # what it asked of its plan: JSON, docs/wisdom.md


@dataclass(frozen=True)
class FunctionTime:
    """Calls of one function from one place of the program; from a profile of ours."""

    function: str  # "nc_get_vara_double"
    interface: str  # "POSIX", "STDIO", "MPI-IO", "HDF5", "netCDF", "PnetCDF"
    caller: str  # "" where it is not known
    location: str  # "load.c:42", or the name of a library
    calls: int
    read_bytes: int  # that moved in them
    written_bytes: int
    seconds: float  # of the mean rank
    slowest_seconds: float  # of the slowest rank
    shortest: float  # seconds of a call
    longest: float
    file: str  # with most of the time, "" where none was touched

    @property
    def place(self) -> str:
        return f"{self.caller} ({self.location})" if self.caller else self.location


@dataclass(frozen=True)
class Job:
    """One run. Only TRACED is read again at each call, since it may be larger than memory."""

    source: str  # the file or folder that tells it
    kind: str  # "darshan", "trace" or "profile"
    program: str  # the command line
    ranks: int
    seconds: float  # run time
    start: float  # seconds since 1970
    job_id: str
    modules: dict[str, Module]
    mounts: tuple[tuple[str, str], ...] = ()  # (path, type), the longest path first
    heat: dict[str, Heat] = field(default_factory=dict)  # by module: "POSIX", "MPIIO", "STDIO"
    hosts: dict[int, str] = field(default_factory=dict)  # by rank, where it is known
    stripes: dict[str, tuple[int, int, tuple[int, ...]]] = field(default_factory=dict)  # path: count, bytes, targets
    steps: tuple[Step, ...] = ()
    functions: tuple[FunctionTime, ...] = ()  # what takes longest first; outermost calls only, so they add up
    has_traced: bool = False
    traced: Callable[[], Iterator[Traced]] = nothing_traced
    traced_trouble: Callable[[], str] = str  # why TRACED ended before its end, once it was called; "" where it did not
    partial: frozenset[str] = frozenset()  # modules of which records are missing, those of accesses included
    troubles: tuple[str, ...] = ()  # what is wrong with the log, in words
    recorder_seconds: float | None = None  # that a trace took of the rank of which it took most

    @property
    def core_hours(self) -> float:
        return self.ranks * self.seconds / 3600
