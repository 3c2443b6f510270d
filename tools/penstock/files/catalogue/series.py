"""series.py: the steps of a series, as its index says where its files bear it out, else as they say themselves."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.crc64 import crc64
from penstock.files.catalogue.contents import SERIES

ENDING = ".series.json"  # of the name of an index
SUM_KEY = b',\n "crc64": '
DIGITS = 8  # at least, of an iteration in a name

Ask = Callable[[list[Path]], list[dict[str, Any]]]  # what penstock-info says of files


@dataclass(frozen=True)
class Step:
    iteration: int
    time: float
    file: str
    branch: int
    first: int  # iteration of its branch


@dataclass
class Series:
    pattern: str
    steps: list[Step] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def is_whole(text: bytes, root: Any) -> bool:
    """Whether the index TEXT, which is ROOT, agrees with its checksum."""
    end = text.rfind(SUM_KEY)
    return end >= 0 and root.get("crc64") == f"{crc64(text[:end]):016x}"


def read(path: Path, ask: Ask) -> Series | None:
    """The series whose index is at PATH, as the library finds it; None where nothing speaks of one. ValueError where
    the library refuses the index; both say the same of it.
    """
    text = path.read_bytes()
    root = _object(text)
    known: dict[str, dict[str, Any]] = {}
    if root and is_whole(text, root):
        try:
            series = Series(_pattern(root))
            known = _known(series.pattern, root["steps"])
        except ValueError as error:
            why = f"the index '{path}' is refused: {error}; without it, it is made again from the files"
            raise ValueError(why) from None
    else:
        pattern = _of_files(path)
        if not pattern:
            return None
        series = Series(pattern)
        series.warnings.append(f"the index '{path}' is damaged, and is made again from the files")
    doubtful = []
    for file in sorted(path.parent.iterdir()):
        if iteration_of(series.pattern, file.name) is None:
            continue
        step = known.get(file.name)
        try:
            about = file.stat()
        except OSError as error:
            series.warnings.append(f"'{file.name}' was skipped: {error.strerror}")
            continue
        if step is not None and (step["bytes"], step["changed_at"]) == (about.st_size, about.st_mtime_ns):
            series.steps.append(_step(step))
        else:
            doubtful.append(file)
    for line in ask(doubtful) if doubtful else []:
        _add(series, Path(line["file"]).name, line)
    _drop_replaced(series)
    return series


def iteration_of(pattern: str, name: str) -> int | None:
    """That of the step whose file is called NAME; nothing where it is none of PATTERN's."""
    prefix, _, suffix = pattern.partition("*")
    for end in (suffix, f"{suffix}.json"):
        digits = name.removeprefix(prefix).removesuffix(end)
        if name == f"{prefix}{digits}{end}" and digits.isdecimal() and f"{int(digits):0{DIGITS}}" == digits:
            return int(digits)
    return None


def _object(text: bytes) -> dict[str, Any]:
    """What TEXT is as JSON; empty where it is no object."""
    not_json: list[str] = []  # NaN, Infinity
    try:
        root = json.loads(text, parse_constant=not_json.append)
    except (ValueError, RecursionError):
        return {}
    return root if isinstance(root, dict) and not not_json else {}


def _pattern(root: dict[str, Any]) -> str:
    if root.get("schema") != SERIES:
        raise ValueError(f"its schema is not '{SERIES}'")
    if not isinstance(root.get("pattern"), str) or not isinstance(root.get("steps"), list):
        raise ValueError("it has no 'pattern' or no 'steps'")
    pattern = str(root["pattern"])
    if pattern.count("*") != 1 or "/" in pattern:
        raise ValueError(f"'{pattern}' is no pattern")
    return pattern


def _of_files(path: Path) -> str | None:
    """The pattern of most files beside the index at PATH that are steps of a series with an index of that name."""
    found = Counter[str]()
    for file in path.parent.iterdir():
        for digits in re.finditer(rf"\d{{{DIGITS},}}", file.name):
            prefix, suffix = file.name[: digits.start()], file.name[digits.end() :].removesuffix(".json")
            stem = prefix.rstrip("-_.") or "series"
            if f"{stem}{ENDING}" == path.name and iteration_of(f"{prefix}*{suffix}", file.name) is not None:
                found[f"{prefix}*{suffix}"] += 1
    return max(sorted(found), key=lambda pattern: found[pattern], default=None)


def _known(pattern: str, steps: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    last = -1
    for step in steps:
        _check(step)
        if iteration_of(pattern, step["file"]) != step["iteration"]:
            raise ValueError(f"'{step['file']}' is not the file of iteration {step['iteration']}")
        if step["iteration"] <= last:
            raise ValueError("its steps do not ascend in iterations")
        last = step["iteration"]
    return {step["file"]: step for step in steps}


def _check(step: Any) -> None:
    if not isinstance(step, dict):
        raise ValueError("a step is no object")
    for key in ("iteration", "branch", "first", "number", "bytes", "changed_at"):
        if key not in step:
            raise ValueError(f"a step has no '{key}'")
        if type(step[key]) is not int:
            raise ValueError(f"{key} is not an integer")
        if not 0 <= step[key] < 2**63:
            raise ValueError(f"{key} is {'negative' if step[key] < 0 else 'larger than 63 bits hold'}")
    if type(step.get("time")) not in (int, float) or not math.isfinite(step["time"]):
        raise ValueError("a step's 'time' is no number")
    if not isinstance(step.get("file"), str):
        raise ValueError("a step's 'file' is no text")


def _step(step: dict[str, Any]) -> Step:
    return Step(int(step["iteration"]), float(step["time"]), str(step["file"]), int(step["branch"]), int(step["first"]))


def _add(series: Series, name: str, line: dict[str, Any]) -> None:
    """The step that file NAME says it is in the LINE about it."""
    if "error" in line:
        series.warnings.append(f"'{name}' was skipped: {line['error']}")
        return
    own = {key: each["value"] for key, each in line["found"]["attributes"].get("", {}).items()}
    try:
        branch, first, _ = own["series"]
        step = Step(int(own["iteration"]), float(own["time"]), name, branch, first)
    except (KeyError, TypeError, ValueError):
        step = None
    if step is None or step.iteration != iteration_of(series.pattern, name):
        series.warnings.append(f"'{name}' was skipped: it has not the attributes of this step")
    else:
        series.steps.append(step)


def _drop_replaced(series: Series) -> None:
    """Steps behind which a later branch begins are no longer part of it."""
    steps = sorted(series.steps, key=lambda step: step.iteration)
    series.steps = [
        step
        for step in steps
        if not any(other.branch > step.branch and other.first <= step.iteration for other in steps)
    ]
