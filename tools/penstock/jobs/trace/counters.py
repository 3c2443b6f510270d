"""counters.py: Darshan's counters of one file and rank, counted from calls as they come."""

from collections import Counter

import numpy as np
import numpy.typing as npt

from penstock.jobs.trace.blocks import Calls

OPEN, CREATE, READ, WRITE, SYNC, CLOSE, STAT = range(1, 8)
TRUNCATE, RENAME, EXCHANGE, LINK, REMOVE, LIST, ATTRIBUTES = range(8, 15)
SYNC_FOLDER = 15
MPI_OPEN, MPI_OPEN_ALL, MPI_CLOSE, MPI_SYNC, MPI_VIEW, MPI_SET_SIZE, MPI_GET_SIZE, MPI_PREALLOCATE = range(32, 40)
MPI_READ, MPI_WRITE = 40, 44  # + 0 independent, 1 collective, 2 non-blocking, 3 split
PHASE = 64
NAMES = {
    OPEN: "open",
    CREATE: "create",
    READ: "read",
    WRITE: "write",
    SYNC: "sync",
    CLOSE: "close",
    STAT: "stat",
    TRUNCATE: "truncate",
    RENAME: "rename",
    EXCHANGE: "exchange",
    LINK: "link",
    REMOVE: "remove",
    LIST: "list",
    ATTRIBUTES: "attributes",
    SYNC_FOLDER: "sync folder",
    MPI_OPEN: "MPI_File_open",
    MPI_OPEN_ALL: "MPI_File_open (collective)",
    MPI_CLOSE: "MPI_File_close",
    MPI_SYNC: "MPI_File_sync",
    MPI_VIEW: "MPI_File_set_view",
    MPI_SET_SIZE: "MPI_File_set_size",
    MPI_GET_SIZE: "MPI_File_get_size",
    MPI_PREALLOCATE: "MPI_File_preallocate",
    MPI_READ: "MPI read",
    MPI_READ + 1: "MPI read (collective)",
    MPI_READ + 2: "MPI read (non-blocking)",
    MPI_READ + 3: "MPI read (split)",
    MPI_WRITE: "MPI write",
    MPI_WRITE + 1: "MPI write (collective)",
    MPI_WRITE + 2: "MPI write (non-blocking)",
    MPI_WRITE + 3: "MPI write (split)",
}
PHASES = ("define", "pack", "exchange", "write", "sync", "commit", "read")
OF_FOLDERS = (LIST, SYNC_FOLDER)

_SIZES = ("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS")
_LIMITS = np.array([100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30], np.int64)
_COMMON_MOST = 256  # different sizes or strides that are counted for one file
_POWERS = 32
_MODES = ("INDEP", "COLL", "NB", "SPLIT")
_PATTERNS = {"POSIX": "SIZE_{way}_{size}", "MPIIO": "SIZE_{way}_AGG_{size}"}


