"""diagnosis.py: a job looked at by all rules: is it I/O at all, what it costs, what was found, what to do first."""

from collections import defaultdict
from dataclasses import dataclass, replace

from penstock.diagnose.facts import Facts, Layer
from penstock.diagnose.finding import HIGH, INFO, WARN, Finding
from penstock.diagnose.phases import Burst
from penstock.diagnose.rules import RULES
from penstock.diagnose.rules.common import DXT, capped, share
from penstock.jobs.job import Job

LITTLE = 0.10  # of the run time: less is not I/O's fault
HIGH_SHARE, WARN_SHARE = 0.10, 0.02  # of the run time, saved: the one rule of what a finding is worth
ORDER = {HIGH: 2, WARN: 1, INFO: 0}
LEAST_SAVED = 0.001  # of the run time: less is not worth a word
ASK = f" {DXT} would show whom the ranks wait for."
COULD_BE = ("O1",)  # what is good and could be better
SAID_ANYWAY = ("H1", "G3", "A6", "C5")  # though they save little or nothing


@dataclass(frozen=True)
class Diagnosis:
    job: Job
    facts: Facts
    findings: tuple[Finding, ...]  # what saves most first

    @property
    def phases(self) -> list[Burst]:
        return self.facts.bursts

    @property
    def is_io(self) -> bool:
        return self.facts.outermost.share >= LITTLE

    @property
    def lacking(self) -> str:
        """Interfaces of which records are missing, so that their time is not known."""
        return ", ".join(sorted(name for name in self.facts.partial if name in self.job.modules))

    @property
    def core_hours(self) -> float:
        """That the run spent on I/O."""
        return self.job.core_hours * self.facts.outermost.share

    @property
    def worth(self) -> tuple[Finding, ...]:
        """Findings that would save something to speak of, and were not withdrawn."""
        return tuple(one for one in self.findings if one.severity in (HIGH, WARN) and not one.withdrawn)

    @property
    def first(self) -> Finding | None:
        """The first finding whose time is lost in I/O itself. None, for example, if ranks only come late."""
        return next((one for one in self.worth if one.calls and one.rule not in COULD_BE), None)

    @property
    def lost_core_hours(self) -> float:
        """What that would save."""
        return 0.0 if self.first is None else self.first.seconds * self.job.ranks / 3600

    @property
    def saved_seconds(self) -> float:
        """What all findings would save together: what several of them would save counts once."""
        return min(self.facts.io_seconds, sum(one.besides_seconds for one in self.worth))

    @property
    def verdict(self) -> str:
        """One line: whether I/O is the problem, what it costs, and what to do first."""
        cost = f"{_hours(self.core_hours)} of {_hours(self.job.core_hours)} core-hours"
        taken = f"{_share_of(self.facts.outermost)}, {cost}"
        if not self.is_io:
            return self._not_io(taken)
        first = next((one for one in self.worth if one.rule not in COULD_BE), None)
        if first is None:
            return self._nothing_wrong(taken)
        return f"I/O takes {taken}. First: {first.title}. {_remedy(first)}"

    def _not_io(self, taken: str) -> str:
        if not self.lacking:
            return f"Not I/O: {taken}. Look elsewhere first."
        told = f"Not I/O as far as the log tells: {taken}. It lacks records of {self.lacking}."
        most = next(iter(self.findings), None)
        return told if most is None else f"{told} Of what it has: {most.title}. {_remedy(most)}"

    def _nothing_wrong(self, taken: str) -> str:
        gone = ", ".join(one.rule for one in self.findings if one.withdrawn)
        if gone:
            return f"I/O takes {taken}. What counters suggest ({gone}) gained nothing in replay."
        if self.facts.impossible:
            return f"I/O takes up to {taken}, and no rule says why. {self.facts.impossible}."
        outer = self.facts.outermost.module
        if outer not in ("POSIX", "STDIO") and not len(self.facts.posix):
            return f"I/O takes {taken}. The log has nothing of what is below {outer}, which would tell why."
        inside, below = self.facts.beyond
        if inside - below >= HIGH_SHARE * self.facts.seconds:
            return (
                f"I/O takes {taken}, and no rule says why: the mean rank spends {inside:.3g} s in reads, writes and "
                f"views of MPI-IO, the busiest rank {below:.3g} s in the file system. The rest is exchange, or waiting "
                f"for ranks that come late.{'' if self.job.has_traced else ASK}"
            )
        what = f"what the log has, which lacks records of {self.lacking}" if self.lacking else "it"
        told = f"I/O takes {taken}, and nothing is wrong with {what}: nothing to do"
        for one in self.worth[:1]:
            return f"{told}; though {one.seconds:.3g} s could overlap with the computation ({one.rule})."
        light = ", ".join(one.rule for one in self.findings if not one.withdrawn and one.rule != "G3")
        return f"{told}; what else was seen costs little ({light})." if light else f"{told}."

    def with_findings(self, findings: list[Finding]) -> "Diagnosis":
        """Returns the diagnosis with FINDINGS as replay left them, sorted again. Achieved savings replace predicted
        ones; withdrawn findings save nothing and come last.
        """
        return replace(self, findings=_ordered(self.facts, findings))


