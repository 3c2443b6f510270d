"""reader.py: a folder of profiles into a Job: Darshan's records of files, and functions by the place of the call."""

import os
import socket
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from penstock.base.errors import UserError
from penstock.base.mounts import mounted
from penstock.jobs.job import JOB_IDS, FunctionTime, Job, Module
from penstock.jobs.profile.files import BINS, SUFFIX, ProcessFile, Words, read_file, text
from penstock.jobs.profile.places import Place, named
from penstock.jobs.trace.counters import Counts, Way
from penstock.jobs.trace.heat import HeatMap
from penstock.jobs.trace.records import records_of

_MODULES = ("POSIX", "STDIO", "MPI-IO")
_PREFIXES = ("POSIX", "STDIO", "MPIIO")
_WAY = 21
_TROUBLES_SAID = 3


def read_profile(folder: Path) -> Job:
    """All processes that left their profile in FOLDER, as one run."""
    files, troubles = [], []
    for path in sorted(folder.glob("*" + SUFFIX)):
        try:
            files.append(read_file(path))
        except UserError as error:
            troubles.append(str(error))
    if not files:
        raise UserError(f"there is no profile in {folder}{': ' + troubles[0] if troubles else ''}")
    try:
        return _Reading(folder, files, troubles).job()
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise UserError(f"{folder}: a profile in it is damaged, or of another version of penstock") from None


class _Reading:
    def __init__(self, folder: Path, files: list[ProcessFile], troubles: list[str]) -> None:
        self.folder, self.files, self.troubles = folder, files, troubles
        self.ranks = max(int(file.about["ranks"]) for file in files)
        self.start = min(int(file.about["start"]) for file in files)
        self.seconds = max((f.about["start"] - self.start + f.about["nanoseconds"]) * 1e-9 for f in files)

    def job(self) -> Job:
        counts: dict[tuple[int, str], dict[int, Counts]] = {}
        heat = [HeatMap(self.ranks) for _ in _MODULES]
        for file in self.files:
            self._add(file, counts, heat)
        self._missing()
        modules = {}
        for number, name in enumerate(_MODULES):
            records = [
                record
                for (module, path), by_rank in sorted(counts.items())
                if module == number
                for record in records_of(path, by_rank, self.ranks, max(one.alignment for one in by_rank.values()))
            ]
            if records:
                modules[name] = Module(name, records, any(file.about["lost"] for file in self.files))
        functions = self._functions()
        first = max(self.files, key=lambda file: (file.about["mpi"], -file.about["rank"], file.about["io"])).about
        job_id = next((first["environment"][name] for name in JOB_IDS if name in first["environment"]), first["pid"])
        return Job(
            source=str(self.folder),
            kind="profile",
            program=text(first["program"]),
            ranks=self.ranks,
            seconds=max(self.seconds, 1e-6),
            start=self.start * 1e-9,
            job_id=str(job_id),
            modules=modules,
            heat={
                prefix: one.heat(self.seconds)
                for prefix, name, one in zip(_PREFIXES, _MODULES, heat, strict=True)
                if name in modules
            },
            hosts={file.about["rank"]: text(file.about["host"]) for file in self.files},
            mounts=self._mounts(),
            troubles=tuple(self.troubles),
            functions=functions,
        )

    def _mounts(self) -> tuple[tuple[str, str], ...]:
        """This machine's, where it is one of those that ran it: a profile has none of its own."""
        if socket.gethostname() not in {text(file.about["host"]) for file in self.files}:
            return ()
        last = dict(mounted())  # what was mounted over another hides it
        return tuple(sorted(last.items(), key=lambda one: -len(one[0])))

    def _missing(self) -> None:
        lost = sorted(set(range(self.ranks)) - {file.about["rank"] for file in self.files})
        if lost:
            some = ", ".join(str(rank) for rank in lost[:4]) + (", ..." if len(lost) > 4 else "")
            self.troubles.append(
                f"{len(lost)} of {self.ranks} ranks have no profile here (killed, or without a call): {some}"
            )
        if cut := [str(file.about["rank"]) for file in self.files if not file.about["ended"]]:
            self.troubles.append(f"ranks that did not end, known until half a minute before: {', '.join(cut[:5])}")
        if lost_calls := sum(int(file.about["lost"]) for file in self.files):
            self.troubles.append(f"{lost_calls} calls found no room of their own: too many files or places")

    def _add(self, file: ProcessFile, counts: dict[tuple[int, str], dict[int, Counts]], heat: list[HeatMap]) -> None:
        rank, origin = int(file.about["rank"]), (file.about["start"] - self.start) * 1e-9
        for words in file.counts:
            module, path = int(words[0]), os.path.normpath(text(file.about["paths"][words[1]]))
            made = _counts(words, module, rank, origin, file.about["counters"][module])
            by_rank = counts.setdefault((module, path), {})
            if rank in by_rank:
                by_rank[rank].merge(made)
            else:
                by_rank[rank] = made
        for module, words in enumerate(file.heat):
            start = origin + np.arange(BINS) * (int(words[0]) * 1e-9)
            for way in range(2):
                moved = words[1 + way * BINS :][:BINS]
                used = moved > 0
                heat[module].add(rank, way, start[used], start[used] + words[0] * 0.999e-9, moved[used])

    def _functions(self) -> tuple[FunctionTime, ...]:
        rows: dict[tuple[str, str, Place], list[tuple[int, str, list[Any]]]] = defaultdict(list)
        for file in self.files:
            for function, interface, object_, offset, symbol, path, *figures in file.about["rows"]:
                place = (text(object_) or text(file.about["executable"]), int(offset), text(symbol))
                if offset == 0:
                    place = ("", 0, "")
                name = text(file.about["paths"][path]) if path > 0 else ""
                key = (function.removeprefix("P") if function.startswith("PMPI_") else function, interface, place)
                rows[key].append((int(file.about["rank"]), name, figures))
        names, troubles = named({place for _, _, place in rows}, self.start * 1e-9)
        self.troubles += troubles[:_TROUBLES_SAID]
        if len(troubles) > _TROUBLES_SAID:
            self.troubles.append(
                f"and {len(troubles) - _TROUBLES_SAID} more programs and libraries whose calls have no lines"
            )
        whole = (self._function(key, some, names[key[2]]) for key, some in rows.items())
        return tuple(sorted(whole, key=lambda one: -one.seconds))

    def _function(
        self, key: tuple[str, str, Place], rows: list[tuple[int, str, list[Any]]], place: tuple[str, str]
    ) -> FunctionTime:
        by_rank: dict[int, float] = defaultdict(float)
        by_file: dict[str, int] = defaultdict(int)
        for rank, path, figures in rows:
            by_rank[rank] += figures[1] * 1e-9
            by_file[path] += figures[1]
        return FunctionTime(
            function=key[0],
            interface=key[1],
            caller=place[0],
            location=place[1],
            calls=sum(row[2][0] for row in rows),
            read_bytes=sum(row[2][4] for row in rows),
            written_bytes=sum(row[2][5] for row in rows),
            seconds=sum(by_rank.values()) / self.ranks,
            slowest_seconds=max(by_rank.values()),
            shortest=min(row[2][2] for row in rows) * 1e-9,
            longest=max(row[2][3] for row in rows) * 1e-9,
            file=max(by_file, key=lambda path: by_file[path]),
        )


