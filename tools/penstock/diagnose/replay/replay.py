"""replay.py: each finding that is worth it played before and after its remedy; advice without a gain is withdrawn."""

import contextlib
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from penstock.base import launch
from penstock.base.errors import UserError
from penstock.base.mounts import kind_of
from penstock.diagnose.diagnosis import Diagnosis
from penstock.diagnose.facts import Facts
from penstock.diagnose.finding import ACHIEVED, INFO, UNDECIDED, WITHDRAWN, Finding, Replayed
from penstock.diagnose.replay.costs import Costs, costs_of, probes
from penstock.diagnose.replay.play import START_SECONDS, OverError, Played, Stage, Whole, can_take_over, play
from penstock.diagnose.replay.remedies import OF_SERVERS, TRIALS, trial
from penstock.diagnose.replay.source import FULL, Most
from penstock.diagnose.replay.steps import READ, Case, Variant
from penstock.diagnose.replay.trial import RUN, Trial
from penstock.diagnose.rules.sieved import AMPLIFIED
from penstock.measure.studies import stats

Listen = Callable[[str, int, int], None]
SHORTEST = 1e-3  # seconds
LACKS = "here the MPI library moved only what it was given, not more as in the log: this says nothing about the finding"
LEAST_GAIN = 0.2  # that is not given up for noise
A_FEW = 4  # findings
DISK_PARTS = 6  # ways of a finding that may lie on disk at once, with room to spare
FIRST = 1 / 64  # of a pattern is played first, to see how much of it there is time for
LEAST_REPETITIONS = 6  # that give an interval
AGAIN_TIMES = 3  # as many repetitions, where the first do not decide
PROBE_REPETITIONS = 2
LEAST_SECONDS = 1.0  # in which a launcher starts and ends
ROOM = 0.8  # of the time: the last of many runs may take longer than the first
PROBE_PART = 6  # a part of the time goes into what single calls cost


def replayed(diagnosis: Diagnosis, stage: Stage, listen: Listen) -> Diagnosis:
    """LISTEN is told what is being played, how much of it is done, of how much. All that is HIGH or WARN is played,
    then the next, till there are a few; each gets as much as the others of the time that is left of the stage's.
    """
    facts, kind = diagnosis.facts, kind_of(stage.directory)
    clock = _Clock(stage, listen)
    order = [one for one in diagnosis.findings if one.severity != INFO]
    order += [one for one in diagnosis.findings if one.severity == INFO and one.saved_seconds > 0]
    made: dict[int, Finding] = {}
    shown: dict[tuple[object, str], Replayed] = {}
    for number, one in enumerate(order):
        if one.severity == INFO and len(shown) >= A_FEW:
            break
        if (same := shown.get(_pattern_of(one))) is not None:
            made[id(one)] = one.with_replay(replace(same, of_seconds=_spent(facts, one)))
            continue
        rest = {_pattern_of(each): each.severity for each in reversed(order[number:]) if each.rule in TRIALS}
        left = [severity for pattern, severity in rest.items() if pattern not in shown]
        clock.next(one, max(1, sum(each != INFO for each in left), min(len(left), A_FEW - len(shown))))
        try:
            shown[_pattern_of(one)] = found = _replayed(facts, one, clock, kind)
            made[id(one)] = one.with_replay(found)
        except NotReplayedError as error:
            made[id(one)] = replace(one, not_replayed=str(error))
    return diagnosis.with_findings([made.get(id(one), one) for one in diagnosis.findings])


def _pattern_of(finding: Finding) -> tuple[object, str]:
    """What is the same for findings that one trial decides."""
    return TRIALS.get(finding.rule), finding.files[0] if finding.files else ""


def _spent(facts: Facts, finding: Finding) -> float:
    """Seconds of the run in the calls that FINDING is about."""
    paths = None if finding.everywhere else finding.files
    return min(facts.io_seconds, facts.most(finding.module, finding.calls, paths))


class NotReplayedError(Exception):
    """Says why."""


