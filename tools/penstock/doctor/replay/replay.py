"""replay.py: each finding that is worth it played before and after its remedy; advice without a gain is withdrawn."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from penstock.campaign import launch, stats
from penstock.doctor.diagnosis import Diagnosis
from penstock.doctor.facts import Facts
from penstock.doctor.finding import ACHIEVED, INFO, UNDECIDED, WITHDRAWN, Finding, Replayed
from penstock.doctor.replay.costs import Costs, costs_of, probes
from penstock.doctor.replay.play import Played, Stage, play
from penstock.doctor.replay.remedies import OF_ALL_FILES, OF_SERVERS, trial
from penstock.doctor.replay.steps import Case
from penstock.doctor.replay.trial import Trial
from penstock.errors import UserError
from penstock.leftovers.mounts import kind_of

Listen = Callable[[str], None]
SHORTEST = 1e-3  # seconds
LEAST_GAIN = 0.2  # that is not given up for noise
AGAIN_TIMES = 3  # as many repetitions, where the first do not decide
A_FEW = 4  # findings
DISK_PARTS = 6  # ways of a finding that may lie on disk at once, with room to spare


def replayed(diagnosis: Diagnosis, stage: Stage, listen: Listen) -> Diagnosis:
    """LISTEN is told what is being played: all that is HIGH or WARN, then the next, till there are a few."""
    kind = kind_of(stage.directory)
    made: list[Finding] = []
    for one in diagnosis.findings:
        enough = sum(each.replayed is not None for each in made) >= A_FEW
        if one.severity == INFO and (enough or one.saved_seconds <= 0):
            made.append(one)
            continue
        listen(f"{one.rule} {one.title}")
        try:
            made.append(one.with_replay(_replayed(diagnosis.facts, one, stage, kind)))
        except NotReplayedError as error:
            made.append(replace(one, not_replayed=str(error)))
    return diagnosis.with_findings(made)


class NotReplayedError(Exception):
    """Says why."""


def _replayed(facts: Facts, finding: Finding, stage: Stage, kind: str) -> Replayed:
    tried = trial(facts, finding, min(stage.ranks, facts.ranks), kind)
    if isinstance(tried, str):
        raise NotReplayedError(tried)
    if (why := _missing(tried, stage)) is not None:
        raise NotReplayedError(why)
    ranks = len(tried.variants[0].steps)
    asides = probes(ranks, stage.mpi is not launch.Mpi.serial)
    spent = facts.io_seconds
    if finding.rule not in OF_ALL_FILES:
        spent = min(spent, sum(facts.seconds_in(path) for path in finding.files))
    found = _judged(tried, *_played(finding.rule, tried, asides, stage), kind, spent)
    if found.outcome == UNDECIDED:
        longer = replace(stage, repetitions=AGAIN_TIMES * stage.repetitions)
        found = _judged(tried, *_played(finding.rule, tried, asides, longer), kind, spent)
    there = facts.file_system(tried.path)
    if found.outcome == WITHDRAWN and finding.rule in OF_SERVERS and there not in ("", kind):
        why = f"{found.note}; the run was on {there}, and what its servers gain is not to be seen on {kind}"
        return replace(found, outcome=UNDECIDED, note=why)
    return found


def _played(rule: str, tried: Trial, asides: Sequence[Case], stage: Stage) -> tuple[list[Played], Costs]:
    """The ways of TRIED, and what single calls cost meanwhile."""
    try:
        played, *others = play(stage, [(rule, tried.variants), *asides])
    except UserError as error:
        raise NotReplayedError(str(error)) from None
    if played[0].error or not played[0].seconds:
        raise NotReplayedError(f"it failed as it is: {played[0].error or 'there was no time'}")
    if played[0].median < SHORTEST:
        raise NotReplayedError(f"it takes {played[0].median:.2g} s here, which is too short to tell")
    took = {name: one[0].median for (name, _), one in zip(asides, others, strict=True)}
    return played, costs_of(len(tried.variants[0].steps), took)


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


def _judged(tried: Trial, played: list[Played], costs: Costs, kind: str, of_seconds: float) -> Replayed:
    before, again, *after = played
    smallest = stats.smallest_difference(again.seconds, before.seconds)
    found = []
    for number, one in enumerate(after, 2):
        if not one.error and (ratio := stats.ratio(one.seconds, before.seconds)) is not None:
            found.append((ratio.median, number, one, ratio))
    tried_all = {one.name: ratio.median for _, _, one, ratio in found}
    if not found:
        errors = "; ".join(dict.fromkeys(one.error for one in after))
        raise NotReplayedError(f"no remedy could be played: {errors}")
    _, number, best, ratio = min(found, key=lambda each: each[:2])
    here = costs.of(tried.variants[0]), costs.of(tried.variants[number])
    predicted = None if here[0] is None or here[1] is None or here[0] <= 0 else 1 - here[1] / here[0]
    return Replayed(
        before_seconds=before.median,
        after_seconds=best.median,
        ratio=ratio.median,
        low=ratio.low,
        high=ratio.high,
        outcome=_outcome(ratio, smallest),
        exact=tried.exact,
        before=before.moved,
        after=best.moved,
        remedy=best.name,
        ranks=len(tried.variants[0].steps),
        file_system=kind,
        predicted_gain=predicted,
        of_seconds=of_seconds,
        tried=tried_all,
        note=tried.note,
    )


def _outcome(ratio: stats.Interval, smallest: float) -> str:
    """Advice is withdrawn where a gain of a fifth is excluded, not where the machine was too restless to show one."""
    if stats.verdict(ratio, smallest) == "faster":
        return ACHIEVED
    return UNDECIDED if ratio.low is None or ratio.low < 1 - LEAST_GAIN else WITHDRAWN
