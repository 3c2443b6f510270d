"""facts.py: figures of a job that several rules look at: shares of the run time, files, who writes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from penstock.base.mounts import LOCAL
from penstock.diagnose.arrivals import Waits, waits
from penstock.diagnose.phases import Burst, TimeLine, bursts, time_line
from penstock.jobs.job import Job
from penstock.jobs.rows import Column, Rows, rows

MIB = 1 << 20
STREAMS = ("<STDIN>", "<STDOUT>", "<STDERR>")
LARGE = ("1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS")
SMALL_ENDS = (100, 1 << 10, 10 << 10, 100 << 10, 1 << 20)  # bytes
SMALL = ("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M")  # Darshan's classes of sizes, upper end included
CALLS = ("READ", "WRITE", "META")  # kinds of calls: META is opening, closing, asking, views
DATA = ("READ", "WRITE")
TIMES = ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME")
SHORTEST = 1e-3  # seconds of a run, which clocks that were set may have made 0, or less
IMPOSSIBLE = 1.2  # times the run: a rank alone cannot spend more in files
HDF5_NAMES = (".h5", ".hdf5", ".he5", ".nc4")
LATE = 1.5  # times as long as the fastest rank: the others wait for it
MANY_VIEWS = 10  # of each rank
LEAST_LATE = 1e-3  # seconds of a call: less is what a scheduler takes, not what a rank computes
OMPIO_NAME = re.compile(r"_cid-.*\.sm$|\.locktest\.\d+$")  # of files that Open MPI's OMPIO opens beside each


@dataclass(frozen=True)
class Layer:
    """One interface: shares of the run time of the ranks' mean and of the slowest, bytes and calls."""

    module: str
    mean_share: float
    slowest_share: float
    read_bytes: int
    written_bytes: int
    operations: int

    @property
    def share(self) -> float:
        return max(self.mean_share, self.slowest_share)


