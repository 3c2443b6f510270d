"""ornl.py: IOR with file views and collective calls on Jaguar (ORNL 2007)."""

from penstock.base import words
from penstock.base.launch import ROMIO
from penstock.measure.campaign.request import Case, hinted
from penstock.measure.studies.conclusions import Claim, Conclusion, conclude, judged, longer, not_testable
from penstock.measure.studies.figures import Figure
from penstock.measure.studies.pooled import Pooled
from penstock.measure.studies.presets.study import (
    AS_IOR,
    KIB,
    MIB,
    OURS,
    Asked,
    Sized,
    Study,
    both_against_ranks,
    per_rank,
    whole,
)
from penstock.measure.studies.stats import interval

SOURCE = "ORNL, 2007: Jaguar (Cray XT3/XT4), Lustre, 26 GB/s writing, 43 GB/s reading; the best of 5 repetitions"
CLIENTS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
PLAIN = f"raw/mpiio:coordination=independent,positioning=explicit,{AS_IOR}"
VIEW = f"raw/mpiio:coordination=independent,positioning=individual,{AS_IOR}"
SIEVING = ("enable", "automatic", "disable")
VIEWS = {value: hinted(VIEW, {"romio_ds_write": value, "romio_ds_read": value}) for value in SIEVING}
MPIIO = f"raw/mpiio:coordination=collective,positioning=explicit,{AS_IOR}"
MPIIO_VIEW = f"raw/mpiio:coordination=collective,positioning=individual,{AS_IOR}"
HDF5 = "phdf5:collective=false"
HDF5_COLLECTIVE = "phdf5:collective=true"
UNSIEVED = {"romio_ds_write": "disable", "romio_ds_read": "disable"}
WISHES = (hinted(HDF5_COLLECTIVE, UNSIEVED), "netcdf4:mode=collective", hinted("netcdf4:mode=collective", UNSIEVED))


def _build(asked: Asked, methods: tuple[str, ...]) -> Sized:
    sized = Sized()
    own = per_rank(asked, 16 * MIB, sized, "blocks of 16 MiB")
    for transfer in (256 * KIB, 16 * MIB):
        size = min(transfer, own)
        name = _case(transfer)
        block = ("-b", str(whole(own, size)), "-t", str(size))
        sized.cases.append(Case(name, ("ior", *block, *asked.words), methods))
    return sized


def _case(transfer: int) -> str:
    return f"transfers of {transfer // KIB} KiB" if transfer < MIB else f"transfers of {transfer // MIB} MiB"


SMALL, LARGE = _case(256 * KIB), _case(16 * MIB)


def _fileview(asked: Asked) -> Sized:
    return _build(asked, (PLAIN, *VIEWS.values(), HDF5, OURS))


def _collective(asked: Asked) -> Sized:
    return _build(asked, (PLAIN, MPIIO, MPIIO_VIEW, HDF5, HDF5_COLLECTIVE, *WISHES, OURS))


def _figures(pooled: Pooled) -> list[Figure]:
    return [
        one for case in (SMALL, LARGE) for one in both_against_ranks(pooled, case, f"IOR, blocks of 16 MiB, {case}")
    ]


def _hdf5_against_mpiio(pooled: Pooled) -> list[Conclusion]:
    few = pooled.ranks()[:1]
    return [
        conclude(
            pooled,
            "HDF5 has nearly MPI-IO's rate for few clients: at least three quarters of it.",
            [Claim(case, HDF5, PLAIN, operation, 0.75) for case in (SMALL, LARGE) for operation in ("write", "read")],
            few,
        ),
        not_testable("HDF5 has half of MPI-IO's rate for many clients.", "many are hundreds"),
    ]


def _fileview_conclusions(pooled: Pooled) -> list[Conclusion]:
    return [
        *_hdf5_against_mpiio(pooled),
        conclude(
            pooled,
            "MPI-IO with a file view is poor until data sieving is turned off.",
            [
                Claim(case, VIEWS["disable"], VIEWS[value], "write")
                for case in (SMALL, LARGE)
                for value in ("enable", "automatic")
            ],
        ),
    ]


def _collective_conclusions(pooled: Pooled) -> list[Conclusion]:
    return [
        *_hdf5_against_mpiio(pooled),
        not_testable(
            "HDF5 with collectives is poor until record locks are turned off.",
            "MPICH_ROMIO_NO_RECORD_LOCKING is a switch of Cray's MPI library",
        ),
        _larger_transfers(pooled),
    ]


def _larger_transfers(pooled: Pooled) -> Conclusion:
    """Two cases are not measured in pairs, so their medians are compared where the intervals lie apart."""
    np = pooled.ranks()[-1]
    evidence: list[str] = []
    faster: dict[str, bool | None] = {}
    for method in (MPIIO, PLAIN):
        small, large = (pooled.get(case, method, "write", np) for case in (SMALL, LARGE))
        if small is None or large is None:
            faster[method] = None
            continue
        before, after = interval(small.seconds), interval(large.seconds)
        evidence.append(
            f"{method}: {words.seconds(before.median)} with 256 KiB, {words.seconds(after.median)} with 16 MiB"
        )
        faster[method] = longer(before, after)
    refuted = faster[MPIIO] is False or faster[PLAIN] is True
    holds = False if refuted else True if faster[MPIIO] and len(evidence) == len(faster) else None
    return judged("Larger transfers help only collectives.", holds, "; ".join(evidence) or "not measured")


REMARKS = (
    "the study shows the maximum of 5 repetitions: here are all, their median and its interval, which needs 6",
    "MPICH_ROMIO_NO_RECORD_LOCKING is a switch of Cray's MPI library",
)

STUDIES = (
    Study(
        "ornl-fileview",
        "IOR with file views",
        SOURCE,
        CLIENTS,
        _fileview,
        _figures,
        _fileview_conclusions,
        environment=ROMIO,
        remarks=REMARKS,
    ),
    Study(
        "ornl-collective",
        "IOR with collective calls, and what ORNL wished for: netCDF, and HDF5 with hints",
        SOURCE,
        CLIENTS,
        _collective,
        _figures,
        _collective_conclusions,
        environment=ROMIO,
        remarks=REMARKS,
    ),
)