class _Clock:
    """What time is left of a stage's, for all findings and for that whose turn it is; what single calls cost."""

    def __init__(self, stage: Stage, listen: Listen) -> None:
        self.stage = stage
        self._listen = listen
        self._end = time.monotonic() + stage.seconds
        self._end_of_this = self._end
        self._still = 1
        self._what = ""
        self._costs: dict[int, Costs | None] = {}

    def next(self, finding: Finding, still: int) -> None:
        """FINDING is one of STILL that are to be played."""
        self._still = still
        self.begin()
        self._what = f"{finding.rule} {finding.title}"

    def begin(self) -> None:
        """Gives the finding its part of the time that is left, beginning now."""
        now = time.monotonic()
        self._end_of_this = now + max(0.0, self._end - now) / self._still

    @property
    def left(self) -> float:
        return self._end_of_this - time.monotonic()

    def play(self, cases: Sequence[Case], repetitions: int, seconds: float) -> Whole:
        if seconds < LEAST_SECONDS:
            raise NotReplayedError(self.over)
        stage = replace(self.stage, repetitions=repetitions)
        try:
            return play(stage, cases, seconds, lambda done, of: self._listen(self._what, done, of))
        except OverError:
            raise NotReplayedError(self.over) from None
        except UserError as error:
            raise NotReplayedError(str(error)) from None

    @property
    def over(self) -> str:
        return f"its part of the {self.stage.seconds:.3g} s was over before it was played once: --budget gives more"

    def costs(self, ranks: int) -> Costs | None:
        """Returns what single calls cost on RANKS ranks, measured once; None without time for it or if it fails."""
        if ranks not in self._costs:
            asides = probes(ranks, self.stage.mpi is not launch.Mpi.serial)
            try:
                found = self.play(asides, PROBE_REPETITIONS, self.stage.seconds / PROBE_PART).cases
            except NotReplayedError:
                self._costs[ranks] = None
            else:
                took = {name: one[0].median for (name, _), one in zip(asides, found, strict=True)}
                self._costs[ranks] = None if any(map(math.isnan, took.values())) else costs_of(ranks, took)
        return self._costs[ranks]


def _replayed(facts: Facts, finding: Finding, clock: _Clock, kind: str) -> Replayed:
    stage = clock.stage

    def tried(most: Most) -> Trial:
        made = trial(facts, finding, min(stage.ranks, facts.ranks), kind, most)
        if isinstance(made, str):
            raise NotReplayedError(made)
        return made if can_take_over(stage.mpi) else _without_run(made)

    whole = tried(FULL)
    if (why := _missing(whole, stage)) is not None:
        raise NotReplayedError(why)
    costs = clock.costs(len(whole.variants[0].steps))
    clock.begin()
    chosen = _that_fits(finding, clock, whole, tried)
    spent = _spent(facts, finding)
    shown = _played(finding, chosen, clock, stage.repetitions)
    found = _judged(chosen, shown.cases[0], costs, kind, spent)
    more = min(AGAIN_TIMES * stage.repetitions, int((clock.left - START_SECONDS) / max(shown.round_seconds, 1e-3)) - 1)
    if found.outcome == UNDECIDED and more > shown.repetitions:
        with contextlib.suppress(NotReplayedError):  # what was played before stands
            found = _judged(chosen, _played(finding, chosen, clock, more).cases[0], costs, kind, spent)
    there = facts.file_system(chosen.path)
    elsewhere = there not in ("", kind) and not facts.is_local(chosen.path)
    if found.outcome == WITHDRAWN and finding.rule in OF_SERVERS and elsewhere:
        why = f"{found.note}; the run was on {there}, and what its servers gain is not to be seen on {kind}"
        return replace(found, outcome=UNDECIDED, note=why)
    return found


def _without_run(of: Trial) -> Trial:
    """Without the remedy for which a library is missing; some other is always there."""
    left = [one for one in of.variants if not one.taken_over]
    if len(left) == len(of.variants):
        return of
    return replace(of, variants=left, note=f"{of.note}; {RUN} is not among the remedies: its library is not built")


def _that_fits(finding: Finding, clock: _Clock, whole: Trial, tried: Callable[[Most], Trial]) -> Trial:
    """So much of the pattern as can be played often enough for an interval in the time that is left."""
    first = tried(FULL.part(FIRST))
    scale = max(_amount(first) / _amount(whole), 1e-6)
    if scale >= 1:
        return whole
    seen = clock.play([(finding.rule, first.variants)], 1, clock.left)
    rounds = max(LEAST_REPETITIONS, clock.stage.repetitions) + 1
    each = (clock.left - START_SECONDS) / rounds * ROOM
    part = each / max(seen.round_seconds, 1e-6) * scale
    return whole if part >= 1 else tried(FULL.part(max(part, scale) * _amount(whole)))