class Use:
    """One interface's records, summed by file. Every array is [file]; seconds are sums over ranks."""

    def __init__(self, module: str, of: Rows, ranks: int) -> None:
        self.module = module
        self.prefix = module.replace("-", "") if module != "PNETCDF_FILE" else module
        self.rows = of
        self.ranks = ranks
        self.paths = list(dict.fromkeys(of.paths))
        self._index = {path: i for i, path in enumerate(self.paths)}
        self._of_file = np.array([self._index[path] for path in of.paths], np.int64)
        self._sums: dict[str, Column] = {}
        self.is_shared = self._sum((of.ranks < 0).astype(np.float64)) > 0

    def __len__(self) -> int:
        return len(self.paths)

    def _sum(self, values: Column) -> Column:
        return np.bincount(self._of_file, values, len(self.paths)).astype(np.float64)

    def raw(self, name: str) -> Column:
        """Returns counter NAME, without the module's prefix, one value per record."""
        return self.rows.column(f"{self.prefix}_{name}")

    def of(self, name: str) -> Column:
        if name not in self._sums:
            self._sums[name] = self._sum(self.raw(name))
        return self._sums[name]

    def index(self, path: str) -> int | None:
        return self._index.get(path)

    def most(self, name: str) -> Column:
        """The largest of a file's records."""
        found = np.zeros(len(self.paths))
        if len(self.rows):
            np.maximum.at(found, self._of_file, self.raw(name))
        return found

    def sizes(self, names: Sequence[str], direction: str) -> Column:
        made = [self.of(f"SIZE_{direction}_{name}") for name in names]
        return np.sum(made, axis=0) if made else np.zeros(len(self.paths))

    @cached_property
    def rank_count(self) -> Column:
        """Ranks that have something to do with a file; all of them where the record is shared."""
        return np.where(self.is_shared, self.ranks, self._sum(np.ones(len(self.rows))))

    @cached_property
    def seconds(self) -> Column:
        return np.asarray(sum(self.of(name) for name in TIMES), np.float64)

    @cached_property
    def slowest(self) -> Column:
        """Seconds of the slowest rank in a file."""
        each = np.asarray(sum(self.raw(name) for name in TIMES), np.float64)
        each = np.where(self.rows.ranks < 0, np.maximum(self.raw("F_SLOWEST_RANK_TIME"), each / self.ranks), each)
        found = np.zeros(len(self.paths))
        if len(self.rows):
            np.maximum.at(found, self._of_file, each)
        return found

    @cached_property
    def fastest(self) -> Column:
        """Seconds of the rank that spends least in a file that all ranks use; NaN where that is not known."""
        each = np.asarray(sum(self.raw(name) for name in TIMES), np.float64)
        own = self.rows.ranks >= 0
        least = np.where(own, each, self.raw("F_FASTEST_RANK_TIME"))
        least = np.where(own | (least > 0), least, -np.inf)
        found = np.full(len(self.paths), np.inf)
        if len(self.rows):
            np.minimum.at(found, self._of_file, least)
        whole = self.is_shared | (self._sum(own.astype(np.float64)) >= self.ranks)
        return np.where(whole & np.isfinite(found), found, np.nan)

    @cached_property
    def movers(self) -> Column:
        """Ranks that move a file's bytes. Where the record is shared: as many as, sharing alike, have its variance."""
        moved = ((self.raw("BYTES_READ") + self.raw("BYTES_WRITTEN")) > 0).astype(np.float64)
        total = self.raw("BYTES_READ") + self.raw("BYTES_WRITTEN")
        mean = total / self.ranks
        with np.errstate(divide="ignore", invalid="ignore"):
            alike = total**2 / (self.ranks * (self.raw("F_VARIANCE_RANK_BYTES") + mean**2))
        estimate = np.clip(np.nan_to_num(alike), 0, self.ranks)
        return self._sum(np.where(self.rows.ranks < 0, np.round(estimate), moved))

    def by_rank(self, names: Sequence[str]) -> Column:
        """Sums of the records that are of one rank alone, [rank]."""
        return self.of_own(np.asarray(sum(self.raw(name) for name in names), np.float64))

    def of_own(self, values: Column) -> Column:
        """The same of VALUES by record."""
        own = self.rows.ranks >= 0
        ranks = np.minimum(self.rows.ranks[own], self.ranks - 1)
        return np.bincount(ranks, values[own], self.ranks).astype(np.float64)

    @cached_property
    def overlap(self) -> float:
        """Seconds of the rank with most, in files of its own: more than the run takes only if some pass at once."""
        return float(self.by_rank(TIMES).max()) if len(self.rows) else 0.0

    @cached_property
    def collective(self) -> npt.NDArray[np.bool_]:
        """Tells, for each MPI-IO file, whether its bytes move by collective calls, even if ranks also make small
        independent accesses.
        """
        together, alone = self.collective_calls, self.independent_calls
        large = self.sizes(LARGE, "READ_AGG") + self.sizes(LARGE, "WRITE_AGG")
        small = sum(
            end * (self.of(f"SIZE_READ_AGG_{name}") + self.of(f"SIZE_WRITE_AGG_{name}"))
            for name, end in zip(SMALL, SMALL_ENDS, strict=True)
        )
        moved = self.of("BYTES_READ") + self.of("BYTES_WRITTEN")
        in_large = (together >= self.ranks) & (large <= together) & (small < 0.1 * moved)
        return np.asarray((together > 0) & ((together >= alone) | in_large), bool)

    @cached_property
    def collective_calls(self) -> Column:
        return self.of("COLL_READS") + self.of("COLL_WRITES") + self.of("SPLIT_READS") + self.of("SPLIT_WRITES")

    @cached_property
    def independent_calls(self) -> Column:
        return self.of("INDEP_READS") + self.of("INDEP_WRITES") + self.of("NB_READS") + self.of("NB_WRITES")

    def layer(self, chosen: npt.NDArray[np.bool_] | None = None) -> Layer | None:
        """Returns the sums over the files CHOSEN, or over all files; None if there are no records. Its shares are
        seconds, as if the run took one second.
        """
        if len(self.rows) == 0:
            return None
        mask = np.ones(len(self.rows), bool) if chosen is None else chosen[self._of_file]
        each = np.where(mask, np.asarray(sum(self.raw(name) for name in TIMES), np.float64), 0)
        slowest = float(self._of_each_rank(CALLS, mask).max())
        operations = sum(float(self.raw(name)[mask].sum()) for name in self._operations())
        return Layer(
            self.module,
            float(each.sum()) / self.ranks,
            slowest,
            int(self.raw("BYTES_READ")[mask].sum()),
            int(self.raw("BYTES_WRITTEN")[mask].sum()),
            int(operations),
        )

    def mean(self, i: int, calls: Sequence[str]) -> float:
        """Seconds of the mean rank in CALLS of file I."""
        return sum(float(self.of(f"F_{verb}_TIME")[i]) for verb in calls) / self.ranks

    def spent(self, i: int, calls: Sequence[str]) -> float:
        """Seconds of the busiest rank in CALLS of file I, which have as large a part of its time as of all ranks'."""
        whole = float(self.seconds[i])
        part = self.mean(i, calls) * self.ranks / whole if whole > 0 else 0.0
        return max(self.mean(i, calls), float(self.slowest[i]) * part)

    def busiest(self, calls: Sequence[str] = CALLS, paths: Iterable[str] | None = None) -> float:
        """Seconds of the rank that spends most in CALLS of PATHS, or of all files, as far as is known."""
        if len(self.rows) == 0 or not calls:
            return 0.0
        chosen = np.zeros(len(self.paths), bool)
        for path in self.paths if paths is None else paths:
            if (at := self.index(path)) is not None:
                chosen[at] = True
        return float(self._of_each_rank(calls, chosen[self._of_file]).max())

    def _of_each_rank(self, calls: Sequence[str], mask: npt.NDArray[np.bool_]) -> Column:
        """Seconds of each rank in CALLS, as far as is known: of a shared record the slowest's, and the mean for the
        others; its slowest rank has as large a part of its time in them as all ranks together.
        """
        whole = np.where(mask, np.asarray(sum(self.raw(name) for name in TIMES), np.float64), 0)
        each = np.where(mask, np.asarray(sum(self.raw(f"F_{verb}_TIME") for verb in calls), np.float64), 0)
        shared = (self.rows.ranks < 0) & mask
        mean = each[shared] / self.ranks
        part = each[shared] / np.maximum(whole[shared], 1e-12)
        slowest = np.maximum(self.raw("F_SLOWEST_RANK_TIME")[shared] * part, mean)
        named = np.clip(self.raw("SLOWEST_RANK")[shared], 0, self.ranks - 1).astype(np.int64)
        return np.asarray(self.of_own(each) + mean.sum() + np.bincount(named, slowest - mean, self.ranks), np.float64)

    def _operations(self) -> tuple[str, ...]:
        if self.module == "MPI-IO":
            return tuple(f"{kind}_{verb}" for kind in ("INDEP", "COLL", "SPLIT", "NB") for verb in ("READS", "WRITES"))
        return ("READS", "WRITES", "OPENS", "STATS", "SEEKS", "FSYNCS", "FLUSHES")


