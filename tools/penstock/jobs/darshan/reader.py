"""reader.py: a Darshan log as a job, read by libdarshan-util as PyDarshan brings it.

Format and counters: https://www.mcs.anl.gov/research/projects/darshan/docs/darshan-util.html
"""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from penstock.base.errors import UserError
from penstock.jobs.darshan.child import pieces_from_child
from penstock.jobs.job import SEGMENT, Heat, Job, Module, Traced
from penstock.jobs.rows import Rows

T = TypeVar("T")
PLAIN = ("POSIX", "MPI-IO", "STDIO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR")
TRACES = {"DXT_POSIX": "POSIX", "DXT_MPIIO": "MPI-IO"}
LEAST_BYTES = 1024  # of a whole log: its header and its job take more
PIECE = 1 << 16  # accesses
TIMES = ("_F_READ_TIME", "_F_WRITE_TIME", "_F_META_TIME")
LONGEST = 1000  # times the run, of all ranks together: what is longer was never a time
LARGEST = 1e36  # of Darshan's other numbers with a fraction: the variance of bytes is their square


def read_log(path: Path) -> Job:
    """All of the log but its accesses (DXT), which Job.traced reads when they are asked for."""
    lost: frozenset[str] = frozenset()
    try:
        job = _whole(path, lost)
    except DamagedError:
        lost = frozenset(name for name in (*PLAIN, "HEATMAP", "LUSTRE") if not _readable(path, name))
        job = _whole(path, lost)
        job = replace(job, troubles=(*job.troubles, f"a damaged log: {', '.join(sorted(lost))} cannot be read"))
    if (lost or job.modules) and not any(len(module.records) for module in job.modules.values()):
        raise UserError(f"{path}: a damaged Darshan log: none of its records can be read")
    accesses = Accesses(path)
    return replace(job, traced=accesses, traced_trouble=accesses.trouble)


