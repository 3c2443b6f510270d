"""haefele.py: a 2-D array in blocks, written in seven ways (Haefele, Autrans 2011)."""

from penstock.measure.campaign.request import Case
from penstock.measure.studies.conclusions import Claim, Conclusion, conclude, not_testable
from penstock.measure.studies.figures import Figure
from penstock.measure.studies.pooled import Pooled
from penstock.measure.studies.presets.study import (
    GIB,
    OURS,
    PER_PROCESS,
    Asked,
    Sized,
    Study,
    both_against_ranks,
    fits,
    per_rank,
    strong,
)

SOURCE = (
    "Haefele, Autrans, September 2011: VIP (6,560 Power6 cores, GPFS) and HPC-FF (8,640 Nehalem cores, Lustre); "
    "a square of 4-byte reals in Fortran order, block-block"
)
GATHER = "raw/gather"
VIEW = "raw/mpiio:positioning=individual,coordination=collective,read_back=none"
OFFSETS = "raw/mpiio:positioning=explicit,coordination=independent,request=per_run,read_back=none"
CHUNKS = "raw/mpiio:layout=chunks,read_back=none"
HDF5 = "phdf5:collective=true"
HDF5_CHUNKS = "phdf5:collective=true,chunked=true"
METHODS = (PER_PROCESS, GATHER, VIEW, OFFSETS, CHUNKS, HDF5, HDF5_CHUNKS, OURS)
ARRAY = ("block2d", "--type", "real32", "--order", "Fortran")
AXIS = (1, 4, 16, 64, 256, 1024)


def _weak(asked: Asked) -> Sized:
    sized = Sized()
    size = per_rank(asked, 4e6, sized, "weak scaling")
    sized.cases.append(Case("weak scaling", (*ARRAY, "--per-rank", str(size), *asked.words), METHODS))
    return sized


def _strong(asked: Asked) -> Sized:
    sized = Sized()
    for total in (8, 256):
        size = strong(asked, total * GIB, 1024) * asked.scale
        if fits(asked, size, sized, f"{total} GB in all"):
            sized.cases.append(Case(f"{total} GB in all", (*ARRAY, "--total", str(int(size)), *asked.words), METHODS))
    return sized


def _figures(pooled: Pooled) -> list[Figure]:
    return [one for case in pooled.cases() for one in both_against_ranks(pooled, case, f"Haefele, {case}")]


def _conclusions(pooled: Pooled) -> list[Conclusion]:
    cases = pooled.cases()
    first = cases[:1]
    return [
        conclude(
            pooled,
            "Prefer the view mechanism to explicit offsets.",
            [Claim(case, VIEW, OFFSETS, operation) for case in cases for operation in ("write", "read")],
        ),
        conclude(
            pooled,
            "For small files POSIX is more efficient.",
            [Claim(case, PER_PROCESS, other, "write") for case in first for other in (VIEW, HDF5)],
        ),
        conclude(
            pooled,
            "Gathering to one POSIX file is still good: less than twice the time of MPI-IO with views.",
            [Claim(case, GATHER, VIEW, "write", 0.5) for case in cases],
        ),
        conclude(
            pooled,
            "HDF5 makes sense: it takes less than twice the time of MPI-IO.",
            [Claim(case, HDF5, VIEW, operation, 0.5) for case in cases for operation in ("write", "read")],
        ),
        conclude(
            pooled,
            "The extra work of chunks is not worth it.",
            [Claim(case, HDF5, HDF5_CHUNKS, "write") for case in cases],
        ),
        not_testable(
            "Separate files are very good at 1,000 cores; at 10,000 and 100,000 that is open.",
            "this needs as many cores",
        ),
    ]


STUDIES = (
    Study(
        "haefele-weak",
        "Weak scaling of a 2-D array in blocks, 4 MB for each process",
        SOURCE,
        AXIS,
        _weak,
        _figures,
        _conclusions,
    ),
    Study(
        "haefele-strong",
        "Strong scaling of a 2-D array in blocks, 8 GB and 256 GB in all",
        SOURCE,
        AXIS,
        _strong,
        _figures,
        _conclusions,
        remarks=(
            "totals are scaled so that the largest number of processes has as much for each as the study's 1,024",
        ),
    ),
)
