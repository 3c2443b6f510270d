"""esio.py: pencils of a channel flow, by HDF5 and by POSIX (PECOS, ESIO 2010)."""

from penstock.measure.campaign.request import Case
from penstock.measure.studies.conclusions import Claim, Conclusion, conclude, not_testable
from penstock.measure.studies.figures import Figure
from penstock.measure.studies.pooled import Pooled
from penstock.measure.studies.presets.study import OURS, PER_PROCESS, Asked, Sized, Study, both_against_ranks, per_rank

SOURCE = "PECOS (ESIO), August 2010: Ranger and Kraken (Lustre), Intrepid (Blue Gene/P, GPFS)"
WEAK = "20 MB for each process"
HDF5 = "phdf5:collective=true"


def _build(asked: Asked) -> Sized:
    sized = Sized()
    own = per_rank(asked, 20e6, sized, WEAK)
    methods = (HDF5, "phdf5:collective=false", PER_PROCESS, "raw/mpiio:coordination=collective,read_back=none", OURS)
    sized.cases.append(Case(WEAK, ("pencil", "--per-rank", str(own), *asked.words), methods))
    return sized


def _figures(pooled: Pooled) -> list[Figure]:
    return both_against_ranks(pooled, WEAK, "Pencils, weak scaling")


def _conclusions(pooled: Pooled) -> list[Conclusion]:
    return [
        conclude(
            pooled,
            "HDF5 writes at three quarters of the rate of POSIX or more (13.34 of 18 GB/s on Ranger).",
            [Claim(WEAK, HDF5, PER_PROCESS, "write", 0.734)],
        ),
        not_testable("At most a tenth of the run time for 10 to 50 TB an hour.", "this needs as many bytes"),
    ]


STUDIES = (
    Study(
        "esio-weak",
        "Weak scaling of pencils, 20 MB for each process",
        SOURCE,
        (16, 64, 256, 1024, 4096, 8192),
        _build,
        _figures,
        _conclusions,
        repetitions=10,
        remarks=(
            "the study shows the mean of 10 samples: here are all, their median and its interval",
            "its numbers of processes end where 163 GB are reached, at 8,192",
        ),
    ),
)