class Accesses:
    """Job.traced of a log, in pieces of bounded size: what a rank did to a file may come in several, one after another.
    They end where the log is damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._trouble = ""

    def __call__(self) -> Iterator[Traced]:
        try:
            yield from _apart(self._path, lambda: _traced(self._path))
        except DamagedError as error:
            self._trouble = str(error).removeprefix(f"{self._path}: ")

    def trouble(self) -> str:
        """Why they ended, once they did."""
        return self._trouble


class DamagedError(UserError):
    """Reading it brought libdarshan-util down."""


def _whole(path: Path, lost: frozenset[str]) -> Job:
    (job,) = _apart(path, lambda: iter((_read(path, lost),)))
    return job


def _readable(path: Path, module: str) -> bool:
    others = frozenset((*PLAIN, "HEATMAP", "LUSTRE")) - {module}
    try:
        _whole(path, others)
    except DamagedError:
        return False
    return True


def _read(path: Path, lost: frozenset[str]) -> Job:
    with _opened(path) as log:
        return _Reader(path, log, lost).job()


def _apart(path: Path, make: Callable[[], Iterator[T]]) -> Iterator[T]:
    """What MAKE yields, from a process of its own: damaged logs bring libdarshan-util 3.5 down."""
    try:
        from darshan.backend import cffi_backend  # noqa: F401  once, not in each child
    except ImportError:
        raise UserError(f"{path}: Darshan logs need PyDarshan, which is not there: pip install darshan") from None
    outcome = yield from pieces_from_child(make)
    if outcome is not None:
        raise DamagedError(f"{path}: a damaged Darshan log: reading it {outcome}")


class _Log:
    """An open log; the library closes it with the block that opened it."""

    def __init__(self, path: Path) -> None:
        from darshan.backend import cffi_backend as library

        self.library = library
        self.ffi, self.util = library.ffi, library.libdutil
        self.handle = self.util.darshan_log_open(os.fsencode(path))

    def records(self, index: int) -> Iterator[Any]:
        """A pointer to each record, which is freed when the next is asked for."""
        while True:
            buffer = self.ffi.new("void **")
            if self.util.darshan_log_get_record(self.handle, index, buffer) < 1:
                return
            try:
                yield buffer[0]
            finally:
                self.util.darshan_free(buffer[0])


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[_Log]:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    if size < LEAST_BYTES // 4:
        raise UserError(f"{path}: {size} bytes are no Darshan log")
    with _silenced() as messages:
        log = _Log(path)
    if log.handle == log.ffi.NULL:
        raise UserError(f"{path}: no Darshan log, or a damaged one{_words(messages)}")
    try:
        yield log
    finally:
        with _silenced():
            log.util.darshan_log_close(log.handle)


@contextlib.contextmanager
def _silenced() -> Iterator[list[str]]:
    """What the library writes on standard error is ours to tell."""
    messages: list[str] = []
    kept = os.dup(2)
    try:
        with tempfile.TemporaryFile() as aside:
            os.dup2(aside.fileno(), 2)
            try:
                yield messages
            finally:
                os.dup2(kept, 2)
                aside.seek(0)
                messages += aside.read(4096).decode(errors="replace").splitlines()
    finally:
        os.close(kept)


def _words(messages: list[str]) -> str:
    told = [line.removeprefix("Error: ").rstrip(".") for line in messages if line.strip()]
    if any("module version number (got" in line for line in told):
        told.append("a newer Darshan than the installed PyDarshan may have written it: upgrade the package 'darshan'")
    return f" ({'; '.join(dict.fromkeys(told))})" if told else ""


class _Reader:
    def __init__(self, path: Path, log: _Log, lost: frozenset[str] = frozenset()) -> None:
        self.path = path
        self.log = log
        self.lost = lost
        self.troubles: list[str] = []
        with _silenced() as messages:
            self.about = log.ffi.new("struct darshan_job *")
            if log.util.darshan_log_get_job(log.handle, self.about) < 0:
                self.about = None
        if self.about is None:
            raise UserError(f"{path}: it does not say what job it is of{_words(messages)}")
        self.indexes, self.partial = self._modules()
        self.names = self._names()

    def job(self) -> Job:
        about = self.about
        modules = {name: self._module(name) for name in PLAIN if name in self.indexes}
        seconds = self._seconds()
        for name in [*modules, *TRACES]:
            if self.partial.get(name):
                self.troubles.append(
                    f"{name} is partial: there were more records than the log had room for; DARSHAN_MODMEM and "
                    "MAX_RECORDS of Darshan's configuration make room"
                )
        if seconds < 1:
            self.troubles.append(f"the run took {seconds:.3g} s: too short to say much of it")
        return Job(
            source=str(self.path),
            kind="darshan",
            program=self._program(),
            ranks=max(1, int(about.nprocs)),
            seconds=max(seconds, 1e-6),
            start=float(about.start_time_sec),
            job_id=str(about.jobid),
            modules=modules,
            mounts=self._mounts(),
            heat=self._heat(max(1, int(about.nprocs))),
            stripes=self._stripes(),
            has_traced=any(name in self.indexes for name in TRACES),
            partial=frozenset(name for name in (*modules, *TRACES) if self.partial.get(name)),
            troubles=tuple(self.troubles),
        )

    def _seconds(self) -> float:
        seconds = self.log.ffi.new("double *")
        status = self.log.util.darshan_log_get_job_runtime(self.log.handle, self.about[0], seconds)
        return float(seconds[0]) if status >= 0 else 0.0

    def _modules(self) -> tuple[dict[str, int], dict[str, bool]]:
        found, count = self.log.ffi.new("struct darshan_mod_info **"), self.log.ffi.new("int *")
        self.log.util.darshan_log_get_modules(self.log.handle, found, count)
        one = [found[0][i] for i in range(count[0])]
        indexes = {self._text(module.name): int(module.idx) for module in one}
        partial = {self._text(module.name): bool(module.partial_flag) for module in one}
        if count[0] > 0:
            self.log.util.darshan_free(found[0])
        if indexes.pop("", None) is not None:
            self.troubles.append("a module is in it that this PyDarshan does not know")
        return {name: index for name, index in indexes.items() if name not in self.lost}, partial

    def _names(self) -> dict[int, str]:
        found, count = self.log.ffi.new("struct darshan_name_record **"), self.log.ffi.new("int *")
        with _silenced() as messages:
            self.log.util.darshan_log_get_name_records(self.log.handle, found, count)
        if messages:
            self.troubles.append(f"names of files are missing{_words(messages)}")
        names = {}
        for i in range(count[0]):
            names[int(found[0][i].id)] = self._text(found[0][i].name)
            self.log.util.darshan_free(found[0][i].name)
        if count[0] > 0:
            self.log.util.darshan_free(found[0])
        return names

    def _text(self, pointer: Any) -> str:
        """Empty where the library has no words: of modules that it does not know, for instance."""
        if pointer == self.log.ffi.NULL:
            return ""
        raw: bytes = self.log.ffi.string(pointer)
        return raw.decode(errors="replace")

    def _program(self) -> str:
        text = self.log.ffi.new("char[]", 8192)
        with _silenced():
            status = self.log.util.darshan_log_get_exe(self.log.handle, text)
        return self._text(text).strip() if status >= 0 else ""

    def _mounts(self) -> tuple[tuple[str, str], ...]:
        found, count = self.log.ffi.new("struct darshan_mnt_info **"), self.log.ffi.new("int *")
        with _silenced():
            self.log.util.darshan_log_get_mounts(self.log.handle, found, count)
        made = [(self._text(found[0][i].mnt_path), self._text(found[0][i].mnt_type)) for i in range(count[0])]
        if count[0] > 0:
            self.log.util.darshan_free(found[0])
        return tuple(sorted(made, key=lambda one: -len(one[0])))

    def _path(self, record: int) -> str:
        return self.names.get(record, f"file {record:x}")

    def _module(self, name: str) -> Module:
        log, pointer = self.log, self.log.library._structdefs[name].replace("**", "*")
        counter_names = log.library.counter_names(name)
        time_names = log.library.fcounter_names(name)
        paths: list[str] = []
        ranks, counters, times = [], [], []
        with _silenced() as messages:
            for raw in log.records(self.indexes[name]):
                record = log.ffi.cast(pointer, raw)
                paths.append(self._path(int(record.base_rec.id)))
                ranks.append(int(record.base_rec.rank))
                counters.append(np.frombuffer(log.ffi.buffer(record.counters), np.int64).copy())
                times.append(np.frombuffer(log.ffi.buffer(record.fcounters), np.float64).copy())
        if messages:
            self.troubles.append(f"{name} is damaged{_words(messages)}")
        numbers = np.array(times, np.float64).reshape(len(paths), len(time_names))
        if wild := self._without_wild(numbers, time_names):
            self.troubles.append(f"{name}: {wild} number{'s' if wild > 1 else ''} that cannot be, taken as 0")
        made = Rows(
            paths,
            np.array(ranks, np.int64),
            counter_names,
            np.array(counters, np.int64).reshape(len(paths), len(counter_names)),
            time_names,
            numbers,
        )
        if backwards := made.negative(TIMES):
            self.troubles.append(f"{name}: {backwards} negative time{'s' if backwards > 1 else ''}, taken as 0")
        return Module(name, made, self.partial[name] or bool(messages))

    def _without_wild(self, numbers: npt.NDArray[np.float64], names: Sequence[str]) -> int:
        """Sets what cannot be to 0: what is no number, and times far longer than the run. How many there were."""
        most = LONGEST * max(1, int(self.about.nprocs)) * max(1.0, self._seconds())
        limits = np.array([most if name.endswith("_TIME") and "VARIANCE" not in name else LARGEST for name in names])
        wild = ~(np.abs(numbers) <= limits)
        numbers[wild] = 0
        return int(wild.sum())

    def _heat(self, ranks: int) -> dict[str, Heat]:
        if "HEATMAP" not in self.indexes:
            return {}
        log = self.log
        kept: dict[str, list[tuple[int, Any, Any]]] = {}
        width = 0.0
        with _silenced():
            for raw in log.records(self.indexes["HEATMAP"]):
                record = log.ffi.cast("struct darshan_heatmap_record *", raw)
                bins = int(record.nbins)
                read, written = (
                    np.frombuffer(log.ffi.buffer(one, 8 * bins), np.int64).copy()
                    for one in (record.read_bins, record.write_bins)
                )
                module = self._path(int(record.base_rec.id)).removeprefix("heatmap:")
                kept.setdefault(module, []).append((int(record.base_rec.rank), read, written))
                width = max(width, float(record.bin_width_seconds))
        return {module: _heat(width, ranks, list_of) for module, list_of in kept.items() if width > 0}

    def _stripes(self) -> dict[str, tuple[int, int, tuple[int, ...]]]:
        """Maps each path on Lustre to its stripe count, stripe size in bytes and storage targets. If its layout has
        several components, the last one with targets counts: it holds most of a large file.
        """
        stripes: dict[str, tuple[int, int, tuple[int, ...]]] = {}
        if "LUSTRE" not in self.indexes:
            return stripes
        log = self.log
        names = log.library.counter_names("LUSTRE_COMP")
        size, count = names.index("LUSTRE_COMP_STRIPE_SIZE"), names.index("LUSTRE_COMP_STRIPE_COUNT")
        with _silenced():
            for raw in log.records(self.indexes["LUSTRE"]):
                record = log.ffi.cast("struct darshan_lustre_record *", raw)
                at = 0
                for i in range(int(record.num_comps)):
                    comp = record.comps[i]
                    many = max(0, min(int(comp.counters[count]), int(record.num_stripes) - at))
                    targets = tuple(int(record.ost_ids[at + j]) for j in range(many))
                    at += many
                    if many > 0:
                        stripes[self._path(int(record.base_rec.id))] = (many, int(comp.counters[size]), targets)
        return stripes


def _heat(width: float, ranks: int, kept: list[tuple[int, Any, Any]]) -> Heat:
    bins = max(len(read) for _, read, _ in kept)
    read_all, written_all = np.zeros((ranks, bins), np.int64), np.zeros((ranks, bins), np.int64)
    for rank, read, written in kept:
        if 0 <= rank < ranks:
            read_all[rank, : len(read)] += read
            written_all[rank, : len(written)] += written
    return Heat(width, read_all, written_all)


def _traced(path: Path) -> Iterator[Traced]:
    with _opened(path) as log:
        reader = _Reader(path, log)
        lacking: list[str] = []
        for name, module in TRACES.items():
            if name in reader.indexes:
                with _silenced() as messages:
                    yield from _accesses(reader, reader.indexes[name], module)
                lacking += [f"{name} cannot be read whole, accesses are missing{_words(messages)}"] * bool(messages)
        if lacking:
            raise DamagedError("; ".join(lacking))


def _accesses(reader: _Reader, index: int, module: str) -> Iterator[Traced]:
    ffi = reader.log.ffi
    head = ffi.sizeof("struct dxt_file_record")
    for raw in reader.log.records(index):
        record = ffi.cast("struct dxt_file_record *", raw)
        writes, total = int(record.write_count), int(record.write_count) + int(record.read_count)
        path, rank = reader._path(int(record.base_rec.id)), int(record.base_rec.rank)
        host = ffi.string(record.hostname).decode(errors="replace")
        data = ffi.buffer(ffi.cast("char *", raw) + head, total * SEGMENT.itemsize)
        segments = np.frombuffer(data, SEGMENT, total)
        for first in range(0, max(total, 1), PIECE):
            last = min(first + PIECE, total)
            yield Traced(
                module, path, rank, host,
                reads=segments[max(first, writes) : last], writes=segments[first : min(last, writes)],
            )  # fmt: skip
