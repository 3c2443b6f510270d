"""methods.py: the methods of writing that faults are tried on."""

from collections.abc import Mapping
from dataclasses import dataclass

EXTENSIONS = {"hdf5": ".h5", "netcdf": ".nc", "raw": ".raw"}
PLACEMENTS = ("", "placement=per_rank", "placement=parts,parts=2", "placement=rank_order")
SMALL = "buffer_bytes=16KiB"
ENGINES = {"phdf5": ".h5", "netcdf4": ".nc4", "pnetcdf": ".nc"}


@dataclass(frozen=True)
class Method:
    """One way to write a file. LIBRARY: errors inside somebody else's collective calls are not ours to end."""

    plan: str
    extension: str
    library: bool = False
    scale: int = 1


def plan(way: str, *settings: str) -> str:
    text = ",".join(word for word in settings if word)
    return f"{way}:{text}" if text else way


def own(name: str, ways: Mapping[str, tuple[str, ...]], placements: tuple[str, ...]) -> list[Method]:
    """Format NAME by transports with their settings, in each placement."""
    return [
        Method(plan(f"{name}/{transport}", setting, placement), EXTENSIONS[name])
        for transport, settings in ways.items()
        for setting in settings
        for placement in placements
    ]


def each_io(*io: str) -> tuple[str, ...]:
    return tuple(f"io={word},{SMALL}" for word in io)


SERVERS = ("buffer_bytes=256KiB",)
STREAMS = [
    Method(f"stream:{options},buffer_bytes=8KiB,chunk_bytes=16KiB", ".pstream") for options in ("files=1", "files=2")
]
ALL_WAYS = {
    "independent": each_io("buffered", "direct", "mmap"),
    "two_phase": each_io("buffered", "direct", "mmap"),
    "servers": SERVERS,
}
JOB_WAYS = {
    "independent": (SMALL,),
    "two_phase": tuple(f"writers=2,{settings}" for settings in each_io("buffered", "direct")),
    "servers": SERVERS,
}
# Large enough for several requests of io_uring at once, and for blocks that are freed behind.
QUEUED = [
    Method(f"hdf5/{way}:io={io},queue_depth=4", ".h5", scale=48)
    for way in ("independent", "two_phase")
    for io in ("direct", "buffered")
]
MPIIO = [
    Method(f"{name}/mpiio:coordination={how}{placement and ',' + placement}", extension, library=True)
    for name, extension in EXTENSIONS.items()
    for how, placement in (("collective", ""), ("independent", ""), ("independent", PLACEMENTS[2]))
]
BY_ENGINES = [Method(name, extension, library=True) for name, extension in ENGINES.items()]
# Sets with one file more, which goes and comes with the others.
PARITY = [
    Method(f"{name}/two_phase:{SMALL},{placement},parity=1", EXTENSIONS[name])
    for name, placement in (("hdf5", PLACEMENTS[2]), ("raw", PLACEMENTS[1]), ("netcdf", PLACEMENTS[3]))
]