def diagnose(job: Job, ceiling: float | None = None) -> Diagnosis:
    """CEILING: bytes a second that a benchmark measured on that file system, if any did."""
    facts = Facts(job, ceiling)
    found = _merged(facts, [finding for rule in RULES for finding in rule(facts)])
    found = [one for one in found if one.saved_seconds >= LEAST_SAVED * job.seconds or one.rule in SAID_ANYWAY]
    troubles = tuple(filter(None, (facts.impossible, job.traced_trouble())))  # rules have looked at the accesses
    job = replace(job, troubles=(*job.troubles, *troubles))
    return Diagnosis(job, facts, _ordered(facts, found))


def severity(seconds: float, facts: Facts) -> str:
    """Returns the severity of a finding that saves SECONDS of the run time; INFO in a job with little I/O."""
    share = seconds / facts.seconds
    if facts.outermost.share < LITTLE or share < WARN_SHARE:
        return INFO
    return HIGH if share >= HIGH_SHARE else WARN


def _merged(facts: Facts, found: list[Finding]) -> list[Finding]:
    """Merges the findings of one rule about several files: the worst one remains, with the names of all files. The
    gains add up, to at most the time that the busiest rank spends in these files.
    """
    by_rule: dict[str, list[Finding]] = defaultdict(list)
    for one in sorted(found, key=lambda each: -each.saved_seconds):
        by_rule[f"{one.rule} {one.title}" if one.rule == "H1" else one.rule].append(one)
    return [capped(facts, _together(some)) for some in by_rule.values()]


def _together(some: list[Finding]) -> Finding:
    return replace(
        some[0],
        saved_seconds=sum(one.saved_seconds for one in some),
        files=tuple(dict.fromkeys(path for one in some for path in one.files)),
        calls=tuple(dict.fromkeys(call for one in some for call in one.calls)),
    )


def _ordered(facts: Facts, found: list[Finding]) -> tuple[Finding, ...]:
    """Sorts FOUND by what each saves, faults before improvements. Each names earlier ones that save the same time."""
    rated = [replace(one, severity=severity(one.seconds, facts)) for one in found]
    rated.sort(
        key=lambda one: (
            one.withdrawn, one.severity == INFO, one.rule in COULD_BE, -ORDER[one.severity],
            -one.seconds * one.confidence,
        )
    )  # fmt: skip
    made: list[Finding] = []
    for one in rated:
        same = [each for each in made if each.seconds > 0 and one.shares_time_with(each)]
        besides = max(0.0, one.seconds - sum(each.besides_seconds for each in same))
        made.append(replace(one, overlaps=tuple(each.rule for each in same), besides_seconds=besides))
    return tuple(made)


def _share_of(outer: Layer) -> str:
    if outer.slowest_share > 1.2 * outer.mean_share:
        return f"{share(outer.slowest_share)} of the slowest rank's time, {share(outer.mean_share)} in the mean"
    return f"{share(outer.share)} of the run"


def _hours(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.3g}"


def _remedy(finding: Finding) -> str:
    """The first of the rule's words, which have them in the order in which they help."""
    layer = next(iter(finding.remedies), "")
    label = "MPI hint" if layer == "mpi hint" else layer.capitalize()
    return f"{label}: {finding.remedies[layer]}." if layer else ""
