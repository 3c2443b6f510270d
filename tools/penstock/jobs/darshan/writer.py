"""writer.py: a Job as a native Darshan log, written by the libdarshan-util that comes with PyDarshan."""

import hashlib
import math
import os
import struct
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from penstock.base.errors import UserError
from penstock.base.replaceable import must_be_replaceable
from penstock.jobs.job import Heat, Job, Record, Segments, Traced

_POSIX, _MPIIO, _DXT_POSIX, _DXT_MPIIO, _HEATMAP = 1, 2, 10, 11, 15  # modules, as Darshan numbers them
_VERSIONS = {_POSIX: 4, _MPIIO: 3, _DXT_POSIX: 1, _DXT_MPIIO: 2, _HEATMAP: 1}
_ZLIB = 0
_HOST_BYTES, _PATH_BYTES, _MOUNT_BYTES = 64, 4096, 3015
_SECOND = 1_000_000_000
# Of heat maps, by which Darshan's tools know them.
_HEAT_IDS = {"POSIX": ("heatmap:POSIX", 16592106915301738621), "MPIIO": ("heatmap:MPIIO", 3668870418325792824)}
_CALLS = """
void *darshan_log_create(const char *, int, int);
int darshan_log_put_job(void *, void *);
int darshan_log_put_exe(void *, char *);
int darshan_log_put_mounts(void *, void *, int);
int darshan_log_put_namehash(void *, void *);
int darshan_log_put_mod(void *, int, void *, int, int);
void darshan_log_close(void *);
extern char *posix_counter_names[], *posix_f_counter_names[], *mpiio_counter_names[], *mpiio_f_counter_names[];
typedef struct { int64_t uid, start, start_ns, end, end_ns, ranks, job_id; char metadata[1024]; } trace_job;
typedef struct { char type[3015]; char path[3015]; } trace_mount;
typedef struct trace_link {
  void *name;  /* the record's number and its text */
  void *table, *previous; struct trace_link *next; void *bucket_previous, *bucket_next, *key;
  unsigned key_bytes, hash;
} trace_link;
"""


def write_darshan(job: Job, path: Path) -> None:
    """All of JOB that Darshan has words for: POSIX, MPI-IO, DXT and heat maps."""
    must_be_replaceable(path)
    ffi, library = _load()
    partial = sum(1 << number for number, name in ((_POSIX, "POSIX"), (_MPIIO, "MPI-IO")) if _is_partial(job, name))
    hidden = path.with_name(f".{path.name}.{os.getpid()}")
    log = library.darshan_log_create(os.fsencode(hidden), _ZLIB, partial)
    if log == ffi.NULL:
        raise UserError(f"cannot write {path}: there is no such folder, or it is not yours to write in")
    try:
        try:
            _Writer(job, path, ffi, library, log).write()
        finally:
            library.darshan_log_close(log)
        hidden.replace(path)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None
    finally:
        hidden.unlink(missing_ok=True)


def _is_partial(job: Job, name: str) -> bool:
    return name in job.modules and job.modules[name].partial


def _load() -> tuple[Any, Any]:
    spec = find_spec("darshan")
    if spec is None or spec.origin is None:
        raise UserError("writing Darshan logs needs PyDarshan: pip install darshan")
    found = sorted(Path(spec.origin).parent.parent.glob("darshan.libs/libdarshan-util*.so*"))
    if not found:
        raise UserError("this PyDarshan came without libdarshan-util: pip install its wheel (pip install darshan)")
    from cffi import FFI  # type: ignore[import-untyped]

    ffi = FFI()
    ffi.cdef(_CALLS)
    return ffi, ffi.dlopen(str(found[0]))


