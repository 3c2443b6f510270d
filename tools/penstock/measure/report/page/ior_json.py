"""ior_json.py: writes our results in the format of IOR's JSON summary, for tools that read that format."""

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock.base import words
from penstock.measure.report.page.model import CaseView, Line, Source

KIB, MIB = 2**10, 2**20


def summary(sources: Sequence[Source]) -> dict[str, Any]:
    """A test for each method of each case, with a summary of each of its operations."""
    tests: list[dict[str, Any]] = []
    totals: list[dict[str, Any]] = []
    for source in sources:
        where = next((one for one in source.provenance if one), {})
        for case in source.cases:
            for method in dict.fromkeys(line.method for line in case.lines if line.seconds):
                lines = [line for name in case.operations() if (line := case.line(method, name)) is not None]
                shape = _shape(case, method, lines, where)
                totals += [_total(len(tests), line, shape) for line in lines if line.seconds]
                tests.append(_test(len(tests), case, lines, shape, where))
    where = next((one for source in sources for one in source.provenance if one), {})
    return {
        "Version": f"penstock {where.get('penstock', '')}".strip(),
        "Began": where.get("date"),
        "Command line": " ".join(str(word) for word in where.get("arguments") or []),
        "Machine": f"{where.get('kernel', '')} {where.get('hostname', '')}".strip(),
        "tests": tests,
        "summary": totals,
    }


def write(sources: Sequence[Source], target: Path) -> None:
    target.write_text(json.dumps(summary(sources), indent=1) + "\n", encoding="utf-8")


def _shape(case: CaseView, method: str, lines: Sequence[Line], where: dict[str, Any]) -> dict[str, Any]:
    """What parameters and summaries both say. Where a workload has no blocks, a rank's share is one."""
    block = int(case.workload.get("blockSize") or lines[0].bytes // case.np)
    nodes = max(1, len(where.get("nodes") or {}))
    return {
        "segmentCount": int(case.workload.get("segmentCount") or 1),
        "blockSize": block,
        "transferSize": int(case.workload.get("transferSize") or block),
        "numTasks": case.np,
        "tasksPerNode": -(-case.np // nodes),
        "repetitions": max(len(line.seconds) for line in lines),
        "filePerProc": int("per_process" in method or "placement=per_rank" in method),
        "reorderTasks": 0,
        "reorderTasksRandom": 0,
        "reorderTasksRandomSeed": 0,
    }


def _test(
    number: int, case: CaseView, lines: Sequence[Line], shape: dict[str, Any], where: dict[str, Any]
) -> dict[str, Any]:
    method = lines[0].method
    nodes = max(1, len(where.get("nodes") or {}))
    collective = "collective" in method and "collective=false" not in method
    operations = [line.operation for line in lines]
    return {
        "TestID": number,
        "StartTime": where.get("date"),
        "Path": where.get("directory"),
        "Parameters": {
            "testID": number,
            "refnum": 0,
            "api": method,
            "platform": where.get("hostname"),
            "testFileName": case.name,
            "nodes": nodes,
            **shape,
            "fsync": int(case.regime == "durable"),
            "readFile": int("read" in operations),
            "writeFile": int("write" in operations),
            "collective": int(collective),
            "randomOffset": int(bool(case.workload.get("randomOffset"))),
        },
        "Options": {
            "api": method,
            "test filename": case.name,
            "access": "file-per-process" if shape["filePerProc"] else "single-shared-file",
            "type": "collective" if collective else "independent",
            "segments": shape["segmentCount"],
            "nodes": nodes,
            "tasks": case.np,
            "clients per node": shape["tasksPerNode"],
            "repetitions": shape["repetitions"],
            "xfersize": words.size(shape["transferSize"]),
            "blocksize": words.size(shape["blockSize"]),
            "aggregate filesize": words.size(lines[0].bytes),
        },
        "Results": _results(lines, shape),
    }


def _results(lines: Sequence[Line], shape: dict[str, Any]) -> list[dict[str, Any]]:
    """As IOR has them: each repetition's operations in turn."""
    return [
        _result(line, index, shape)
        for index in range(shape["repetitions"])
        for line in lines
        if index < len(line.seconds)
    ]


def _result(line: Line, index: int, shape: dict[str, Any]) -> dict[str, Any]:
    seconds = line.seconds[index]
    phase = {name: times[index] for name, times in line.phases.items() if index < len(times)}
    moved = sum(phase.get(name, 0.0) for name in ("pack", "exchange", "write", "read"))
    calls = line.bytes / shape["transferSize"] if shape["transferSize"] else 0
    return {
        "access": line.operation,
        "bwMiB": line.bytes / MIB / seconds if seconds > 0 else 0,
        "blockKiB": shape["blockSize"] / KIB,
        "xferKiB": shape["transferSize"] / KIB,
        "iops": calls / seconds if seconds > 0 else 0,
        "latency": seconds / calls if calls else 0,
        "openTime": phase.get("define", 0.0),
        "wrRdTime": moved,
        "closeTime": phase.get("sync", 0.0) + phase.get("commit", 0.0),
        "totalTime": seconds,
    }


def _total(number: int, line: Line, shape: dict[str, Any]) -> dict[str, Any]:
    rates = line.rates or [0.0]
    calls = line.bytes / shape["transferSize"] if shape["transferSize"] else 0
    times = [one for one in line.seconds if one > 0] or [float("inf")]
    operations = [calls / seconds for seconds in times]
    return {
        "operation": line.operation,
        "API": line.method,
        "TestID": number,
        "ReferenceNumber": 0,
        **shape,
        "bwMaxMIB": max(rates),
        "bwMinMIB": min(rates),
        "bwMeanMIB": statistics.fmean(rates),
        "bwStdMIB": statistics.pstdev(rates),
        "OPsMax": max(operations),
        "OPsMin": min(operations),
        "OPsMean": statistics.fmean(operations),
        "OPsSD": statistics.pstdev(operations),
        "MeanTime": statistics.fmean(line.seconds),
        "xsizeMiB": line.bytes / MIB,
    }
