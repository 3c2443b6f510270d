"""pooled.py: the raw times of a campaign, over all its jobs and parts of jobs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.measure.studies import stats


@dataclass(frozen=True)
class Series:
    """One operation of one method in one case on NP ranks. SECONDS are of the slowest rank, by repetition."""

    case: str
    method: str
    operation: str
    np: int
    bytes: int
    seconds: tuple[float, ...]
    phases: dict[str, tuple[float, ...]]
    ranks: tuple[tuple[float, ...], ...] = ()  # seconds of each rank, by repetition
    more: dict[str, Any] = field(default_factory=dict)  # the line of the last part, as the record has it

    def over_ranks(self, pick: Callable[[Sequence[float]], float]) -> float:
        """The median over repetitions of what PICK takes of the ranks that had something to do."""
        busy = [[one for one in ranks if one > 0] or [0.0] for ranks in self.ranks]
        return stats.median([pick(ranks) for ranks in busy])

    @property
    def rates(self) -> list[float]:
        """MiB/s of each repetition."""
        return [self.bytes / 2**20 / seconds for seconds in self.seconds if seconds > 0]

    def phase(self, *names: str) -> float:
        """Median seconds of phases NAMES together."""
        sums = [
            sum(times) for times in zip(*(self.phases[name] for name in names if name in self.phases), strict=False)
        ]
        return stats.median(sums)


class Pooled:
    def __init__(self, content: dict[str, Any]) -> None:
        self._series: dict[tuple[str, str, str, int], Series] = {}
        self.errors: dict[tuple[str, str, int], str] = {}
        self.smallest: dict[tuple[str, str, int], float] = {}  # case, operation, np: what an A/A pair lets one claim
        for job in content["jobs"]:
            for case in job["record"]["cases"]:
                self._take(case, int(job["np"]))

    def _take(self, case: dict[str, Any], np: int) -> None:
        name = str(case["case"])
        for operation, control in (case.get("aa") or {}).items():
            key = (name, operation, np)
            self.smallest[key] = max(self.smallest.get(key, 0.0), float(control["smallest_claimable"]))
        for line in case["results"]:
            method = str(line["method"])
            if line.get("error") is not None or not line["verified"]:
                self.errors[name, method, np] = str(line.get("error") or "did not verify")
            if line.get("control"):
                continue
            self._add(line, name, np)

    def _add(self, line: dict[str, Any], case: str, np: int) -> None:
        key = (case, str(line["method"]), str(line["operation"]), np)
        before = self._series.get(key)
        phases = {name: tuple(times) for name, times in (line.get("phases") or {}).items()}
        seconds = tuple(float(one) for one in line["seconds"])
        ranks = tuple(tuple(one) for one in line.get("rank_seconds") or [])
        if before is not None:
            ranks = before.ranks + ranks
            phases = {name: before.phases.get(name, ()) + times for name, times in phases.items()}
            seconds = before.seconds + seconds
        self._series[key] = Series(*key, int(line["bytes"]), seconds, phases, ranks, line)

    def get(self, case: str, method: str, operation: str, np: int) -> Series | None:
        """None where it was not measured, or failed."""
        found = self._series.get((case, method, operation, np))
        return found if found and found.seconds and (case, method, np) not in self.errors else None

    def ranks(self) -> list[int]:
        return sorted({series.np for series in self._series.values()})

    def cases(self) -> list[str]:
        return list(dict.fromkeys(series.case for series in self._series.values()))

    def methods(self, case: str) -> list[str]:
        return list(dict.fromkeys(series.method for series in self._series.values() if series.case == case))

    def all(self) -> Iterator[Series]:
        yield from (found for key in list(self._series) if (found := self.get(*key)) is not None)

    def ratio(self, case: str, method: str, to: str, operation: str, np: int) -> stats.Interval | None:
        """Returns the ratio of METHOD's seconds to TO's, paired by repetition; None if either was not measured."""
        ours, theirs = self.get(case, method, operation, np), self.get(case, to, operation, np)
        return None if ours is None or theirs is None else stats.ratio(ours.seconds, theirs.seconds)
