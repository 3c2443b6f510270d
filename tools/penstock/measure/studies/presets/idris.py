"""idris.py: IOR, file creation, RAMSES and the hints of MPI-IO on Babel and Vargas (IDRIS 2011)."""

import math
from statistics import fmean

from penstock.base import words
from penstock.base.launch import ROMIO
from penstock.measure.campaign.request import Case, hinted
from penstock.measure.studies.conclusions import Claim, Conclusion, conclude, judged, longer, not_testable
from penstock.measure.studies.figures import Figure, Points, axis, figure, point, rates, times
from penstock.measure.studies.pooled import Pooled, Series
from penstock.measure.studies.presets.study import (
    AS_IOR,
    GIB,
    MIB,
    OURS,
    PER_PROCESS,
    Asked,
    Sized,
    Study,
    both_against_ranks,
    fits,
    per_rank,
    strong,
    whole,
)
from penstock.measure.studies.stats import interval

SOURCE = (
    "IDRIS, 13 January 2011: Babel (Blue Gene/P, 10,240 nodes of 4 cores) and Vargas (Power6, 112 nodes of 32 cores), "
    "16 GPFS servers, 8 GB/s, blocks of 2 MiB"
)
IOR_RANKS = (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
RAMSES_RANKS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
MPIIO = f"raw/mpiio:coordination=independent,{AS_IOR}"
HDF5 = "phdf5:collective=false"
PNETCDF = "pnetcdf:mode=independent"
TRANSFER = 2 * MIB
COLLECTIVE_HDF5 = "phdf5:collective=true"
COLLECTIVE_MPIIO = "raw/mpiio:coordination=collective,read_back=none"
COLLECTIVE_PNETCDF = "pnetcdf:mode=collective"


def _ior(asked: Asked) -> Sized:
    sized = Sized()
    size = per_rank(asked, strong(asked, 256 * GIB, 1024) / asked.most, sized, "256 GiB in all")
    transfer = min(TRANSFER, size)
    block = ("-b", str(whole(size, transfer)), "-t", str(transfer))
    methods = (PER_PROCESS, MPIIO, HDF5, PNETCDF, OURS)
    for np in asked.ranks:  # 256 GiB whatever the number of processes
        own = whole(size * asked.most / np, transfer)
        sized.cases.append(
            Case("256 GiB in all", ("ior", "-b", str(own), *block[2:], *asked.words), methods, ranks=(np,))
        )
    return sized


def _ior_figures(pooled: Pooled) -> list[Figure]:
    return both_against_ranks(pooled, "256 GiB in all", "IOR, transfers of 2 MiB, not collective")


def _ior_conclusions(pooled: Pooled) -> list[Conclusion]:
    case = "256 GiB in all"
    both = ("write", "read")
    return [
        conclude(
            pooled,
            "A POSIX file for each process is the best in nearly all cases.",
            [Claim(case, PER_PROCESS, other, operation) for operation in both for other in (MPIIO, HDF5, PNETCDF)],
        ),
        conclude(
            pooled,
            "MPI-IO is clearly below POSIX on Vargas, in writing and reading.",
            [Claim(case, PER_PROCESS, MPIIO, operation) for operation in both],
        ),
        conclude(pooled, "HDF5 is below MPI-IO.", [Claim(case, MPIIO, HDF5, operation) for operation in both]),
        conclude(
            pooled,
            "Parallel-NetCDF is rather bad, above all in writing: below HDF5.",
            [Claim(case, HDF5, PNETCDF, "write")],
        ),
        not_testable("The peak of the file system is reached from 2 racks or 4 nodes on.", "there is one node here"),
    ]


FILES = (1, 10, 100, 1000, 10000, 100000)
FOLDERS = ("one folder", "a folder per rank")
MADE = ("create", "close", "open", "stat", "remove")
SETS = "sets of files"


def _create(asked: Asked) -> Sized:
    """Returns the file-creation study with its largest number of files scaled; the smaller decades stay as they are."""
    sized = Sized()
    most = max(1, round(FILES[-1] * min(1.0, asked.scale)))
    files = sorted({count for count in FILES if count <= most} | {most})
    left = [str(count) for count in FILES if count > most]
    if left:
        sized.cut.append(f"{', '.join(left)} files: up to {most}")
    methods = (PER_PROCESS, "hdf5/subfiles:parts=2", COLLECTIVE_HDF5, OURS)
    options = ("--files", ",".join(map(str, files)), "--methods", ",".join(methods), "--per-rank", "4MiB")
    sized.program = ("metadata", *options)
    return sized


def _count(case: str) -> int:
    return int(case.split(maxsplit=1)[0])


def _create_figures(pooled: Pooled) -> list[Figure]:
    np = pooled.ranks()[-1]
    cases = sorted((case for case in pooled.cases() if case != SETS), key=_count)
    made = []
    for operation in MADE:
        series: dict[str, Points] = {}
        for folder in FOLDERS:
            found = [(_count(case), pooled.get(case, folder, operation, np)) for case in cases]
            for name, pick in (("slowest", max), ("mean", fmean), ("fastest", min)):
                points = [point(count, [one.over_ranks(pick)]) for count, one in found if one is not None]
                series[f"{folder}, {name} process"] = [one for one in points if one["y"] > 0]
        title = f"{operation.capitalize()} files, {np} processes"
        made.append(figure(f"files-{operation}", title, axis("files", "log"), axis("seconds", "log"), series))
    handled = {
        method: times(
            (operation, pooled.get(SETS, method, operation, np)) for operation in ("list", "copy", "tar", "remove")
        )
        for method in pooled.methods(SETS)
    }
    title = f"Handling what each method leaves, {np} processes"
    return [*made, figure("sets", title, axis("operation", "category"), axis("seconds", "log"), handled)]


def _create_conclusions(pooled: Pooled) -> list[Conclusion]:
    np = pooled.ranks()[-1]
    cases = sorted((case for case in pooled.cases() if case != SETS), key=_count)
    found = [(_count(case), one) for case in cases if (one := pooled.get(case, FOLDERS[0], "create", np)) is not None]
    each = [(count, interval([seconds / count for seconds in one.seconds])) for count, one in found if count >= 10 * np]
    evidence = ", ".join(
        f"{words.seconds(one.median)} ({words.seconds_interval(one.median, one.low, one.high)}) a file for {count}"
        for count, one in each
    )
    grows = longer(each[-1][1], each[0][1]) if len(each) > 1 else None
    return [
        judged(
            "The time to create files grows worse than linearly with their number.", grows, evidence or "too few files"
        ),
        conclude(
            pooled,
            "A series of files takes longer to list and to remove than one file.",
            [Claim(SETS, OURS, PER_PROCESS, operation) for operation in ("list", "remove")],
        ),
    ]


DOMAINS = (128, 256, 512, 1024, 2048)
GIB_AT_1024 = {  # published
    "amr": (0.213, 0.707, 3.814, 25.860, 191.8),
    "hydro": (0.299, 1.292, 7.646, 49.150, 393.2),
}
RAMSES_METHODS = (PER_PROCESS, COLLECTIVE_HDF5, COLLECTIVE_MPIIO, COLLECTIVE_PNETCDF, OURS)
WRITE_AT = "raw/mpiio:coordination=independent,read_back=none"
ORDERED = "raw/mpiio:positioning=shared,coordination=collective,layout=chunks,read_back=none"
GROUPED = "hydro 1024^3 by "


def _scaled_domain(domain: int, scale: float) -> int:
    """The power of two whose bytes are nearest to SCALE times those of DOMAIN."""
    return 1 << max(2, round(math.log2(domain * math.cbrt(scale))))


def _ramses(asked: Asked) -> Sized:
    sized = Sized()
    for kind, sizes in GIB_AT_1024.items():
        for domain, size in zip(DOMAINS, sizes, strict=True):
            if fits(asked, size * GIB * asked.scale, sized, f"{kind} {domain}^3"):
                options = ("--domain", str(_scaled_domain(domain, asked.scale)), *asked.words)
                sized.cases.append(Case(f"{kind} {domain}^3", (f"ramses-{kind}", *options), RAMSES_METHODS))
    reduced = next(
        one for one in (1024, 512, 256) if 54.9 * (one / 1024) ** 3 * GIB * asked.scale <= asked.ceiling() or one == 256
    )
    domain = _scaled_domain(reduced, asked.scale)
    if reduced != 1024:
        sized.cut.append(f"the table of 1024^3 by level and by process: measured with {reduced}^3")
    for grouped in ("level", "process"):
        options = ("ramses-hydro", "--domain", str(domain), "--grouped", grouped, *asked.words)
        sized.cases.append(Case(f"{GROUPED}{grouped}", options, (COLLECTIVE_MPIIO, WRITE_AT, ORDERED), group=GROUPED))
    return sized


def _ramses_figures(pooled: Pooled) -> list[Figure]:
    made = []
    for kind in GIB_AT_1024:
        cases = [f"{kind} {domain}^3" for domain in DOMAINS if f"{kind} {domain}^3" in pooled.cases()]
        for case in cases[-1:]:
            made += both_against_ranks(pooled, case, f"RAMSES, {case}")
        for operation in ("write", "read"):
            series = {
                method: rates(
                    (case.split()[1], pooled.get(case, method, operation, pooled.ranks()[-1])) for case in cases
                )
                for method in RAMSES_METHODS
            }
            title = f"RAMSES, {kind}, {pooled.ranks()[-1]} processes: {operation}"
            made.append(
                figure(f"{kind}-domain-{operation}", title, axis("domain", "category"), axis("MiB/s", "log"), series)
            )
    made.append(
        figure(
            "grouped",
            "RAMSES, hydro, MPI-IO: grouped by level and by process, writing",
            axis("grouped by", "category"),
            axis("MiB/s"),
            {
                method: rates(
                    (by, pooled.get(GROUPED + by, method, "write", pooled.ranks()[-1])) for by in ("level", "process")
                )
                for method in (COLLECTIVE_MPIIO, WRITE_AT, ORDERED)
            },
        )
    )
    return made


def _ramses_conclusions(pooled: Pooled) -> list[Conclusion]:
    cases = [case for case in pooled.cases() if not case.startswith(GROUPED)]
    last = [case for kind in GIB_AT_1024 for case in [one for one in cases if one.startswith(kind)][-1:]]
    both = ("write", "read")
    collective = (COLLECTIVE_HDF5, COLLECTIVE_MPIIO, COLLECTIVE_PNETCDF)
    return [
        conclude(
            pooled,
            "Separate files are always clearly the fastest.",
            [Claim(case, PER_PROCESS, other, operation) for case in last for operation in both for other in collective],
        ),
        conclude(
            pooled,
            "MPI-IO comes next.",
            [
                Claim(case, COLLECTIVE_MPIIO, other, operation)
                for case in last
                for operation in both
                for other in (COLLECTIVE_HDF5, COLLECTIVE_PNETCDF)
            ],
        ),
        conclude(
            pooled,
            "Parallel-NetCDF is close behind MPI-IO: less than twice its time.",
            [Claim(case, COLLECTIVE_PNETCDF, COLLECTIVE_MPIIO, "write", 0.5) for case in last],
        ),
        conclude(
            pooled,
            "HDF5 is the slowest.",
            [
                Claim(case, other, COLLECTIVE_HDF5, operation)
                for case in last
                for operation in both
                for other in (COLLECTIVE_MPIIO, COLLECTIVE_PNETCDF)
            ],
        ),
        conclude(
            pooled,
            "Grouped by level, write_at_all is faster than write_at and write_ordered (810, 158, 197 MiB/s).",
            [Claim(f"{GROUPED}level", COLLECTIVE_MPIIO, other, "write") for other in (WRITE_AT, ORDERED)],
        ),
        conclude(
            pooled,
            "Grouped by process, write_at is faster than write_at_all (342, 106 MiB/s).",
            [Claim(f"{GROUPED}process", WRITE_AT, COLLECTIVE_MPIIO, "write")],
        ),
        not_testable(
            "The gaps grow with processes, and beyond 4,096 only separate files have no problem.", "this needs as many"
        ),
    ]


# Write: cb, ds; and the same for reading.
HINTS = (
    ("enable", "automatic"),
    ("disable", "automatic"),
    ("automatic", "automatic"),
    ("enable", "enable"),
    ("enable", "disable"),
)
PUBLISHED = {  # seconds: write, read; the first is the default
    ("enable", "automatic"): (47.4, 69.9),
    ("disable", "automatic"): (6784.7, 315.2),
    ("automatic", "automatic"): (6273.5, 324.3),
    ("enable", "enable"): (53.5, 67.5),
    ("enable", "disable"): (52.8, 61.3),
}
HINTED = {
    pair: hinted(
        COLLECTIVE_HDF5,
        {
            f"romio_{what}_{way}": value
            for way in ("write", "read")
            for what, value in zip(("cb", "ds"), pair, strict=True)
        },
    )
    for pair in HINTS
}
TRIED_TOO: tuple[tuple[str, str | int], ...] = (("cb_nodes", 1), ("cb_buffer_size", 4 * MIB), ("file_perm", "640"))
FURTHER = tuple(
    hinted(COLLECTIVE_HDF5, {"romio_cb_write": "enable", "romio_cb_read": "enable", name: value})
    for name, value in TRIED_TOO
)
AMR = "amr 1024^3"


def _hints(asked: Asked) -> Sized:
    sized = Sized()
    # Without collective buffers it takes a hundred times as long.
    affordable = [
        one
        for one, size in zip(DOMAINS[:4], GIB_AT_1024["amr"][:4], strict=True)
        if size * GIB * asked.scale <= asked.ceiling() / 8
    ]
    domain = max(affordable, default=DOMAINS[0])
    if domain != 1024:
        sized.cut.append(
            f"the domain of 1024^3, 25.86 GiB: {domain}^3, since some of the hints cost a hundred times the time"
        )
    arguments = ("ramses-amr", "--domain", str(_scaled_domain(domain, asked.scale)), *asked.words)
    sized.cases.append(Case(AMR, arguments, (*HINTED.values(), *FURTHER)))
    return sized


def _hints_figures(pooled: Pooled) -> list[Figure]:
    np = pooled.ranks()[-1]
    made = []
    for operation in ("write", "read"):
        bars: list[tuple[float | str, Series | None]] = [
            (f"cb {cb}, ds {ds}", pooled.get(AMR, method, operation, np)) for (cb, ds), method in HINTED.items()
        ]
        published = [
            point(f"cb {cb}, ds {ds}", [seconds[["write", "read"].index(operation)]])
            for (cb, ds), seconds in PUBLISHED.items()
        ]
        series = {f"here, {np} processes": times(bars), "IDRIS, 2,048 processes": published}
        title = f"HDF5, AMR file, hints: {operation}"
        made.append(figure(f"hints-{operation}", title, axis("hints", "category"), axis("seconds", "log"), series))
    return made


def _hints_conclusions(pooled: Pooled) -> list[Conclusion]:
    default = HINTED["enable", "automatic"]
    without = [HINTED["disable", "automatic"], HINTED["automatic", "automatic"]]
    return [
        conclude(
            pooled,
            "Without collective buffers writing takes over a hundred times as long.",
            [Claim(AMR, default, other, "write", 100) for other in without],
        ),
        conclude(
            pooled,
            "Without collective buffers reading takes over four times as long.",
            [Claim(AMR, default, other, "read", 4) for other in without],
        ),
        conclude(
            pooled,
            "With collective buffers data sieving hardly matters: at most a quarter more time.",
            [
                Claim(AMR, HINTED["enable", ds], default, operation, 0.8)
                for ds in ("enable", "disable")
                for operation in ("write", "read")
            ],
        ),
    ]


STUDIES = (
    Study(
        "idris-create",
        "Creating files on Babel and Vargas, and handling them",
        SOURCE,
        (1024, 4096, 10240),
        _create,
        _create_figures,
        _create_conclusions,
    ),
    Study(
        "idris-ior",
        "IOR on Babel and Vargas: 256 GiB in all",
        SOURCE,
        IOR_RANKS,
        _ior,
        _ior_figures,
        _ior_conclusions,
        remarks=(
            "256 GiB in all is scaled so that the largest number of processes has as much for each as 1,024 of Vargas",
        ),
    ),
    Study(
        "idris-ramses",
        "RAMSES, sedov3d without refinement: AMR and hydro files",
        SOURCE,
        RAMSES_RANKS,
        _ramses,
        _ramses_figures,
        _ramses_conclusions,
        remarks=("domains are the powers of two nearest to the scaled bytes: 64^3 for 128^3 at 0.1",),
    ),
    Study(
        "idris-hints",
        "Hints of MPI-IO for RAMSES' AMR file through HDF5",
        SOURCE,
        (2048,),
        _hints,
        _hints_figures,
        _hints_conclusions,
        environment=ROMIO,
        remarks=("IBM_io_buffer_size, IBM_largeblock_io, IBM_sparse_access are hints of IBM's MPI library",),
    ),
)
