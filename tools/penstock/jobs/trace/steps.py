"""steps.py: what each rank says of a commit or read, put together as it is read."""

import math
import re
from collections import Counter
from typing import Any

from penstock.jobs.job import Step

_BLOCKS = re.compile(r"blocks of (\d+) bytes")
_STRIPES = re.compile(r"(-?\d+) stripes of (\d+) bytes")
_BLOCK = 4096


class _Merged:
    def __init__(self, path: str, json: dict[str, Any]) -> None:
        self.path, self.first = path, json
        self.start, self.end = math.inf, 0.0
        self.slowest = 0.0
        self.phases: dict[str, float] = {}
        self.bytes = 0
        self.writers: list[int] = []
        self.datasets: set[str] = set()
        self.requested: dict[str, str] = {}
        self.effective: dict[str, str] = {}

    def add(self, json: dict[str, Any], rank: int, start: float, end: float) -> None:
        self.start, self.end = min(self.start, start), max(self.end, end)
        self.slowest = max(self.slowest, end - start)
        for phase, seconds in json["phases"].items():
            self.phases[phase] = max(self.phases.get(phase, 0.0), float(seconds))
        self.bytes += int(json["bytes"])
        if json["writer"]:
            self.writers.append(rank)
        self.datasets.update(json["datasets"])
        self.requested |= json["hints_requested"]
        self.effective |= json["hints_effective"]

    def step(self) -> Step:
        return Step(
            path=self.path,
            operation=str(self.first["operation"]),
            plan=str(self.first["plan"]),
            start=self.start,
            seconds=self.slowest,
            phases=self.phases,
            bytes=self.bytes,
            writers=tuple(sorted(self.writers)),
            datasets=tuple(sorted(self.datasets)),
            hints_requested=self.requested,
            hints_effective=self.effective,
            problem=str(self.first.get("problem", "")),
        )


class Steps:
    """All of a run. The n-th step with a token is the same on all ranks of its file."""

    def __init__(self) -> None:
        self._merged: dict[tuple[str, str, int], _Merged] = {}
        self._seen: Counter[tuple[str, str, int]] = Counter()
        self.block_bytes = _BLOCK  # of the file system that was written last
        self.stripes: dict[str, tuple[int, int, tuple[int, ...]]] = {}
        self.end = 0.0

    def add(self, json: dict[str, Any], path: str, rank: int, origin: float) -> bool:
        """False where JSON is no step."""
        try:
            start, end = origin + json["start"] * 1e-9, origin + json["end"] * 1e-9
            token = str(json["token"])
            key = (path, token, self._seen[path, token, rank])
            merged = self._merged.get(key) or _Merged(path, json)
            merged.add(json, rank, start, end)
            filesystem = str(json.get("filesystem", ""))
        except (KeyError, TypeError, ValueError, AttributeError):
            return False
        self._merged[key] = merged
        self._seen[path, token, rank] += 1
        self.end = max(self.end, end)
        if blocks := _BLOCKS.search(filesystem):
            self.block_bytes = int(blocks[1]) or _BLOCK
        if stripes := _STRIPES.search(filesystem):
            self.stripes[path] = (int(stripes[1]), int(stripes[2]), ())
            self.block_bytes = int(stripes[2]) or self.block_bytes
        return True

    def in_order(self) -> tuple[Step, ...]:
        steps = [merged.step() for merged in self._merged.values()]
        return tuple(sorted(steps, key=lambda step: (step.start, step.path)))
