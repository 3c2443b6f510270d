"""finding.py: one thing that the doctor found: evidence, cause, the remedy on each layer, what it would save."""

from dataclasses import dataclass, field, replace
from typing import Any

HIGH, WARN, INFO = "HIGH", "WARN", "INFO"
ACHIEVED, WITHDRAWN, UNDECIDED = "achieved", "withdrawn", "undecided"


@dataclass(frozen=True)
class Evidence:
    """A counter's name, as the log has it, and its value; or a figure made of several, and how."""

    name: str
    value: float | int | str
    meaning: str = ""


@dataclass(frozen=True)
class Replayed:
    """What replaying before and after the remedy showed: seconds and bytes of the replay, not of the run."""

    before_seconds: float
    after_seconds: float
    ratio: float  # median of after / before, of pairs
    low: float | None  # ends of its 95 % interval
    high: float | None
    outcome: str  # ACHIEVED; WITHDRAWN, where it gains nothing; UNDECIDED, where this machine cannot tell
    exact: bool  # the first accesses of the log as they are; else made up from its numbers
    remedy: str  # of those tried the one that took least
    ranks: int
    file_system: str  # type of the one that it was played on
    predicted_gain: float | None  # of the time before, from what single calls cost there; None where that does not say
    of_seconds: float  # of the run, in the files that were replayed
    before: dict[str, float] = field(
        default_factory=dict
    )  # what the kernel moved: read_bytes, written_bytes, reads, ...
    after: dict[str, float] = field(default_factory=dict)
    tried: dict[str, float] = field(default_factory=dict)  # ratio of each remedy
    note: str = ""  # what was cut, or assumed
    repetitions: int = 0
    least: float | None = None  # of the ratios of all repetitions
    most: float | None = None

    @property
    def how(self) -> str:
        return "from every access" if self.exact else "from the log's numbers"

    @property
    def gain(self) -> float:
        """Achieved: of the time before."""
        return 1 - self.ratio

    @property
    def achieved_seconds(self) -> float:
        """Seconds that the run would save if its files gain as in the replay; 0 unless replay achieved a gain."""
        return self.gain * self.of_seconds if self.outcome == ACHIEVED else 0.0

    @property
    def spread(self) -> str:
        """How sure the ratio is."""
        if self.low is not None and self.high is not None:
            return f"95 % interval {self.low:.3g} to {self.high:.3g}"
        if self.least is None or self.most is None:
            return "no interval: it was played once"
        if self.repetitions == 1:
            return "1 repetition, too few for a 95 % interval"
        return f"{self.least:.3g} to {self.most:.3g} in {self.repetitions} repetitions, too few for a 95 % interval"

    @property
    def expected(self) -> str:
        """What the costs of single calls make one expect; empty where they do not say."""
        if self.predicted_gain is None:
            return ""
        if self.predicted_gain >= 0:
            return f"by the costs of single calls there, it should gain {100 * self.predicted_gain:.3g} %"
        return f"by the costs of single calls there, it should take {1 - self.predicted_gain:.3g} times as long"

    def as_json(self) -> dict[str, Any]:
        return vars(self) | {"gain": self.gain, "achieved_seconds": self.achieved_seconds}


@dataclass(frozen=True)
class Finding:
    rule: str  # "A1", as in docs/doctor.md
    title: str
    severity: str  # by diagnosis.py, of all findings alike
    saved_seconds: float  # of the run time, predicted
    confidence: float  # 0 to 1
    cause: str  # in plain words
    evidence: tuple[Evidence, ...]
    remedies: dict[str, str]  # by layer
    files: tuple[str, ...] = ()  # the worst first
    everywhere: bool = False  # about all files, of which FILES are examples
    calls: tuple[str, ...] = ()  # "READ", "WRITE", "META": whose time it is; none where it is that of other things
    module: str = "POSIX"  # on whose records it stands
    overlaps: tuple[str, ...] = ()  # rules before it that would save some of the same time
    besides_seconds: float = 0.0  # what it saves where those before it were heeded
    replayed: Replayed | None = None
    not_replayed: str = ""  # why, where a replay was asked for

    @property
    def withdrawn(self) -> bool:
        return self.replayed is not None and self.replayed.outcome == WITHDRAWN

    @property
    def seconds(self) -> float:
        """Seconds of the run time that the finding saves: as replay decided, else as predicted."""
        shown = self.replayed
        return self.saved_seconds if shown is None or shown.outcome == UNDECIDED else shown.achieved_seconds

    def shares_time_with(self, other: "Finding") -> bool:
        """Whether both are about the same calls of the same files, so that what they save does not add up."""
        same_files = self.everywhere or other.everywhere or not set(self.files).isdisjoint(other.files)
        return same_files and not set(self.calls).isdisjoint(other.calls)

    def with_replay(self, replayed: Replayed) -> "Finding":
        return replace(self, replayed=replayed)

    def as_json(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "title": self.title,
            "severity": self.severity,
            "saved_seconds": self.seconds,
            "predicted_seconds": self.saved_seconds,
            "besides_seconds": self.besides_seconds,
            "overlaps": list(self.overlaps),
            "confidence": self.confidence,
            "cause": self.cause,
            "evidence": [{"name": one.name, "value": one.value, "meaning": one.meaning} for one in self.evidence],
            "remedies": self.remedies,
            "files": list(self.files),
            "replayed": None if self.replayed is None else self.replayed.as_json(),
            "not_replayed": self.not_replayed or None,
            "withdrawn": self.withdrawn,
        }
