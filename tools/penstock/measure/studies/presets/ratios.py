"""ratios.py: the ratios that measure this library's quality, their targets, and the cases that they need.

Each rival is represented by the variants that were fastest of their kind in ordinary runs of the same workload; the
run itself determines which of them counts.
"""

from dataclasses import dataclass

NAME = "ratios"
WORDS = {"--total", "--type", "--order", "--map"}  # what it takes: studies/ratios.py knows which case gets which
FEW_RANKS = 16  # below, FEW_TARGET holds where a ratio has one
SLOW_FACTOR = 10.0  # methods this much slower than ours in the warm-up are dropped or measured less often


@dataclass(frozen=True)
class Setup:
    """WORDS are further words of penstock-bench; cases of one group are measured close together in time."""

    workload: str
    words: tuple[str, ...] = ()
    group: str = ""
    sized: bool = True  # by --total


@dataclass(frozen=True)
class Side:
    """One side of a ratio. Of several methods the one with the lowest median counts; the ratio names it.

    MEASURE is write or read, or copy: of the data once, beside a compute phase; or stored: bytes, not seconds.
    """

    case: str
    methods: tuple[str, ...]
    measure: str = "write"


@dataclass(frozen=True)
class Ratio:
    """Seconds of OURS over those of OTHER in the same repetitions. Without a target it is for information."""

    id: str
    name: str
    ours: Side
    other: Side
    target: float | None = None
    few_target: float | None = None
    romio: bool = False  # only if ROMIO is the run's MPI-IO library

    def target_on(self, ranks: int) -> float | None:
        return self.few_target if ranks < FEW_RANKS and self.few_target is not None else self.target


@dataclass(frozen=True)
class Growth:
    """Not timed but counted: how a rank's traffic grows from 64 ranks to more, over the growth of log(ranks).

    Of several larger numbers of ranks, the one with the largest growth counts.
    """

    id: str
    name: str
    workload: str
    quantity: str  # of the counts: messages or plan_bytes
    full: bool = False  # 8 MiB on each rank of full nodes, instead of 512 MiB in total and a rank on each node

    @property
    def ranks(self) -> tuple[int, ...]:
        return (64, 1024, 4096, 16384, 65536) if self.full else (64, 4096)

    @property
    def target(self) -> float | None:
        return None if self.full and self.quantity == "plan_bytes" else 1.0


Row = Ratio | Growth


def _plain(*methods: str) -> tuple[str, ...]:
    """Returns METHODS without what the rivals' programs lack: our checksums and mpiio's check of written data."""

    def plain(method: str) -> str:
        bare = "checksums=none,read_back=none" if method.startswith("raw/mpiio") else "checksums=none"
        return method + ("," if ":" in method else ":") + bare

    return tuple(plain(method) for method in methods)


_OURS = ("hdf5/two_phase",)
_PER_PROCESS = _plain("raw/per_process")
_DIRECT_PER_PROCESS = _plain("raw/per_process:io=direct,preallocate=true")
_WRITE_ALL = _plain("raw/mpiio:level=3")  # MPI_File_write_all of all data of a rank
_DEVICE = ("reference/device:streams=2", "reference/device:streams=4", "reference/device:streams=16")
_ENGINES = _plain(
    "phdf5",
    "phdf5:alignment=1048576",
    "phdf5:collective=true",
    "pnetcdf:mode=independent",
    "pnetcdf:mode=nonblocking",
    "netcdf4:mode=independent",
    "raw/mpiio:level=2",
    "raw/mpiio:level=3",
)
_CACHED_ENGINES = _plain("phdf5", "pnetcdf:mode=independent", "netcdf4:mode=independent", "raw/mpiio:level=2")
_FOR_MANY = _plain("phdf5", "phdf5:collective=true", "pnetcdf", "pnetcdf:mode=independent", "pnetcdf:mode=nonblocking")
_FOR_MAP = _plain("pnetcdf:mode=nonblocking", "raw/mpiio:level=3")
_ZSTD = ("hdf5/two_phase:compression=zstd",)
_DEFLATE = ("hdf5/two_phase:compression=deflate",)
_LOSSLESS = (*_ZSTD, *(f"hdf5/two_phase:compression={codec}" for codec in ("lz4", "blosc", "auto")), *_DEFLATE)
_ROUNDED = tuple(f"hdf5/two_phase:compression={codec},keep_bits=9" for codec in ("zstd", "lz4", "blosc"))
_CHUNKED = "phdf5:chunked=true,chunk=1MiB,collective=true,shuffle=true"
_FILTERED = _plain(
    f"{_CHUNKED},filter=zstd,level=1", f"{_CHUNKED},filter=deflate,level=1", f"{_CHUNKED},filter=deflate"
)
_BACKGROUND = ("hdf5/two_phase", "hdf5/servers")