class _Writer:
    def __init__(self, job: Job, path: Path, ffi: Any, library: Any, log: Any) -> None:
        self.job, self.path, self.ffi, self.library, self.log = job, path, ffi, library, log

    def write(self) -> None:
        self._put_job()
        self._put_names()
        for name, number in (("POSIX", _POSIX), ("MPI-IO", _MPIIO)):
            if name in self.job.modules:
                self._put_records(number, self.job.modules[name].records)
        if self.job.has_traced:
            self._put_traced(_DXT_POSIX, "POSIX")
            self._put_traced(_DXT_MPIIO, "MPI-IO")
        for name, heat in self.job.heat.items():
            if name in _HEAT_IDS:
                self._put_heat(_HEAT_IDS[name][1], heat)

    def _must(self, result: int, what: str) -> None:
        if result < 0:
            raise UserError(f"libdarshan-util could not write {what} to {self.path}")

    def _put_job(self) -> None:
        job, ffi = self.job, self.ffi
        begin = round(job.start * _SECOND)
        end = begin + math.ceil(job.seconds * _SECOND)
        number = int(job.job_id) if job.job_id.isdigit() else 0
        record = ffi.new("trace_job *")
        record.start, record.start_ns = divmod(begin, _SECOND)
        record.end, record.end_ns = divmod(end, _SECOND)
        record.ranks, record.job_id = job.ranks, number
        record.metadata = b"lib_ver=3.5.0\nwritten_by=penstock trace\n"
        self._must(self.library.darshan_log_put_job(self.log, record), "the job")
        program = ffi.new("char[]", job.program.encode(errors="replace")[: _PATH_BYTES - 1])
        self._must(self.library.darshan_log_put_exe(self.log, program), "the program")
        mounts = self._mounts()
        table = ffi.new("trace_mount[]", max(1, len(mounts)))
        for i, (path, kind) in enumerate(mounts):
            table[i].path, table[i].type = path, kind
        self._must(self.library.darshan_log_put_mounts(self.log, table, len(mounts)), "the mounts")

    def _mounts(self) -> list[tuple[bytes, bytes]]:
        """As many as there is room for beside the program."""
        room = _PATH_BYTES - len(self.job.program.encode()) - 2
        kept = []
        for path, kind in ((p.encode(), k.encode()) for p, k in self.job.mounts):
            if max(len(path), len(kind)) >= _MOUNT_BYTES:
                continue
            room -= len(path) + len(kind) + 2
            if room < 0:
                break
            kept.append((path, kind))
        return kept

    def _put_names(self) -> None:
        ffi = self.ffi
        names = {record.path for module in self.job.modules.values() for record in module.records}
        # Longer ones than a path can be, put together of a folder and what is in it, destroy the library's memory.
        encoded = [(name, name.encode(errors="surrogateescape")) for name in sorted(names)]
        entries = [(_record_id(name), text[: _PATH_BYTES - 1]) for name, text in encoded]
        entries += [(number, name.encode()) for heat, (name, number) in _HEAT_IDS.items() if heat in self.job.heat]
        if not entries:
            return
        records = [ffi.new("char[]", struct.pack("<Q", number) + text) for number, text in entries]
        links = ffi.new("trace_link[]", len(entries))
        for i, record in enumerate(records):
            links[i].name = record
            links[i].next = links + i + 1 if i + 1 < len(entries) else ffi.NULL
        self._must(self.library.darshan_log_put_namehash(self.log, links), "names")

    def _put(self, module: int, record: bytes, what: str) -> None:
        memory = self.ffi.new("char[]", record)
        result = self.library.darshan_log_put_mod(self.log, module, memory, len(record), _VERSIONS[module])
        self._must(result, what)

    def _put_records(self, module: int, records: Iterable[Record]) -> None:
        integers, reals = self._counter_names(module)
        layout = struct.Struct(f"<Qq{len(integers)}q{len(reals)}d")
        for record in records:
            values = [record.counters.get(name, 0) for name in integers]
            times = [record.times.get(name, 0.0) for name in reals]
            self._put(module, layout.pack(_record_id(record.path), record.rank, *values, *times), record.path)

    def _counter_names(self, module: int) -> tuple[list[str], list[str]]:
        prefix = "posix" if module == _POSIX else "mpiio"
        integers = getattr(self.library, f"{prefix}_counter_names")
        reals = getattr(self.library, f"{prefix}_f_counter_names")
        return self._until_last(integers), self._until_last(reals)

    def _until_last(self, table: Any) -> list[str]:
        names: list[str] = []
        while not (name := self.ffi.string(table[len(names)]).decode()).endswith("_NUM_INDICES"):
            names.append(name)
        return names

    def _put_traced(self, module: int, name: str) -> None:
        module_records = self.job.modules[name].records if name in self.job.modules else ()
        shared = {record.path for record in module_records if record.shared}
        for one in self.job.traced():
            if one.module == name:
                self._put(module, _dxt(one, one.path in shared), one.path)

    def _put_heat(self, number: int, heat: Heat) -> None:
        for rank, (read, written) in enumerate(zip(heat.read, heat.written, strict=True)):
            bins = len(read)
            head = struct.pack("<QqdqQQ", number, rank, heat.width, bins, 0, 0)
            self._put(_HEATMAP, head + written.astype("<i8").tobytes() + read.astype("<i8").tobytes(), "a heat map")


def _dxt(traced: Traced, shared: bool) -> bytes:
    host = traced.host.encode()[: _HOST_BYTES - 1]
    counts = (len(traced.writes), len(traced.reads))
    head = struct.pack("<Qqq64sqq", _record_id(traced.path), traced.rank, -1 if shared else 0, host, *counts)
    return head + _packed(traced.writes) + _packed(traced.reads)


def _packed(segments: Segments) -> bytes:
    return np.ascontiguousarray(segments).tobytes()


def _record_id(path: str) -> int:
    digest = hashlib.blake2b(path.encode(errors="surrogateescape"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
