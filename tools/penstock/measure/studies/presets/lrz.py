"""lrz.py: IOR, a particle-in-cell code, readers and checkpoints on SuperMUC (LRZ 2016)."""

from penstock.base import words
from penstock.base.launch import ROMIO
from penstock.measure.campaign.request import Case, hinted
from penstock.measure.studies.conclusions import Claim, Conclusion, conclude, judged, longer, not_testable
from penstock.measure.studies.figures import Figure, axis, figure, point, rates, times
from penstock.measure.studies.pooled import Pooled, Series
from penstock.measure.studies.presets.study import (
    AS_IOR,
    MIB,
    OURS,
    PER_PROCESS,
    Asked,
    Sized,
    Study,
    both_against_ranks,
    per_rank,
    whole,
)
from penstock.measure.studies.stats import interval

SOURCE = "LRZ, 23 June 2016: SuperMUC, islands of 512 nodes of 16 cores, GPFS with blocks of 8 MiB"
NODES = (1, 5, 10, 20, 40, 80, 160, 320)

COLLECTIVE = f"raw/mpiio:coordination=collective,{AS_IOR}"
INDEPENDENT = f"raw/mpiio:coordination=independent,{AS_IOR}"
CB = {
    value: hinted(COLLECTIVE, {"romio_cb_write": value, "romio_cb_read": value})
    for value in ("automatic", "disable", "enable")
}
HINT_METHODS = (*CB.values(), INDEPENDENT, OURS)
# GiB/s on 512 processes; None where it cannot be read.
PUBLISHED: dict[str, dict[str, tuple[float | None, float | None]]] = {
    "sequential 1 MiB": {"automatic": (25.92, 23.80), "disable": (75.34, 67.58), "independent": (80.39, 69.62)},
    "strided 1 MiB": {"automatic": (1.63, 17.74), "enable": (25.49, 26.10)},
    "sequential 256 MiB": {"automatic": (74.48, 46.67), "disable": (83.3, 65.88)},
    "strided 256 MiB": {"automatic": (71.12, None), "disable": (77.22, 70.21), "enable": (None, 24.90)},
}