def _counts(words: Words, module: int, rank: int, origin: float, names: list[str]) -> Counts:
    made = Counts(_PREFIXES[module], rank)
    made.reads, made.writes = (_way(words[2 + i * _WAY :][:_WAY], origin) for i in range(2))
    at = 2 + 2 * _WAY
    made.plain.update({name: int(count) for name, count in zip(names, words[at : at + 24], strict=False)})
    metadata, opened, opened_end, closed, closed_end, switches, _, alignment = (
        int(n) for n in words[at + 24 : at + 32]
    )
    made.meta_seconds, made.switches, made.alignment = metadata * 1e-9, switches, alignment or 4096
    made.any_open, made.any_close = opened_end > 0, closed_end > 0
    made.opened = (origin + opened * 1e-9, origin + opened_end * 1e-9) if made.any_open else (0.0, 0.0)
    made.closed = (origin + closed * 1e-9, origin + closed_end * 1e-9) if made.any_close else (0.0, 0.0)
    at += 32
    made.powers = words[at : at + 32].copy()
    for number, counter in enumerate((made.accesses, made.reads.strides, made.writes.strides)):
        some = words[at + 32 + 32 * number :][:32]
        counter.update({int(v): int(n) for v, n in zip(some[:16], some[16:], strict=True) if n > 0})
    return made


def _way(words: Words, origin: float) -> Way:
    made = Way()
    made.calls, made.bytes, made.sequential, made.consecutive, made.max_byte, made.last_byte = map(int, words[:6])
    made.seconds, made.max_seconds, made.max_size = int(words[6]) * 1e-9, int(words[7]) * 1e-9, int(words[8])
    if made.calls:
        made.first = origin + int(words[9]) * 1e-9
    made.last = origin + int(words[10]) * 1e-9 if words[10] else 0.0
    made.sizes = words[11:21].copy()
    return made
