"""record.py: what became of every case, in a table by method, and the sum."""

import threading
from collections import Counter
from dataclasses import dataclass, field

from methods import Method

KILLS = ("kill_before", "kill_after")
POWER_KILLS = ("power_kill",)  # of power.py


@dataclass
class Tally:
    """What happened to one method."""

    kills: int = 0
    faults: int = 0
    unreached: int = 0
    states: Counter[str] = field(default_factory=Counter)
    defects: Counter[str] = field(default_factory=Counter)
    ranks: set[int] = field(default_factory=set)
    refusal: str = ""


@dataclass(frozen=True)
class Outcome:
    """Of one case."""

    fault: str
    rank: int
    at: int
    call: str
    status: str
    state: str
    defect: str
    message: str


class Record:
    """All tallies; threads add to it."""

    def __init__(self) -> None:
        self.tallies: dict[tuple[str, bool], Tally] = {}
        self._lock = threading.Lock()

    def tally(self, method: Method, apart: bool) -> Tally:
        return self.tallies.setdefault((method.plan, apart), Tally())

    def add(self, method: Method, ranks: int, outcome: Outcome, apart: bool) -> None:
        with self._lock:
            tally = self.tally(method, apart)
            tally.ranks.add(ranks)
            if outcome.call == "none" and not outcome.defect:
                tally.unreached += 1
                return
            if outcome.fault in (*KILLS, *POWER_KILLS):
                tally.kills += 1
            else:
                tally.faults += 1
            tally.states[outcome.state] += 1
            if not outcome.defect:
                return
            tally.defects[outcome.defect] += 1
            print(
                f"{'apart: ' if apart else ''}{outcome.defect}: {method.plan} on {ranks}: {outcome.fault} "
                f"at {outcome.at} of rank {outcome.rank} ({outcome.call}): "
                f"{outcome.status}, {outcome.state} {outcome.message}",
                flush=True,
            )

    def refuse(self, method: Method, why: str, apart: bool) -> None:
        with self._lock:
            self.tally(method, apart).refusal = why


def table(record: Record, apart: bool) -> list[str]:
    rows = [f"{'method':76} {'ranks':6} {'kills':>6} {'faults':>6} {'old':>6} {'new':>6} {'unmet':>6}  defects"]
    for (name, is_apart), tally in sorted(record.tallies.items()):
        if is_apart != apart:
            continue
        if tally.refusal:
            rows.append(f"{name:76} refused: {tally.refusal}")
            continue
        ranks = " ".join(str(n) for n in sorted(tally.ranks))
        wrong = ", ".join(f"{n} {word}" for word, n in sorted(tally.defects.items())) or "none"
        rows.append(
            f"{name:76} {ranks:6} {tally.kills:6} {tally.faults:6} {tally.states['old']:6} {tally.states['new']:6} "
            f"{tally.unreached:6}  {wrong}"
        )
    return rows


def conclude(record: Record, seconds: float, least: tuple[int, int]) -> int:
    """Prints all; the exit status."""
    kept = [tally for (_, apart), tally in record.tallies.items() if not apart]
    defects: Counter[str] = sum((tally.defects for tally in kept), Counter())
    kills, faults = sum(tally.kills for tally in kept), sum(tally.faults for tally in kept)
    named = {
        "lost": "previous checkpoints lost",
        "damaged": "half-written files accepted",
        "hang": "hangs",
        "crash": "crashes",
    }
    others = {word: n for word, n in defects.items() if word not in named}
    if any(apart for _, apart in record.tallies):
        print("\ninside MPI-IO and engines, where an error may leave other ranks waiting: not in the sum")
        print("\n".join(table(record, True)))
    print()
    print("\n".join(table(record, False)))
    enough = kills >= least[0] and faults >= least[1]
    passed = enough and not defects
    text = ", ".join(f"{defects[word]} {name}" for word, name in named.items())
    more = ", ".join(f"{n} {word}" for word, n in sorted(others.items())) or "0"
    print(f"{seconds:.0f} s; needed: {least[0]} kill points and {least[1]} faults, and no defect")
    print(
        f"torture: {'passed' if passed else 'FAILED'}: {kills} kill points, {faults} faults injected: {text}, "
        f"other defects: {more}"
    )
    return 0 if passed else 1