CASES: dict[str, Setup] = {
    "block2d": Setup("block2d", ("--aa",), "block2d"),
    "block2d ghosts": Setup("block2d", ("--ghosts", "2"), "block2d"),
    "block2d own ranks": Setup("block2d", ("--own-ranks",), "block2d"),
    "block2d put": Setup("block2d", ("--put",), "block2d"),
    "block2d cached": Setup("block2d", ("--regime", "cached")),
    "block3d": Setup("block3d", (), "block3d"),
    "block3d ghosts": Setup("block3d", ("--ghosts", "2"), "block3d"),
    "short rows": Setup("block3d", ("--row-bytes", "512")),
    "many": Setup("many", sized=False),
    "map F": Setup("map", ("--variables", "50"), sized=False),
    "background": Setup("block2d", ("--compute", "1")),
    "smooth": Setup("block3d", ("--data", "smooth")),
    "turbulence": Setup("block3d", ("--data", "turbulence")),
    "small": Setup("block2d", ("--total", "1MiB"), sized=False),
}


def _ours(case: str, measure: str = "write") -> Side:
    return Side(case, _OURS, measure)


ROWS: tuple[Row, ...] = (
    Ratio("1a", "2-D blocks, durable / a file per process", _ours("block2d"), Side("block2d", _PER_PROCESS), 0.65),
    Ratio("1b", "3-D blocks, durable / a file per process", _ours("block3d"), Side("block3d", _PER_PROCESS), 0.65),
    Ratio(
        "1c",
        "2-D blocks / the same, direct and preallocated",
        _ours("block2d"),
        Side("block2d", _DIRECT_PER_PROCESS),
        1.05,
    ),
    Ratio(
        "1d",
        "3-D blocks / the same, direct and preallocated",
        _ours("block3d"),
        Side("block3d", _DIRECT_PER_PROCESS),
        1.05,
    ),
    Ratio("1e", "2-D blocks, durable / best engine or MPI-IO", _ours("block2d"), Side("block2d", _ENGINES), 0.5, 0.75),
    Ratio("1f", "2-D blocks, CDF-5 / HDF5", Side("block2d", ("netcdf/two_phase",)), _ours("block2d"), 1.05),
    Ratio(
        "2a",
        "2-D blocks, cached / a file per process",
        _ours("block2d cached"),
        Side("block2d cached", _PER_PROCESS),
        1,
    ),
    Ratio(
        "2b",
        "2-D blocks, cached / best engine or MPI-IO",
        _ours("block2d cached"),
        Side("block2d cached", _CACHED_ENGINES),
    ),
    Ratio("3", "2-D blocks, durable / the device, direct", _ours("block2d"), Side("block2d", _DEVICE), 1 / 0.95),
    Ratio("4a", "rows of 512 bytes / MPI_File_write_all", _ours("short rows"), Side("short rows", _WRITE_ALL), 0.3),
    Ratio(
        "4b",
        "rows of 512 bytes / MPI_File_write_all of ROMIO",
        _ours("short rows"),
        Side("short rows", _WRITE_ALL),
        0.3,
        romio=True,
    ),
    Ratio(
        "4c", "rows of 512 bytes / strided pwrite", _ours("short rows"), Side("short rows", _plain("raw/independent"))
    ),
    Ratio("5a", "many datasets / best of phdf5 and pnetcdf", _ours("many"), Side("many", _FOR_MANY), 0.2),
    Ratio("5b", "many datasets / a file per process", _ours("many"), Side("many", _PER_PROCESS), 2.5),
    Ratio("6", "E3SM map F / best of pnetcdf and MPI_File_write_all", _ours("map F"), Side("map F", _FOR_MAP), 0.2),
    Ratio("7a", "2-D blocks with ghost cells / without", _ours("block2d ghosts"), _ours("block2d"), 1.1),
    Ratio("7c", "3-D blocks with ghost cells / without", _ours("block3d ghosts"), _ours("block3d"), 1.1),
    Ratio(
        "7b",
        "2-D blocks with ghost cells / without, MPI-IO",
        Side("block2d ghosts", _WRITE_ALL),
        Side("block2d", _WRITE_ALL),
    ),
    Ratio(
        "7d",
        "3-D blocks with ghost cells / without, MPI-IO",
        Side("block3d ghosts", _WRITE_ALL),
        Side("block3d", _WRITE_ALL),
    ),
    Ratio(
        "8a",
        "read back on other ranks / best engine or MPI-IO",
        _ours("block2d", "read"),
        Side("block2d", _ENGINES, "read"),
        0.5,
    ),
    Ratio(
        "8b",
        "read back on other ranks / files by their own ranks",
        _ours("block2d", "read"),
        Side("block2d own ranks", _PER_PROCESS, "read"),
        1,
    ),
    Ratio(
        "9",
        "visible time of a background write / a memory copy",
        Side("background", _BACKGROUND),
        Side("background", _BACKGROUND, "copy"),
        1.2,
    ),
    Growth("10a", "2-D blocks: messages of a rank, 64 to 4096 ranks / log P", "block2d", "messages"),
    Growth("10b", "2-D blocks: bytes of plans of a rank, 64 to 4096 / log P", "block2d", "plan_bytes"),
    Growth("10c", "3-D blocks: messages of a rank, 64 to 4096 ranks / log P", "block3d", "messages"),
    Growth("10d", "3-D blocks: bytes of plans of a rank, 64 to 4096 / log P", "block3d", "plan_bytes"),
    Growth(
        "10e",
        "2-D blocks on full nodes, 8 MiB a rank: messages, 64 to 65,536 / log P",
        "block2d",
        "messages",
        full=True,
    ),
    Growth(
        "10f",
        "2-D blocks on full nodes, 8 MiB a rank: bytes of plans, 64 to 65,536 / log P",
        "block2d",
        "plan_bytes",
        full=True,
    ),
    Growth(
        "10g",
        "3-D blocks on full nodes, 8 MiB a rank: messages, 64 to 65,536 / log P",
        "block3d",
        "messages",
        full=True,
    ),
    Growth(
        "10h",
        "3-D blocks on full nodes, 8 MiB a rank: bytes of plans, 64 to 65,536 / log P",
        "block3d",
        "plan_bytes",
        full=True,
    ),
    Ratio(
        "11", "1 MiB, durable / pwrite and fsync by one rank", _ours("small"), Side("small", ("reference/pwrite",)), 1.5
    ),
    Ratio("12", "2-D blocks by put / by lend", _ours("block2d put"), _ours("block2d")),
    Ratio(
        "13a",
        "smooth data by zstd, durable / parallel HDF5's filters",
        Side("smooth", _ZSTD),
        Side("smooth", _FILTERED),
        0.4,
    ),
    Ratio("13b", "smooth data by the best lossless codec / as it is", Side("smooth", _LOSSLESS), _ours("smooth"), 0.6),
    Ratio(
        "13c",
        "turbulence by zstd with keep_bits=9 / as it is",
        Side("turbulence", _ROUNDED),
        _ours("turbulence"),
        0.4,
    ),
    Ratio(
        "13d",
        "smooth data by zstd read back on other ranks / parallel HDF5's filters",
        Side("smooth", _ZSTD, "read"),
        Side("smooth", _FILTERED, "read"),
        0.5,
    ),
    Ratio(
        "13e",
        "bytes stored of smooth data by deflate / by HDF5's filters",
        Side("smooth", _DEFLATE, "stored"),
        Side("smooth", _FILTERED[-1:], "stored"),
        1.05,
    ),
)
