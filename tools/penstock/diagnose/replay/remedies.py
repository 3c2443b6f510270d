"""remedies.py: of a finding, its pattern as it is and as its remedies would have it; or why it cannot be replayed."""

from collections.abc import Callable

from penstock.diagnose.facts import Facts
from penstock.diagnose.finding import Finding
from penstock.diagnose.replay import accesses, collective, metadata
from penstock.diagnose.replay.source import FULL, Most
from penstock.diagnose.replay.trial import Asked, Trial

# Their gain is that of several servers, or of far ones.
OF_SERVERS = ("C1", "C2", "C4", "A6", "I1", "I3", "M1", "M2", "M4", "T2")
NOT_HERE = {
    "C3": "storage targets are particular to that file system: a replay elsewhere shows nothing",
    "I2": "a slow target is particular to that file system: a replay elsewhere shows nothing",
    "T1": "time-outs are particular to that file system: a replay elsewhere shows nothing",
    "N1-nfs": "the locks are those of NFS: name a folder on NFS with --dir",
    "H1": "the library did not use the hint, so there is nothing to replay",
    "O1": "a log does not show how much I/O the computation could hide",
    "P1": "the replay runs on one node, without the contention between several",
    "S1": "a log does not contain the text that was written",
    "S2": "a log does not show what streams buffer",
    "I4": "what the ranks wait for is not I/O",
    "M5": "what HDF5 does to its headers is not in a log",
    "M6": "what HDF5 asks of MPI-IO is not in a log",
    "M3": "the finding is how the time grows with ranks: the model extrapolates it",
}


def trial(facts: Facts, finding: Finding, ranks: int, kind: str, most: Most = FULL) -> Trial | str:
    """RANKS at most, on a file system of KIND, as much of the pattern as MOST; a text says why there is none."""
    of_nfs = any(facts.file_system(path).startswith("nfs") for path in finding.files[:1])
    if finding.rule == "N1" and of_nfs and not kind.startswith("nfs"):
        return NOT_HERE["N1-nfs"]
    if (make := TRIALS.get(finding.rule)) is None:
        return NOT_HERE.get(finding.rule, "nothing is known that replays it")
    if not finding.files:
        return "it names no file"
    return make(Asked(facts, finding, finding.files[0], ranks, most))


TRIALS: dict[str, Callable[[Asked], Trial | str]] = {
    "A1": collective.sieving,
    "A2": collective.sieving,
    "A3": accesses.once,
    "A4": accesses.gathered,
    "A5": accesses.in_order,
    "A6": accesses.aligned,
    "A7": collective.together_or_not,
    "C1": collective.aggregators,
    "C2": collective.aggregators,
    "C4": collective.aggregators,
    "C5": collective.together_or_not,
    "C6": collective.buffered,
    "C7": collective.unbuffered,
    "I1": accesses.by_all,
    "I3": accesses.by_all,
    "M1": metadata.many_files,
    "M2": metadata.few_open,
    "M4": metadata.many_files,
    "N1": collective.together_or_not,
    "T2": accesses.synced_once,
}
