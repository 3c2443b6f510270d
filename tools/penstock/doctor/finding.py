"""finding.py: one thing that the doctor found: evidence, cause, the remedy on each layer, what it would save."""

from dataclasses import dataclass, field, replace
from typing import Any

HIGH, WARN, INFO = "HIGH", "WARN", "INFO"
LAYERS = ("application", "mpi hint", "library", "file system", "penstock")


@dataclass(frozen=True)
class Evidence:
    """A counter's name, as the log has it, and its value; or a figure made of several, and how."""

    name: str
    value: float | int | str
    meaning: str = ""


@dataclass(frozen=True)
class Replayed:
    """What replaying the pattern before and after the remedy showed."""

    before_seconds: float
    after_seconds: float
    ratio: float  # median of after / before, of pairs
    low: float | None  # ends of its 95 % interval
    high: float | None
    achieved: bool  # else the advice is withdrawn
    exact: bool  # from every access of the log; else made up from its counters
    before: dict[str, float] = field(default_factory=dict)  # what the replay had to show, as bytes moved
    after: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    rule: str  # "A1", as in docs/doctor.md
    title: str
    severity: str
    saved_seconds: float  # of the run time, predicted
    confidence: float  # 0 to 1
    cause: str  # in plain words
    evidence: tuple[Evidence, ...]
    remedies: dict[str, str]  # by layer
    files: tuple[str, ...] = ()  # the worst first
    replayed: Replayed | None = None

    @property
    def withdrawn(self) -> bool:
        return self.replayed is not None and not self.replayed.achieved

    def with_replay(self, replayed: Replayed) -> "Finding":
        return replace(self, replayed=replayed)

    def as_json(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "title": self.title,
            "severity": self.severity,
            "saved_seconds": self.saved_seconds,
            "confidence": self.confidence,
            "cause": self.cause,
            "evidence": [{"name": one.name, "value": one.value, "meaning": one.meaning} for one in self.evidence],
            "remedies": self.remedies,
            "files": list(self.files),
            "replayed": None if self.replayed is None else vars(self.replayed),
            "withdrawn": self.withdrawn,
        }