def module_of(operations: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint16]:
    """0: POSIX, 1: MPI-IO, 2: a phase."""
    return np.minimum(operations // 32, 2)


class Way:
    """The reads, or the writes."""

    def __init__(self) -> None:
        self.calls = self.bytes = self.sequential = self.consecutive = 0
        self.max_byte = 0
        self.last_byte = 0
        self.seconds = self.max_seconds = 0.0
        self.max_size = 0
        self.first = self.last = 0.0
        self.sizes = np.zeros(len(_SIZES), np.int64)
        self.strides: Counter[int] = Counter()

    def add(self, calls: Calls, start: npt.NDArray[np.float64], seconds: npt.NDArray[np.float64]) -> None:
        offset, length = calls["offset"], calls["length"]
        end = offset + length - 1
        before = np.concatenate([[self.last_byte], end[:-1]])
        first = self.calls == 0
        known = offset >= 0
        self.sequential += int(np.count_nonzero((offset > before) & known))
        self.consecutive += int(np.count_nonzero((offset == before + 1) & known))
        gaps = np.abs(offset - before - 1)[1 if first else 0 :]
        _count(self.strides, gaps[gaps > 0])
        self.calls += len(calls)
        self.bytes += int(length.sum())
        if known.any():
            self.max_byte = max(self.max_byte, int(end[known].max()), 0)
        self.last_byte = int(end[-1])
        self.sizes += np.bincount(np.searchsorted(_LIMITS, length), minlength=len(_SIZES))
        self._add_times(start, seconds, length, first)

    def add_sync(self, start: npt.NDArray[np.float64], seconds: npt.NDArray[np.float64]) -> None:
        """A sync is time of writing, as Darshan has it."""
        self.seconds += float(seconds.sum())
        self.last = max(self.last, float((start + seconds).max()))

    def _add_times(
        self,
        start: npt.NDArray[np.float64],
        seconds: npt.NDArray[np.float64],
        length: npt.NDArray[np.int64],
        first: bool,
    ) -> None:
        self.seconds += float(seconds.sum())
        longest = int(seconds.argmax())
        if first or float(seconds[longest]) > self.max_seconds:
            self.max_seconds, self.max_size = float(seconds[longest]), int(length[longest])
        self.first = float(start.min()) if first else min(self.first, float(start.min()))
        self.last = max(self.last, float((start + seconds).max()))

    def merge(self, other: "Way") -> None:
        if other.calls == 0:
            self.seconds += other.seconds
            self.last = max(self.last, other.last)
            return
        self.first = other.first if self.calls == 0 else min(self.first, other.first)
        self.last = max(self.last, other.last)
        if other.max_seconds > self.max_seconds or self.calls == 0:
            self.max_seconds, self.max_size = other.max_seconds, other.max_size
        self.calls += other.calls
        self.bytes += other.bytes
        self.sequential += other.sequential
        self.consecutive += other.consecutive
        self.max_byte = max(self.max_byte, other.max_byte)
        self.seconds += other.seconds
        self.sizes += other.sizes
        _merge(self.strides, other.strides)


def _count(counter: "Counter[int]", values: npt.NDArray[np.int64]) -> None:
    for value, count in zip(*np.unique(values, return_counts=True), strict=True):
        if value in counter or len(counter) < _COMMON_MOST:
            counter[int(value)] += int(count)


def _merge(counter: "Counter[int]", other: "Counter[int]") -> None:
    for value, count in other.items():
        if value in counter or len(counter) < _COMMON_MOST:
            counter[value] += count


class Counts:
    """What one rank did to one file through one interface: "POSIX" or "MPIIO"."""

    def __init__(self, module: str, rank: int) -> None:
        self.module = module
        self.rank = rank
        self.reads, self.writes = Way(), Way()
        self.plain: Counter[str] = Counter()
        self.accesses: Counter[int] = Counter()
        self.meta_seconds = 0.0
        self.alignment = 4096  # bytes, of its file system, where a profile tells it
        self.opened = self.closed = (0.0, 0.0)
        self.any_open = self.any_close = False
        self.switches = 0
        self.powers = np.zeros(_POWERS, np.int64)  # accesses by the largest power of two that divides their offset
        self.last_was_write: bool | None = None

    def add(self, calls: Calls, origin: float) -> None:
        """CALLS of this file in their order; ORIGIN: seconds from the job's start to the trace's begin."""
        calls = calls[calls["failed"] == 0]
        operation = calls["operation"]
        start = origin + calls["start"] * 1e-9
        seconds = calls["nanoseconds"] * 1e-9
        if self.module == "POSIX":
            reads, writes, syncs = operation == READ, operation == WRITE, operation == SYNC
            opens, closes = (operation == OPEN) | (operation == CREATE), operation == CLOSE
            self.plain["OPENS"] += int(np.count_nonzero(opens))
            self.plain["STATS"] += int(np.count_nonzero(operation == STAT))
            self.plain["FDSYNCS"] += int(np.count_nonzero(syncs))
        else:
            reads = (operation >= MPI_READ) & (operation < MPI_WRITE)
            writes = (operation >= MPI_WRITE) & (operation < MPI_WRITE + len(_MODES))
            syncs, closes = operation == MPI_SYNC, operation == MPI_CLOSE
            opens = (operation == MPI_OPEN) | (operation == MPI_OPEN_ALL)
            self.plain["INDEP_OPENS"] += int(np.count_nonzero(operation == MPI_OPEN))
            self.plain["COLL_OPENS"] += int(np.count_nonzero(operation == MPI_OPEN_ALL))
            self.plain["SYNCS"] += int(np.count_nonzero(syncs))
            self.plain["VIEWS"] += int(np.count_nonzero(operation == MPI_VIEW))
            for number, mode in enumerate(_MODES):
                self.plain[f"{mode}_READS"] += int(np.count_nonzero(operation == MPI_READ + number))
                self.plain[f"{mode}_WRITES"] += int(np.count_nonzero(operation == MPI_WRITE + number))
        for way, chosen in ((self.reads, reads), (self.writes, writes)):
            if chosen.any():
                way.add(calls[chosen], start[chosen], seconds[chosen])
        if syncs.any():
            self.writes.add_sync(start[syncs], seconds[syncs])
        self.meta_seconds += float(seconds[~(reads | writes | syncs)].sum())
        if opens.any():
            self.opened = self._stretch(self.opened, self.any_open, start[opens], seconds[opens])
            self.any_open = True
        if closes.any():
            self.closed = self._stretch(self.closed, self.any_close, start[closes], seconds[closes])
            self.any_close = True
        moved = calls[reads | writes]
        if len(moved):
            self._add_order(moved)

    @staticmethod
    def _stretch(
        old: tuple[float, float], was: bool, start: npt.NDArray[np.float64], seconds: npt.NDArray[np.float64]
    ) -> tuple[float, float]:
        first, last = float(start.min()), float((start + seconds).max())
        return (min(old[0], first), max(old[1], last)) if was else (first, last)

    def _add_order(self, moved: Calls) -> None:
        operation = moved["operation"]
        is_write = (operation == WRITE) | (operation >= MPI_WRITE)
        self.switches += int(np.count_nonzero(is_write[1:] != is_write[:-1]))
        if self.last_was_write is not None and self.last_was_write != bool(is_write[0]):
            self.switches += 1
        self.last_was_write = bool(is_write[-1])
        offset = moved["offset"]
        lowest = np.where(offset > 0, np.log2(np.maximum(offset & -offset, 1)), len(self.powers) - 1).astype(np.int64)
        self.powers += np.bincount(np.minimum(lowest, len(self.powers) - 1), minlength=len(self.powers))
        _count(self.accesses, moved["length"])

    @property
    def seconds(self) -> float:
        return self.reads.seconds + self.writes.seconds + self.meta_seconds

    @property
    def bytes(self) -> int:
        return self.reads.bytes + self.writes.bytes

    def merge(self, other: "Counts") -> None:
        self.reads.merge(other.reads)
        self.writes.merge(other.writes)
        self.plain += other.plain
        _merge(self.accesses, other.accesses)
        self.meta_seconds += other.meta_seconds
        for name in ("opened", "closed"):
            was, new = getattr(self, name), getattr(other, name)
            flag = "any_open" if name == "opened" else "any_close"
            if getattr(other, flag):
                setattr(self, name, (min(was[0], new[0]), max(was[1], new[1])) if getattr(self, flag) else new)
                setattr(self, flag, True)
        self.switches += other.switches
        self.powers += other.powers

    def counters(self, alignment: int) -> dict[str, int]:
        values: dict[str, int] = dict(self.plain)
        posix = self.module == "POSIX"
        if posix:
            values |= {"READS": self.reads.calls, "WRITES": self.writes.calls}
            values |= {"MAX_BYTE_READ": self.reads.max_byte, "MAX_BYTE_WRITTEN": self.writes.max_byte}
            values |= {"CONSEC_READS": self.reads.consecutive, "CONSEC_WRITES": self.writes.consecutive}
            values |= {"SEQ_READS": self.reads.sequential, "SEQ_WRITES": self.writes.sequential}
            unaligned = int(self.powers[: (alignment & -alignment).bit_length() - 1].sum())
            values |= {"FILE_NOT_ALIGNED": unaligned, "FILE_ALIGNMENT": alignment, "MEM_ALIGNMENT": 8}
            strides = self.reads.strides + self.writes.strides
            values |= _four("STRIDE", "STRIDE", strides)
        if self.module == "STDIO":
            values |= {"READS": self.reads.calls, "WRITES": self.writes.calls}
            values |= {"MAX_BYTE_READ": self.reads.max_byte, "MAX_BYTE_WRITTEN": self.writes.max_byte}
            values |= {"BYTES_READ": self.reads.bytes, "BYTES_WRITTEN": self.writes.bytes}
            return {f"{self.module}_{name}": value for name, value in values.items()}
        values |= {"BYTES_READ": self.reads.bytes, "BYTES_WRITTEN": self.writes.bytes, "RW_SWITCHES": self.switches}
        values |= {"MAX_READ_TIME_SIZE": self.reads.max_size, "MAX_WRITE_TIME_SIZE": self.writes.max_size}
        for way, name in ((self.reads, "READ"), (self.writes, "WRITE")):
            for size, count in zip(_SIZES, way.sizes, strict=True):
                values[_PATTERNS[self.module].format(way=name, size=size)] = int(count)
        values |= _four("ACCESS", "ACCESS", self.accesses)
        return {f"{self.module}_{name}": value for name, value in values.items()}

    def times(self) -> dict[str, float]:
        values = {
            "OPEN_START_TIMESTAMP": self.opened[0],
            "READ_START_TIMESTAMP": self.reads.first,
            "WRITE_START_TIMESTAMP": self.writes.first,
            "CLOSE_START_TIMESTAMP": self.closed[0],
            "OPEN_END_TIMESTAMP": self.opened[1],
            "READ_END_TIMESTAMP": self.reads.last,
            "WRITE_END_TIMESTAMP": self.writes.last,
            "CLOSE_END_TIMESTAMP": self.closed[1],
            "READ_TIME": self.reads.seconds,
            "WRITE_TIME": self.writes.seconds,
            "META_TIME": self.meta_seconds,
            "MAX_READ_TIME": self.reads.max_seconds,
            "MAX_WRITE_TIME": self.writes.max_seconds,
        }
        return {f"{self.module}_F_{name}": value for name, value in values.items()}


def _four(name: str, value_name: str, counter: "Counter[int]") -> dict[str, int]:
    """The most common of COUNTER, as Darshan names them: four values and how often each was."""
    values = {}
    common = sorted(counter.items(), key=lambda item: (-item[1], item[0]))[:4]
    for i in range(4):
        value, count = common[i] if i < len(common) else (0, 0)
        values[f"{name}{i + 1}_{value_name}"] = value
        values[f"{name}{i + 1}_COUNT"] = count
    return values
