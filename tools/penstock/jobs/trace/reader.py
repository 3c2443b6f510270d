"""reader.py: a folder of traces into a Job, in memory that does not grow with the number of calls."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.jobs.job import JOB_IDS, SEGMENT, Job, Module, Record, Segments, Traced
from penstock.jobs.trace.blocks import Calls, TraceFile
from penstock.jobs.trace.counters import (
    EXCHANGE,
    LINK,
    MPI_READ,
    MPI_WRITE,
    OF_FOLDERS,
    READ,
    RENAME,
    WRITE,
    Counts,
    module_of,
)
from penstock.jobs.trace.heat import HeatMap
from penstock.jobs.trace.records import records_of
from penstock.jobs.trace.run import Run, find_run
from penstock.jobs.trace.steps import Steps

Chosen = npt.NDArray[np.bool_]
Seconds = npt.NDArray[np.float64]

_PARTIAL = re.compile(r"\..*\.partial$", re.DOTALL)
_MODULES = ("POSIX", "MPI-IO")  # by module_of
_PREFIXES = ("POSIX", "MPIIO")


def read_trace(folder: Path) -> Job:
    """The newest run that left its trace in FOLDER."""
    return _Reading(folder, find_run(folder)).job()


class _Reading:
    def __init__(self, folder: Path, run: Run) -> None:
        self.folder, self.run = folder, run
        self.start = min(file.job["start"] - int(file.job.get("age", 0)) for file in run.files)  # ns since 1970
        self.renamed: dict[str, str] = {}
        self.counts: dict[tuple[int, str], dict[int, Counts]] = {}  # by module and path, by rank
        self.heat = [HeatMap(run.ranks) for _ in _MODULES]
        self.steps = Steps()
        self.end = 0.0
        self.recorder: float | None = None
        self.lost = self.has_traced = False
        self.troubles = list(run.troubles)

    def job(self) -> Job:
        for file in self.run.files:
            self._read(file)
        first = self.run.files[0].job
        environment = first.get("environment", {})
        by_id = (str(environment[name]) for name in JOB_IDS if name in environment)
        modules = {}
        for number, name in enumerate(_MODULES):
            if records := tuple(self._records(number, self.steps.block_bytes)):
                modules[name] = Module(name, records, partial=self.lost)
        heat = zip(_MODULES, self.heat, strict=True)
        self.end = max(self.end, self.steps.end)
        return Job(
            source=str(self.folder),
            kind="trace",
            program=str(first.get("program", "")),
            ranks=self.run.ranks,
            seconds=self.end,
            start=self.start * 1e-9,
            job_id=next(by_id, str(first.get("pid", ""))),
            modules=modules,
            mounts=tuple(sorted(_mounts(first), key=lambda mount: (-len(mount[0]), mount[0]))),
            heat={name.replace("-", ""): map_.heat(self.end) for name, map_ in heat if name in modules},
            hosts={file.job["rank"]: str(file.job.get("host", "")) for file in reversed(self.run.files)},
            stripes=self.steps.stripes,
            steps=self.steps.in_order(),
            has_traced=self.has_traced,
            traced=self.traced,
            troubles=tuple(self.troubles),
            recorder_seconds=self.recorder,
        )

    def _origin(self, file: TraceFile) -> float:
        return float(file.job["start"] - self.start) * 1e-9

    def _read(self, file: TraceFile) -> None:
        origin, rank = self._origin(file), file.job["rank"]
        paths: dict[int, str] = {}
        ended = False
        for block in file.blocks():
            if block.kind == "PATH":
                paths |= {number: _absolute(path, file) for number, path in block.paths.items()}
            elif block.kind == "CALL":
                self._add_calls(block.calls, paths, rank, origin)
            elif block.kind == "STEP":
                self._add_step(block.json, paths, rank, origin)
            elif block.kind == "END ":
                ended = True
                self.end = max(self.end, origin + float(block.json.get("time", 0)) * 1e-9)
                if "recorder" in block.json:  # not in traces of before it was counted
                    self.recorder = max(self.recorder or 0.0, float(block.json["recorder"]) * 1e-9)
                if lost := int(block.json.get("calls_lost", 0)):
                    self.lost = True
                    self.troubles.append(f"{lost} calls of rank {rank} were not kept: there were too many")
        if file.trouble:
            self.troubles.append(f"{file.path.name}: {file.trouble}")
        if not ended:
            self.lost = True
            self.troubles.append(f"rank {rank} did not end its trace: it was killed, or is running still")

    def _add_calls(self, calls: Calls, paths: dict[int, str], rank: int, origin: float) -> None:
        start = origin + calls["start"] * 1e-9
        end = start + calls["nanoseconds"] * 1e-9
        self.end = max(self.end, float(end.max()))
        for call in calls[np.isin(calls["operation"], (RENAME, EXCHANGE, LINK)) & (calls["failed"] == 0)]:
            source, target = paths.get(int(call["path"])), paths.get(int(call["offset"]))
            if source is not None and target is not None and _PARTIAL.fullmatch(Path(source).name):
                self.renamed[source] = target
        modules = module_of(calls["operation"])
        for number in range(len(_MODULES)):
            of_files = (modules == number) & ~np.isin(calls["operation"], OF_FOLDERS)
            self._add_heat(calls, of_files & (calls["failed"] == 0), start, end, rank, number)
            for path_number in np.unique(calls["path"][of_files]):
                path = paths.get(int(path_number))
                if path is None:
                    continue
                by_rank = self.counts.setdefault((number, path), {})
                if rank not in by_rank:
                    by_rank[rank] = Counts(_PREFIXES[number], rank)
                by_rank[rank].add(calls[of_files & (calls["path"] == path_number)], origin)

    def _add_heat(
        self,
        calls: Calls,
        chosen: Chosen,
        start: Seconds,
        end: Seconds,
        rank: int,
        module: int,
    ) -> None:
        if rank >= self.run.ranks:
            return
        for way, of_way in enumerate((_reads(calls), _writes(calls))):
            moved = chosen & of_way
            self.has_traced = self.has_traced or bool(moved.any())
            self.heat[module].add(rank, way, start[moved], end[moved], calls["length"][moved])

    def _add_step(self, json: dict[str, Any], paths: dict[int, str], rank: int, origin: float) -> None:
        path = paths.get(json.get("path", -1))
        if path is None or not self.steps.add(json, path, rank, origin):
            self.troubles.append(f"a commit of rank {rank} is not understood")

    def _final(self, path: str) -> str:
        """The name under which a hidden file was published."""
        return self.renamed.get(path, path)

    def _records(self, module: int, alignment: int) -> Iterator[Record]:
        files: dict[str, dict[int, Counts]] = {}
        for (number, path), by_rank in self.counts.items():
            if number != module:
                continue
            merged = files.setdefault(self._final(path), {})
            for rank, counts in by_rank.items():
                if rank in merged:
                    merged[rank].merge(counts)
                else:
                    merged[rank] = counts
        for path, by_rank in sorted(files.items()):
            yield from records_of(path, by_rank, self.run.ranks, alignment)

    def traced(self) -> Iterator[Traced]:
        """Rank by rank: one rank's calls are in memory at a time, of which a trace holds a bounded number."""
        for file in self.run.files:
            paths: dict[int, str] = {}
            found: dict[tuple[int, str], list[Calls]] = {}
            for block in file.blocks():
                if block.kind == "PATH":
                    paths |= {number: self._final(_absolute(path, file)) for number, path in block.paths.items()}
                elif block.kind == "CALL":
                    moved = block.calls[(_reads(block.calls) | _writes(block.calls)) & (block.calls["failed"] == 0)]
                    modules = module_of(moved["operation"])
                    for number in range(len(_MODULES)):
                        for path_number in np.unique(moved["path"][modules == number]):
                            if (path := paths.get(int(path_number))) is not None:
                                chosen = moved[(modules == number) & (moved["path"] == path_number)]
                                found.setdefault((number, path), []).append(chosen)
            rank, host, origin = file.job["rank"], str(file.job.get("host", "")), self._origin(file)
            for (number, path), pieces in found.items():
                calls = np.concatenate(pieces)
                reads, writes = calls[_reads(calls)], calls[_writes(calls)]
                yield Traced(_MODULES[number], path, rank, host, _segments(reads, origin), _segments(writes, origin))


def _reads(calls: Calls) -> Chosen:
    return np.isin(calls["operation"], (READ, *range(MPI_READ, MPI_READ + 4)))


def _writes(calls: Calls) -> Chosen:
    return np.isin(calls["operation"], (WRITE, *range(MPI_WRITE, MPI_WRITE + 4)))


def _segments(calls: Calls, origin: float) -> Segments:
    segments = np.zeros(len(calls), SEGMENT)
    segments["offset"], segments["length"] = calls["offset"], calls["length"]
    segments["start"] = origin + calls["start"] * 1e-9
    segments["end"] = segments["start"] + calls["nanoseconds"] * 1e-9
    return segments


def _absolute(path: str, file: TraceFile) -> str:
    return os.path.normpath(Path(str(file.job.get("folder", "")), path))


def _mounts(job: dict[str, Any]) -> list[tuple[str, str]]:
    return [(str(path), str(kind)) for path, kind in job.get("mounts", [])]
