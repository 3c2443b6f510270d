"""diagnosis.py: a job looked at by all rules: is it I/O at all, what it costs, what was found, what to do first."""

from dataclasses import dataclass, replace

from penstock.doctor.facts import Facts, Layer
from penstock.doctor.finding import HIGH, INFO, WARN, Finding
from penstock.doctor.job import Job
from penstock.doctor.phases import Burst
from penstock.doctor.rules import RULES
from penstock.doctor.rules.common import ORDER, share

LITTLE = 0.10  # of the run time: less is not I/O's fault
LEAST_SAVED = 0.001  # of the run time: less is not worth a word
SAID_ANYWAY = ("H1", "G3")  # though they save nothing by themselves


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
    def lost_core_hours(self) -> float:
        """What the best of the findings would save."""
        return max((one.seconds for one in self.worth), default=0.0) * self.job.ranks / 3600

    @property
    def verdict(self) -> str:
        """In one line: is it I/O, what it costs, the one thing to do first."""
        outer = self.facts.outermost
        cost = f"{_hours(self.core_hours)} of {_hours(self.job.core_hours)} core-hours"
        if not self.is_io and self.lacking:
            told = f"Not I/O as far as the log tells: {_share_of(outer)}, {cost}. It lacks records of {self.lacking}."
            most = next(iter(self.findings), None)
            return told if most is None else f"{told} Of what it has: {most.title}. {_remedy(most)}"
        if not self.is_io:
            return f"Not I/O: {_share_of(outer)}, {cost}. Look elsewhere first."
        if not self.worth:
            gone = ", ".join(one.rule for one in self.findings if one.withdrawn)
            if gone:
                return f"I/O takes {_share_of(outer)}, {cost}. What counters suggest ({gone}) gained nothing in replay."
            if self.facts.impossible:
                return f"I/O takes up to {_share_of(outer)}, and no rule says why. {self.facts.impossible}."
            return f"I/O takes {_share_of(outer)}, {cost}, and nothing is wrong with it: nothing to do."
        first = self.worth[0]
        return f"I/O takes {_share_of(outer)}, {cost}. First: {first.title}. {_remedy(first)}"

    def with_findings(self, findings: list[Finding]) -> "Diagnosis":
        """After replay: what was achieved counts where it is known, and what was withdrawn comes last."""
        return replace(self, findings=_ordered(findings))


def diagnose(job: Job, ceiling: float | None = None) -> Diagnosis:
    """CEILING: bytes a second that a benchmark measured on that file system, if any did."""
    facts = Facts(job, ceiling)
    found = [finding for rule in RULES for finding in rule(facts)]
    found = [one for one in found if one.saved_seconds >= LEAST_SAVED * job.seconds or one.rule in SAID_ANYWAY]
    if facts.outermost.share < LITTLE:
        found = [replace(one, severity=INFO) for one in found]
    if facts.impossible:
        job = replace(job, troubles=(*job.troubles, facts.impossible))
    return Diagnosis(job, facts, _ordered(_merged(found)))


def _merged(found: list[Finding]) -> list[Finding]:
    """A rule that speaks of several files says the worst, with the others' names; their gains add up."""
    made: dict[str, Finding] = {}
    for one in sorted(found, key=lambda each: -each.saved_seconds):
        if (first := made.get(one.rule)) is None or one.rule == "H1":
            made[one.rule if first is None else f"{one.rule} {one.title}"] = one
            continue
        made[one.rule] = replace(first, files=(*first.files, *(path for path in one.files if path not in first.files)))
    return list(made.values())


def _ordered(found: list[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(found, key=lambda one: (one.withdrawn, -ORDER[one.severity], -one.seconds * one.confidence)))


def _share_of(outer: Layer) -> str:
    if outer.slowest_share > 1.2 * outer.mean_share:
        return f"{share(outer.slowest_share)} of the slowest rank's time, {share(outer.mean_share)} in the mean"
    return f"{share(outer.share)} of the run"


def _hours(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.3g}"


def _remedy(finding: Finding) -> str:
    """The first of the rule's words, which have them in the order in which they help."""
    layer = next(iter(finding.remedies), "")
    return f"{layer.capitalize()}: {finding.remedies[layer]}." if layer else ""
