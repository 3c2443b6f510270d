"""series.py: the steps of a series, as its index says where its files bear it out, else as they say themselves."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.crc64 import crc64
from penstock.files.catalogue.contents import SERIES

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


def read(path: Path, ask: Ask) -> Series:
    """The series whose index is at PATH, as the library finds it. ValueError where that is refused."""
    text = path.read_bytes()
    not_json: list[str] = []  # NaN, Infinity
    root = json.loads(text, parse_constant=not_json.append)
    if root["schema"] != SERIES:
        raise ValueError("its schema is another")
    series = Series(str(root["pattern"]))
    if series.pattern.count("*") != 1 or "/" in series.pattern:
        raise ValueError(f"'{series.pattern}' is no pattern")
    known: dict[str, dict[str, Any]] = {}
    if is_whole(text, root) and not not_json:
        known = _known(series.pattern, root["steps"])
    else:
        series.warnings.append(f"the index '{path}' is damaged: these are the steps that its files speak of")
    doubtful = []
    for file in sorted(path.parent.iterdir()):
        if iteration_of(series.pattern, file.name) is None:
            continue
        step = known.get(file.name)
        try:
            about = file.stat()
        except OSError as error:
            series.warnings.append(f"'{file.name}' was passed over: {error.strerror}")
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


def _known(pattern: str, steps: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    last = -1
    if not isinstance(steps, list):
        raise ValueError("its steps are not a list")
    for step in steps:
        if iteration_of(pattern, step["file"]) != step["iteration"]:
            raise ValueError(f"'{step['file']}' is not the file of iteration {step['iteration']}")
        if step["iteration"] <= last:
            raise ValueError("its steps do not ascend in iterations")
        last = step["iteration"]
    return {step["file"]: step for step in steps}


def _step(step: dict[str, Any]) -> Step:
    return Step(int(step["iteration"]), float(step["time"]), str(step["file"]), int(step["branch"]), int(step["first"]))


def _add(series: Series, name: str, line: dict[str, Any]) -> None:
    """The step that file NAME says it is in the LINE about it."""
    if "error" in line:
        series.warnings.append(f"'{name}' was passed over: {line['error']}")
        return
    own = {key: each["value"] for key, each in line["found"]["attributes"].get("", {}).items()}
    try:
        branch, first, _ = own["series"]
        step = Step(int(own["iteration"]), float(own["time"]), name, branch, first)
    except (KeyError, TypeError, ValueError):
        step = None
    if step is None or step.iteration != iteration_of(series.pattern, name):
        series.warnings.append(f"'{name}' was passed over: it has not the attributes of this step")
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