def _hints(asked: Asked) -> Sized:
    """SEGMENTS of a transfer each are strided; one block of as many bytes is sequential."""
    sized = Sized()
    for transfer in (1 * MIB, 256 * MIB):
        scaled = whole(transfer * (min(1.0, asked.scale) if transfer > MIB else 1), 4096)
        if scaled < transfer:
            sized.cut.append(f"transfers of {words.size(transfer)}: {words.size(scaled)}, scaled")
        most = per_rank(asked, 2 * 256 * MIB, sized, f"bytes in transfers of {words.size(transfer)}")
        count = max(2, min(most, 32 * MIB) // scaled)
        for pattern, block, segments in (("sequential", scaled * count, 1), ("strided", scaled, count)):
            arguments = ("ior", "-b", str(block), "-t", str(scaled), "-s", str(segments), *asked.words)
            sized.cases.append(Case(f"{pattern} {words.size(transfer)}", arguments, HINT_METHODS))
    return sized


def _hints_figures(pooled: Pooled) -> list[Figure]:
    np = pooled.ranks()[-1]
    names = {
        "automatic": "cb automatic",
        "disable": "cb disabled",
        "enable": "cb enabled",
        "independent": "independent",
    }
    methods = CB | {"independent": INDEPENDENT}
    made = []
    for index, operation in enumerate(("write", "read")):
        for case, published in PUBLISHED.items():
            bars: list[tuple[float | str, Series | None]] = [
                (names[way], pooled.get(case, method, operation, np)) for way, method in methods.items()
            ]
            bars.append((OURS, pooled.get(case, OURS, operation, np)))
            named = [(names[way], both[index]) for way, both in published.items()]
            theirs = [point(way, [rate * 1024]) for way, rate in named if rate is not None]
            identity = f"{case.replace(' ', '-')}-{operation}"
            series = {f"here, {np} processes": rates(bars), "LRZ, 512 processes": theirs}
            made.append(
                figure(identity, f"IOR, {case}: {operation}", axis("hints", "category"), axis("MiB/s", "log"), series)
            )
    return made


def _hints_conclusions(pooled: Pooled) -> list[Conclusion]:
    both = ("write", "read")
    large = ("sequential 1 MiB", "sequential 256 MiB")
    return [
        conclude(
            pooled,
            "Sequential access: collective buffering is faster disabled than automatic.",
            [Claim(case, CB["disable"], CB["automatic"], operation) for case in large for operation in both],
        ),
        conclude(
            pooled,
            "Sequential access of 1 MiB: independent is the fastest.",
            [Claim(large[0], INDEPENDENT, CB["disable"], operation) for operation in both],
        ),
        conclude(
            pooled,
            "Strided access of 1 MiB: collective buffers on is faster than automatic.",
            [Claim("strided 1 MiB", CB["enable"], CB["automatic"], operation) for operation in both],
        ),
        conclude(
            pooled,
            "Strided access of 256 MiB: collective buffers off is faster than on.",
            [Claim("strided 256 MiB", CB["disable"], CB["enable"], operation) for operation in both],
        ),
    ]


IOR_METHODS = ("phdf5:collective=false", INDEPENDENT, PER_PROCESS, OURS)
WEAK = "64 GB for each process"


def _ior(asked: Asked) -> Sized:
    sized = Sized()
    own = whole(per_rank(asked, 64e9, sized, WEAK), 8 * MIB)
    arguments = ("ior", "-b", str(own), "-t", str(min(own, 8 * MIB)), *asked.words)
    sized.cases.append(Case(WEAK, arguments, IOR_METHODS))
    return sized


def _ior_figures(pooled: Pooled) -> list[Figure]:
    return both_against_ranks(pooled, WEAK, "IOR, weak scaling")


def _ior_conclusions(_: Pooled) -> list[Conclusion]:
    return [not_testable("Rates to 2,048 nodes were drawn without words.", "the study's figure has no numbers")]


FIELDS, STEPS = 6, 10
PER_NODE = (1, 2, 4)
PIC_METHODS = ("phdf5:collective=true", COLLECTIVE, PER_PROCESS, "pnetcdf:mode=collective", OURS)


def _pic_case(tasks: int) -> str:
    return f"a writer for every {tasks} processes" if tasks > 1 else "every process writes"


def _pic(asked: Asked) -> Sized:
    sized = Sized()
    whole_file = 52 * 52 * 66560 * 8 * FIELDS * STEPS
    planes = 52 * 52 * 8 * FIELDS * STEPS * asked.most  # one for each writer at least
    total = max(planes, min(whole_file * asked.scale * asked.most / NODES[-1], asked.ceiling()))
    sized.cut.append(
        f"the fields of 52 x 52 x 66,560 points, {words.size(whole_file)} in all: {words.size(int(total))}, "
        "since a process here stands for a node there"
    )
    for tasks in PER_NODE:
        ranks = tuple(np for np in asked.ranks if np >= tasks)
        arguments = (
            "pic",
            "--steps",
            str(STEPS),
            "--tasks-per-node",
            str(tasks),
            "--total",
            str(int(total)),
            *asked.words,
        )
        if ranks:
            sized.cases.append(Case(_pic_case(tasks), arguments, PIC_METHODS, ranks=ranks))
    return sized


def _pic_figures(pooled: Pooled) -> list[Figure]:
    made = []
    for case in pooled.cases():
        made += both_against_ranks(pooled, case, f"Particle-in-cell, {case}")
    np = pooled.ranks()[-1]
    hdf5 = PIC_METHODS[0]
    found = [(case, pooled.get(case, hdf5, "write", np)) for case in pooled.cases()]
    parts = {
        "META": ("define", "commit"),
        "WRITE": ("write",),
        "Other": ("pack", "exchange", "sync"),
    }
    series = {
        label: [point(case, [one.phase(*phases)]) for case, one in found if one is not None]
        for label, phases in parts.items()
    }
    title = f"{hdf5}, {np} processes: META, WRITE and other time"
    made.append(figure("pic-phases", title, axis("writers", "category"), axis("seconds"), series))
    return made


def _pic_conclusions(pooled: Pooled) -> list[Conclusion]:
    np = pooled.ranks()[-1]
    cases = [_pic_case(tasks) for tasks in PER_NODE]
    hdf5 = PIC_METHODS[0]
    found = {
        case: interval(one.seconds)
        for case in cases
        if (one := pooled.get(case, hdf5, "write", np)) is not None and min(one.seconds) > 0
    }
    worst, best = (pick(found.values(), key=lambda one: one.median, default=None) for pick in (max, min))
    holds = longer(worst, best, 1.5) if worst is not None and best is not None and len(found) > 1 else None
    evidence = "; ".join(f"{case}: {words.seconds(one.median)}" for case, one in found.items())
    return [
        judged(
            "The number of I/O processes per node matters most: the worst takes over 1.5 times as long as the best.",
            holds,
            f"{hdf5} on {np} processes: {evidence}"
            if evidence
            else "it was not measured on several numbers of writers",
        ),
        not_testable("Metadata overtakes writing as nodes grow from 1 to 320.", "there is one node here"),
    ]


AREAS = (
    (100e9, "100 GB", 79),
    (1e12, "1 TB", 10),
    (5e12, "5 TB", 7),
    (10e12, "10 TB", 1),
    (35e12, "35 TB", 2),
    (70e12, "70 TB", 1),
)
PERIODS = ((300.0, "5 minutes"), (8 * 3600.0, "8 hours"))
CHECKPOINT_METHODS = (OURS, "hdf5/servers", "hdf5/independent", "phdf5:collective=true", PER_PROCESS)


def _checkpoint(asked: Asked) -> Sized:
    """A thousandth of the scale in bytes, and as much in time: 100 GB every 5 minutes at 0.1 are 10 MB every 30 ms."""
    sized = Sized()
    shrink = asked.scale / 1000
    for size, name, share in AREAS:
        if size * shrink > asked.ceiling():
            sized.cut.append(f"checkpoints of {name}, {share} % of the users: scaled {words.size(int(size * shrink))}")
            continue
        for seconds, period in PERIODS:
            phase = seconds * shrink * 10
            if phase > 2:
                if period not in " ".join(sized.cut):
                    sized.cut.append(
                        f"a period of {period}: scaled {words.duration(phase)} of computing for each checkpoint"
                    )
                continue
            arguments = ("checkpoint", "--variables", "4", "--total", str(int(size * shrink)), *asked.words)
            group = f"{name} every {period}"
            sized.cases.append(Case(f"{group}, in turn", arguments, CHECKPOINT_METHODS, group=group))
            behind = (*arguments, "--compute", f"{phase:.3f}", "--compute-by", "sleep", "--put")
            sized.cases.append(Case(f"{group}, in the background", behind, CHECKPOINT_METHODS, group=group))
    return sized


def _checkpoint_figures(pooled: Pooled) -> list[Figure]:
    np = pooled.ranks()[-1]
    groups = [case.removesuffix(", in turn") for case in pooled.cases() if case.endswith(", in turn")]
    made = []
    for group in groups:
        series = {
            way: times((method, pooled.get(f"{group}, {way}", method, "write", np)) for method in CHECKPOINT_METHODS)
            for way in ("in turn", "in the background")
        }
        title = f"Visible time of a checkpoint of {group}, scaled, {np} processes"
        made.append(figure(group.replace(" ", "-"), title, axis("method", "category"), axis("seconds", "log"), series))
    return made


def _checkpoint_conclusions(_: Pooled) -> list[Conclusion]:
    return [
        not_testable(
            "41 % of the users write less than 100 GB, 38 % write 100 GB at a time.", "a survey, not a measurement"
        )
    ]


READERS_TOTAL = 522e9  # of six files


def _readers(asked: Asked) -> Sized:
    sized = Sized()
    total = READERS_TOTAL * asked.scale / 1000
    total = max(4.0 * MIB, min(total, asked.ceiling()))  # some planes of each file
    sized.cut.append(f"six files of 522 GB: {words.size(int(total))}")
    sized.program = ("readers", "--total", str(int(total)))
    return sized


def _readers_figures(pooled: Pooled) -> list[Figure]:
    series = {
        way: rates((np, pooled.get("readers", way, "read", np)) for np in pooled.ranks())
        for way in ("netcdf", "penstock")
    }
    title = "Master and workers, every byte 2.7 times"
    made = [figure("readers", title, axis("processes", "log"), axis("MiB/s that the workers get"), series)]
    fetched = {
        way: [
            point(np, [float(one.more["system_call_bytes_per_unique"])])
            for np in pooled.ranks()
            if (one := pooled.get("readers", way, "read", np)) is not None
        ]
        for way in ("netcdf", "penstock")
    }
    title = "Bytes read from the file system, for each byte of the files"
    return [*made, figure("readers-bytes", title, axis("processes", "log"), axis("times"), fetched)]


def _readers_conclusions(pooled: Pooled) -> list[Conclusion]:
    np = pooled.ranks()[-1]
    found = {way: pooled.get("readers", way, "read", np) for way in ("netcdf", "penstock")}
    read = {way: float(one.more["system_call_bytes_per_unique"]) for way, one in found.items() if one is not None}
    evidence = ", ".join(f"{way}: {words.digits(times)} times" for way, times in read.items())
    again = "netcdf" in read and read["netcdf"] > 2
    return [
        judged("Each byte is read 2.7 times and more.", again if read else None, f"{np} processes: {evidence}"),
        not_testable(
            "90 % of the time is I/O, 70 % in one function.", "the computation of the study's program is not here"
        ),
    ]


STUDIES = (
    Study(
        "lrz-hints",
        "IOR with hints on SuperMUC",
        SOURCE,
        (512,),
        _hints,
        _hints_figures,
        _hints_conclusions,
        environment=ROMIO,
    ),
    Study(
        "lrz-ior",
        "IOR, weak scaling on SuperMUC, 64 GB for each process",
        SOURCE,
        (32, 64, 128, 256, 512, 1024, 2048),
        _ior,
        _ior_figures,
        _ior_conclusions,
        remarks=("one process for each node: all are on one node here",),
    ),
    Study(
        "lrz-readers",
        "A master hands out work, workers read six netCDF-4 files again and again",
        SOURCE,
        (),
        _readers,
        _readers_figures,
        _readers_conclusions,
        remarks=("bytes are scaled by --scale / 1000",),
    ),
    Study(
        "lrz-pic",
        "A particle-in-cell code's fields, one writer for each node",
        SOURCE,
        tuple(16 * nodes for nodes in NODES),
        _pic,
        _pic_figures,
        _pic_conclusions,
        remarks=("a node of 16 processes with one writer: 1, 2 and 4 processes for each writer here",),
    ),
    Study(
        "lrz-checkpoint",
        "Checkpoints of SuperMUC's users, in turn with computing and in the background",
        SOURCE,
        (),
        _checkpoint,
        _checkpoint_figures,
        _checkpoint_conclusions,
        remarks=("bytes are scaled by --scale / 1000, periods by ten times as much",),
    ),
)
