"""compare.py: a command run in turn with and without the library: seconds of each run, and their ratio."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.base import words
from penstock.measure.studies import stats

LEAST = 6  # pairs that give an interval


@dataclass(frozen=True)
class Run:
    """Of a command from its start to its end. WITH_US: with the library."""

    pair: int
    with_us: bool
    seconds: float
    status: int


@dataclass
class Comparison:
    """RUNS in their order; the last one is the first that failed, if one did.

    IO_SECONDS: of the last run with us, time in I/O of the mean rank as the library reports it; 0 without a report.
    """

    pairs: int
    runs: list[Run] = field(default_factory=list)
    io_seconds: float = 0

    @property
    def status(self) -> int:
        return self.runs[-1].status if self.runs else 0

    def seconds(self, with_us: bool) -> list[float]:
        """Of complete pairs."""
        done = [one for one in self.runs if one.status == 0]
        whole = {one.pair for one in done if one.with_us} & {one.pair for one in done if not one.with_us}
        return [one.seconds for one in done if one.with_us is with_us and one.pair in whole]

    @property
    def ratio(self) -> stats.Interval | None:
        """Seconds with us over seconds without."""
        return stats.ratio(self.seconds(True), self.seconds(False))

    @property
    def io_seconds_without(self) -> float | None:
        """An estimate: the whole difference between the runs is taken as time in I/O. None if it may be chance."""
        ratio = self.ratio
        if self.status or self.io_seconds <= 0 or ratio is None or _means(ratio) not in ("faster", "slower"):
            return None
        without = self.io_seconds + stats.median(self.seconds(False)) - stats.median(self.seconds(True))
        return without if without > 0 else None

    def as_json(self) -> dict[str, Any]:
        found = self.ratio
        told = None if found is None else {"median": found.median, "low": found.low, "high": found.high}
        return {
            "pairs": self.pairs,
            "runs": [vars(one) for one in self.runs],
            "ratio": told,
            "io_seconds": {"with": self.io_seconds or None, "without": self.io_seconds_without},
        }


def turns(pairs: int) -> Iterator[tuple[int, bool]]:
    """Which pair, and whether with us: each pair begins with what the one before it ended with."""
    for pair in range(pairs):
        first = pair % 2 == 1
        yield pair, first
        yield pair, not first


def compare(pairs: int, run: Callable[[bool], int], listen: Callable[[Run], None]) -> Comparison:
    """Runs RUN, which is told whether with us, and returns a status; ends after one that fails."""
    made = Comparison(pairs)
    for pair, with_us in turns(pairs):
        began = time.monotonic()
        status = run(with_us)
        made.runs.append(Run(pair, with_us, time.monotonic() - began, status))
        listen(made.runs[-1])
        if status:
            break
    return made


def told(run: Run) -> str:
    """One line for each run, as it ends."""
    ended = f", and ended with status {run.status}: no more runs" if run.status else ""
    which = "with" if run.with_us else "without"
    return f"pair {run.pair + 1}, {which} penstock: {words.seconds(run.seconds)}{ended}"


def verdict(found: Comparison) -> list[str]:
    """The sentence that matters, and what it rests on."""
    ratio = found.ratio
    if ratio is None:
        return ["no pair of runs was complete: there is no ratio"]
    ours, others = found.seconds(True), found.seconds(False)
    sure = f"{_interval(ratio, ours, others)}; {words.count(len(ours), 'pair', 'pairs')} of runs"
    lines = [
        f"with penstock the command takes {words.digits(ratio.median)} times as long ({sure}): {_means(ratio)}",
        f"  wall time with penstock {words.seconds(stats.median(ours))}, without {words.seconds(stats.median(others))} "
        "(medians)",
    ]
    if found.io_seconds_without is not None:
        lines.append(
            f"  time in I/O with penstock {words.seconds(found.io_seconds)}, without about "
            f"{words.seconds(found.io_seconds_without)} (estimated from the difference of the wall times)"
        )
    return lines


def _interval(ratio: stats.Interval, ours: Sequence[float], others: Sequence[float]) -> str:
    if ratio.low is not None and ratio.high is not None:
        return f"95 % interval {words.interval(ratio.low, ratio.high)}"
    pairs = stats.quotients(ours, others)
    return f"from {words.interval(min(pairs), max(pairs))}; {LEAST} pairs give a 95 % interval"


def _means(ratio: stats.Interval) -> str:
    if ratio.low is None or ratio.high is None:
        return "too few to be sure"
    if ratio.low <= 1 <= ratio.high:
        return "no detectable difference"
    return "faster" if ratio.median < 1 else "slower"
