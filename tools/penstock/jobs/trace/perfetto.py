"""perfetto.py: a trace for ui.perfetto.dev, in the JSON of Chrome's tracing: a group of tracks for each rank."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from penstock.base.errors import UserError
from penstock.jobs.trace.blocks import Block, TraceFile
from penstock.jobs.trace.counters import NAMES, PHASE, PHASES, READ, WRITE
from penstock.jobs.trace.run import find_run

_TRACKS = ("commits and reads", "phases", "MPI-IO", "file system")
_STEPS, _PHASES, _MPI, _POSIX = range(len(_TRACKS))
_FIRST_OF_MPI = 32  # operation
_LANES = 16  # of each track, for what overlaps since threads made it


def write_perfetto(folder: Path, path: Path) -> None:
    """Event by event, so that memory does not grow with the trace."""
    run = find_run(folder)
    start = min(file.job["start"] - int(file.job.get("age", 0)) for file in run.files)
    try:
        with _open(path) as out:
            out.write('{"displayTimeUnit": "ms", "traceEvents": [\n')
            separator = ""
            for number, file in enumerate(run.files):
                for event in _events(file, number, start):
                    out.write(separator + json.dumps(event))
                    separator = ",\n"
            out.write("\n]}\n")
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None


def _open(path: Path) -> IO[str]:
    return gzip.open(path, "wt") if path.suffix == ".gz" else path.open("w")


class _Lanes:
    """Where an event goes so that none overlaps another of its row but by lying inside."""

    def __init__(self) -> None:
        self.ends: dict[tuple[int, int], int] = {}

    def row(self, track: int, start: int, end: int) -> int:
        for lane in range(_LANES):
            if self.ends.get((track, lane), -1) <= start:
                break
        self.ends[track, lane] = max(end, self.ends.get((track, lane), -1))
        return track * _LANES + lane


def _events(file: TraceFile, process: int, start: int) -> Iterator[dict[str, Any]]:
    job = file.job
    server = " (server)" if job.get("role") == "server" else ""
    yield _named("process_name", process, 0, f"rank {job['rank']}{server} on {job.get('host', '?')}")
    yield {"ph": "M", "name": "process_sort_index", "pid": process, "args": {"sort_index": job["rank"]}}
    lanes, paths, rows = _Lanes(), dict[int, str](), set[int]()
    for block in file.blocks():
        paths |= block.paths
        for track, event in _of_block(block, paths):
            begin = event.pop("begin")
            row = lanes.row(track, begin, begin + event["dur"])
            if row not in rows:
                rows.add(row)
                yield _named("thread_name", process, row, _TRACKS[track])
            since = (job["start"] - start + begin) / 1000
            yield event | {"ph": "X", "pid": process, "tid": row, "ts": since, "dur": event["dur"] / 1000}


def _named(what: str, process: int, row: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": row, "args": {"name": name}}


def _of_block(block: Block, paths: dict[int, str]) -> Iterator[tuple[int, dict[str, Any]]]:
    if block.kind == "STEP" and block.json:
        step = block.json
        path = paths.get(step.get("path", -1), "?")
        keys = ("plan", "bytes", "datasets", "phases", "writer", "error")
        yield (
            _STEPS,
            {
                "name": f"{step.get('operation')} {path}",
                "begin": step.get("start", 0),
                "dur": step.get("end", 0) - step.get("start", 0),
                "args": {key: step.get(key) for key in keys},
            },
        )
    for call in block.calls[block.calls["start"].argsort(kind="stable")]:
        operation = int(call["operation"])
        event: dict[str, Any] = {"begin": int(call["start"]), "dur": int(call["nanoseconds"])}
        if operation >= PHASE:
            number = operation - PHASE
            yield _PHASES, event | {"name": PHASES[number] if number < len(PHASES) else "?"}
            continue
        arguments: dict[str, Any] = {"file": paths.get(int(call["path"]), "?")}
        if operation in (READ, WRITE) or operation >= _FIRST_OF_MPI:
            arguments |= {"offset": int(call["offset"]), "bytes": int(call["length"])}
        if call["failed"]:
            arguments["failed"] = True
        track = _MPI if operation >= _FIRST_OF_MPI else _POSIX
        yield track, event | {"name": NAMES.get(operation, "?"), "args": arguments}
