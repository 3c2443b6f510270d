"""imported.py: whatever file a report is given; what IOR (its JSON) measured, which nobody here verified."""

import json
import re
from pathlib import Path
from typing import Any

from penstock.base.errors import UserError, must_be_there
from penstock.measure.records import damage
from penstock.measure.report.page.h5bench import h5bench_source
from penstock.measure.report.page.model import CaseView, Line, Source, source_of

NONE = "neither a record of penstock bench, nor IOR's JSON, nor h5bench's CSV or standard output"

SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def ior_source(content: dict[str, Any], path: Path) -> Source | None:
    """What IOR 3.1 and newer writes with -O summaryFormat=JSON; None where CONTENT is something else."""
    if not isinstance(content.get("tests"), list) or "schema" in content:
        return None
    try:
        return _ior(content, path)
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise UserError(f"{path}: not a whole JSON summary of IOR: {type(error).__name__} {error}") from None


def _ior(content: dict[str, Any], path: Path) -> Source:
    cases: list[CaseView] = []
    for test in content["tests"]:
        parameters = test["Parameters"]
        tasks = int(test["Options"]["tasks"])
        total = int(parameters["blockSize"]) * int(parameters["segmentCount"]) * tasks
        case = CaseView(
            name="ior" if len(content["tests"]) == 1 else f"ior, test {test.get('TestID')}",
            np=tasks,
            readers=tasks,
            regime="durable" if int(parameters["fsync"]) else "cached",
            workload={
                "name": "ior",
                "total_bytes": total,
                "blockSize": parameters["blockSize"],
                "transferSize": parameters["transferSize"],
            },
            baseline="",
            competitors=None,
            ceiling={},
            imported=f"IOR {content.get('Version', '')}".strip(),
        )
        for operation in ("write", "read"):
            results = [one for one in test["Results"] if one["access"] == operation]
            if results:
                moved = _bytes_moved(content, test.get("TestID"), operation) or total
                seconds = [_ior_seconds(one, moved) for one in results]
                phases = {
                    "define": [float(one["openTime"]) for one in results],
                    operation: [float(one["wrRdTime"]) for one in results],
                    "commit": [float(one["closeTime"]) for one in results],
                }
                case.lines.append(_line(_ior_method(parameters), operation, moved, seconds, phases, test))
        cases.append(case)
    where = {
        "hostname": content.get("Machine"),
        "date": content.get("Began"),
        "arguments": [content.get("Command line")],
    }
    counts = [len(line.seconds) for case in cases for line in case.lines]
    return Source(path, f"IOR, {path.name}", cases, [where], [], repetitions=min(counts, default=0))


def _ior_seconds(result: dict[str, Any], moved: int) -> float:
    """Returns the seconds that MOVED bytes took, from IOR's rate, which has more digits than its times, or from its
    total time if there is no usable rate. Raises ValueError if that is none either.
    """
    rate = float(result["bwMiB"])
    seconds = moved / 2**20 / rate if 0 < rate < float("inf") else float(result["totalTime"])
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"{seconds} seconds")
    return seconds


def _bytes_moved(content: dict[str, Any], test: Any, operation: str) -> int:
    """As its summary has them: fewer than asked for where a deadline ended the test. 0 where there is no summary."""
    for one in content.get("summary") or []:
        if one.get("TestID") == test and one.get("operation") == operation:
            return round(float(one["xsizeMiB"]) * 2**20)
    return 0


def _ior_method(parameters: dict[str, Any]) -> str:
    letters = [
        name for key, name in (("filePerProc", "-F"), ("collective", "-c"), ("fsync", "-e")) if int(parameters[key])
    ]
    return " ".join(["ior -a", str(parameters["api"]), *letters])


def _line(
    method: str,
    operation: str,
    total: int,
    seconds: list[float],
    phases: dict[str, list[float]],
    details: dict[str, Any],
) -> Line:
    return Line(method, operation, False, total, seconds, [], phases, {}, {}, [], method, True, None, details)


def read_source(path: Path) -> Source:
    """Whatever PATH holds: a record of ours, IOR's JSON or h5bench's CSV."""
    must_be_there(path)
    if (csv_source := h5bench_source(path)) is not None:
        return csv_source
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text)
        if SURROGATE.search(text):
            json.dumps(content, ensure_ascii=False).encode()  # half a character can be said in JSON, and not be written
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: {NONE}{damage(error)}") from None
    if not isinstance(content, dict):
        raise UserError(f"{path}: {NONE}")
    if "benchmarks" in content and "schema" not in content:
        raise UserError(
            f"{path}: this is what h5bench was asked to do; what it measured is in its CSV, or in the file stdout of "
            "each benchmark"
        )
    return ior_source(content, path) or source_of(content, path)