class Facts:
    """CEILING: bytes a second that the file system gives, as a benchmark measured it; None where nobody did."""

    def __init__(self, job: Job, ceiling: float | None = None) -> None:
        self.job = job
        self.ceiling = ceiling
        self.ranks = job.ranks
        self.seconds = max(job.seconds, SHORTEST)
        self.posix, self.mpi, self.stdio = (
            Use(name, rows(job.modules.get(name)), job.ranks) for name in ("POSIX", "MPI-IO", "STDIO")
        )

    @cached_property
    def layers(self) -> list[Layer]:
        """The interfaces that the job uses, from the outermost to the innermost, with their shares of the run time."""
        uses = [Use(name, rows(self.job.modules.get(name)), self.ranks) for name in ("H5D", "PNETCDF_VAR")]
        made = [use.layer() for use in (*uses, self.mpi, self.posix, self.stdio)]
        return [self._share(one) for one in made if one is not None]

    @cached_property
    def outermost(self) -> Layer:
        """The interface that the program itself called: what it waited for. POSIX files of MPI-IO, and MPI-IO files of
        HDF5 and PnetCDF, are theirs.
        """
        alone = np.array([self.mpi.index(path) is None for path in self.posix.paths], bool)
        parts = [self.mpi.layer(), self.posix.layer(alone), self.stdio.layer()]
        base = [self._share(one) for one in parts if one is not None]
        whole = _together(base)
        above = [one for one in self.layers if one.module in ("H5D", "PNETCDF_VAR")]
        return max([whole, *above], key=lambda one: one.share)

    def _share(self, one: Layer) -> Layer:
        cut = [min(1.0, seconds / self.seconds) for seconds in (one.mean_share, one.slowest_share)]
        return Layer(one.module, cut[0], cut[1], one.read_bytes, one.written_bytes, one.operations)

    @property
    def io_seconds(self) -> float:
        """Seconds of the run time that the program spends in I/O."""
        return self.outermost.share * self.seconds

    @cached_property
    def time_line(self) -> TimeLine | None:
        """Made once: it may take a pass over all accesses."""
        return time_line(self.job)

    @cached_property
    def bursts(self) -> list[Burst]:
        return bursts(self.time_line, self.seconds)

    @cached_property
    def hosts(self) -> dict[int, str]:
        """Maps each rank to its host; a Darshan log names hosts only in DXT, for ranks with traced accesses."""
        if self.job.hosts or not self.job.has_traced:
            return self.job.hosts
        found: dict[int, str] = {}
        for one in self.job.traced():
            found.setdefault(one.rank, one.host)
            if len(found) == self.ranks:
                break
        return {rank: host for rank, host in found.items() if rank >= 0 and host}

    @cached_property
    def nodes(self) -> int | None:
        """None where a rank's is not known."""
        return len(set(self.hosts.values())) if self.ranks <= len(self.hosts) else None

    @cached_property
    def partial(self) -> frozenset[str]:
        return self.job.partial | {name for name, module in self.job.modules.items() if module.partial}

    @cached_property
    def impossible(self) -> str:
        """Why the times of the log cannot be added up; empty where they can."""
        worst = max((self.posix, self.stdio), key=lambda use: use.overlap)
        times = worst.overlap / self.seconds
        if times < IMPOSSIBLE:
            return ""
        return f"{worst.module}: the files of one rank take {times:.3g} times the run, as those of threads or pipes do"

    def file_system(self, path: str) -> str:
        return next((kind for place, kind in self.job.mounts if path.startswith(place.rstrip("/") + "/")), "")

    @cached_property
    def all_on(self) -> str:
        """The type of the file system of all files; empty where they are on several, or it is not known."""
        kinds = {self.file_system(path) for path in self.posix.paths if path not in STREAMS}
        return kinds.pop() if len(kinds) == 1 else ""

    def stripes(self, path: str) -> tuple[int, int] | None:
        """Count and bytes, where they are known."""
        found = self.job.stripes.get(path)
        return None if found is None else found[:2]

    def seconds_in(self, path: str) -> float:
        """Returns the seconds of the run time that the file PATH takes: those of the mean or the busiest rank in
        MPI-IO, or of the busiest in POSIX, whichever is most.
        """
        at, inner = self.mpi.index(path), self.posix.index(path)
        mpi = 0.0 if at is None else max(float(self.mpi.seconds[at]) / self.ranks, float(self.mpi.slowest[at]))
        posix = 0.0 if inner is None else float(self.posix.slowest[inner])
        return max(mpi, posix)

    def posix_of(self, path: str) -> int | None:
        return self.posix.index(path)

    def most(self, module: str, calls: Sequence[str], paths: Iterable[str] | None) -> float:
        """What can be saved at most: the time of the busiest rank in CALLS of PATHS, or of all files, through MODULE;
        through any where it is empty.
        """
        chosen = None if paths is None else list(paths)
        uses = {"POSIX": [self.posix], "MPI-IO": [self.mpi], "STDIO": [self.stdio]}
        return max(use.busiest(calls, chosen) for use in uses.get(module, [self.posix, self.mpi, self.stdio]))

    @cached_property
    def arrivals(self) -> dict[str, Waits]:
        """Maps each MPI-IO file with blocking collective calls alone to how long its ranks wait for one another."""
        alone = self.mpi.independent_calls + self.mpi.of("SPLIT_READS") + self.mpi.of("SPLIT_WRITES")
        each = self.mpi.collective_calls / self.ranks
        chosen = [i for i in range(len(self.mpi)) if alone[i] == 0 and each[i] > 0 and each[i] == int(each[i])]
        return waits(self.job, {self.mpi.paths[i]: int(each[i]) for i in chosen})

    def traced_late(self, i: int) -> float:
        """The same as `late`, where the log has the start of each call, whoever comes last to it."""
        found = self.arrivals.get(self.mpi.paths[i])
        calls = float(self.mpi.collective_calls[i]) / self.ranks
        return 0.0 if found is None or found.seconds < LEAST_LATE * calls else found.seconds

    def late(self, i: int) -> float:
        """Returns the seconds that the mean rank waits in collective calls on MPI-IO file I for a late rank."""
        return max(self.counted_late(i), self.traced_late(i))

    def counted_late(self, i: int) -> float:
        """The same by counters, which tell it if the late rank is always the same: it spends least in the calls. What
        the file system takes of the busiest rank is no such waiting.
        """
        fastest = float(self.mpi.fastest[i])
        if self.ranks < 2 or not self.mpi.collective[i] or np.isnan(fastest):
            return 0.0
        at = self.posix_of(self.mpi.paths[i])
        at_work = max(fastest, 0.0 if at is None else float(self.posix.slowest[at]))
        slowest, calls = float(self.mpi.slowest[i]), float(self.mpi.collective_calls[i]) / self.ranks
        if slowest <= LATE * at_work or slowest - at_work < LEAST_LATE * calls:
            return 0.0
        return max(0.0, float(self.mpi.seconds[i]) / self.ranks - at_work)

    @cached_property
    def beyond(self) -> tuple[float, float]:
        """Seconds of the mean rank in MPI-IO's reads, writes and file views, and of the busiest rank in POSIX.

        Only of files where ranks spend far longer in MPI-IO than in the file system, waiting for late ranks aside.
        """
        inside = below = 0.0
        for i, path in enumerate(self.mpi.paths):
            at = self.posix_of(path)
            if at is None:
                continue
            mean = self.mpi.mean(i, DATA) + self.in_views(i) - self.late(i)
            slowest = float(self.posix.slowest[at])
            if mean > max(3 * float(self.posix.seconds[at]) / self.ranks, 1.5 * slowest):
                inside, below = inside + mean, below + slowest
        return inside, below

    def in_views(self, i: int) -> float:
        """Seconds of the mean rank in the file views of MPI-IO's file I, as their part of the calls; none where they
        are few, since to open a file takes longer.
        """
        views = float(self.mpi.of("VIEWS")[i])
        opens = float(self.mpi.of("COLL_OPENS")[i] + self.mpi.of("INDEP_OPENS")[i])
        return self.mpi.mean(i, ("META",)) * views / (views + opens) if views >= MANY_VIEWS * self.ranks else 0.0

    def is_local(self, path: str) -> bool:
        """Tells whether PATH is on a node-local file system, whose page cache gathers small writes."""
        return self.file_system(path) in LOCAL

    def is_hdf5(self, path: str) -> bool:
        return path in self._hdf5 or path.endswith(HDF5_NAMES)

    @cached_property
    def _hdf5(self) -> frozenset[str]:
        """Darshan's records of datasets are called FILE:DATASET."""
        files = [rows(self.job.modules.get(name)).paths for name in ("H5F", "H5D")]
        return frozenset([*files[0], *(path.rsplit(":", 1)[0] for path in files[1])])

    @cached_property
    def is_ompio(self) -> bool:
        """Whether Open MPI's own MPI-IO library was used, of which the files for its shared file pointers tell."""
        return any(OMPIO_NAME.search(path) for path in self.posix.paths)


def _together(layers: Sequence[Layer]) -> Layer:
    if not layers:
        return Layer("nothing", 0.0, 0.0, 0, 0, 0)
    name = max(layers, key=lambda one: one.share).module
    return Layer(
        name,
        min(1.0, sum(one.mean_share for one in layers)),
        min(1.0, max(*(one.slowest_share for one in layers), sum(one.mean_share for one in layers))),
        sum(one.read_bytes for one in layers),
        sum(one.written_bytes for one in layers),
        sum(one.operations for one in layers),
    )