def _amount(of: Trial) -> float:
    """Returns the size of a trial's pattern as a fraction of the largest that is allowed, in bytes or steps."""
    steps = max(sum(map(len, one.steps)) for one in of.variants)
    return max(max(one.bytes for one in of.variants) / FULL.bytes, steps / FULL.steps)


def _played(finding: Finding, tried: Trial, clock: _Clock, repetitions: int) -> Whole:
    """The ways of TRIED."""
    whole = clock.play([(finding.rule, tried.variants)], repetitions, clock.left)
    before = whole.cases[0][0]
    if before.error or not before.seconds:
        raise NotReplayedError(f"it failed as it is: {before.error or 'there was no time'}")
    if before.median < SHORTEST:
        raise NotReplayedError(f"it takes {before.median:.2g} s here, which is too short to tell")
    return whole


def _missing(tried: Trial, stage: Stage) -> str | None:
    """What the machine lacks for it."""
    if stage.mpi.value == "serial":
        if any(one.interface == "mpiio" for one in tried.variants):
            return "MPI-IO takes a build with MPI"
        if len(tried.variants[0].steps) > 1:
            return "several ranks take a build with MPI"
    needed = DISK_PARTS * max(one.bytes for one in tried.variants)
    about = os.statvfs(stage.directory)
    free = about.f_bavail * about.f_frsize
    return None if free >= needed else f"{stage.directory} has {free >> 20} MiB free, a replay takes {needed >> 20}"


def _judged(tried: Trial, played: list[Played], costs: Costs | None, kind: str, of_seconds: float) -> Replayed:
    before, again, *after = played
    noise = _noise(again.seconds, before.seconds)
    found = []
    for number, one in enumerate(after, 2):
        if not one.error and (ratio := stats.ratio(one.seconds, before.seconds)) is not None:
            found.append((ratio.median, number, one, ratio))
    tried_all = {one.name: ratio.median for _, _, one, ratio in found}
    if not found:
        errors = "; ".join(dict.fromkeys(one.error for one in after))
        raise NotReplayedError(f"no remedy could be played: {errors}")
    _, number, best, ratio = min(found, key=lambda each: each[:2])
    here = [None if costs is None else costs.of(tried.variants[at]) for at in (0, number)]
    predicted = None if here[0] is None or here[1] is None or here[0] <= 0 else 1 - here[1] / here[0]
    pairs = stats.quotients(best.seconds, before.seconds)
    lacks = tried.sieves and not _sieved(before.moved, tried.variants[0])
    return Replayed(
        before_seconds=before.median,
        after_seconds=best.median,
        ratio=ratio.median,
        low=ratio.low,
        high=ratio.high,
        outcome=UNDECIDED if lacks else _outcome(ratio, noise),
        exact=tried.exact,
        before=before.moved,
        after=best.moved,
        remedy=best.name,
        ranks=len(tried.variants[0].steps),
        file_system=kind,
        predicted_gain=predicted,
        of_seconds=of_seconds,
        tried=tried_all,
        note=f"{tried.note}; {LACKS}" if lacks else tried.note,
        repetitions=len(pairs),
        least=min(pairs),
        most=max(pairs),
    )


def _sieved(moved: dict[str, float], of: Variant) -> bool:
    """Whether more was MOVED than asked for, or read to be written back."""
    reads_back = moved["reads"] > 0 and not any((one["act"] == READ).any() for one in of.steps)
    return reads_back or moved["read_bytes"] + moved["written_bytes"] > AMPLIFIED * of.bytes


def _noise(again: Sequence[float], before: Sequence[float]) -> float:
    """The factor by which a second run of the same takes longer or shorter. It is a factor because a time can shrink
    by at most 100 %, while a run with syncs may well take twice as long.
    """
    low, high = stats.band(again, before)
    return max(high, 1 / low if low > 0 else math.inf)


def _outcome(ratio: stats.Interval, noise: float) -> str:
    """Advice is withdrawn where a gain of a fifth is excluded, not where the machine was too restless to show one."""
    if ratio.high is not None and ratio.high < 1 and ratio.median * noise < 1:
        return ACHIEVED
    return UNDECIDED if ratio.low is None or ratio.low < 1 - LEAST_GAIN else WITHDRAWN
