"""advice.py: what a record says to do, in a few sentences."""

from penstock.base import words
from penstock.measure.report.results import Line, Record

PORTABLE_FORMATS = ("hdf5", "netcdf", "phdf5", "pnetcdf", "netcdf4")


def advice(record: Record) -> list[str]:
    """Returns what to use for each operation, compared to the baseline, in sentences.

    Only verified methods count, and those that round values only where all do.
    """
    return [sentence for operation in record.operations() for sentence in _operation(record, operation)]


def failures(record: Record) -> list[str]:
    """One sentence for each method that failed or whose file was wrong."""
    sentences: dict[str, str] = {}
    for line in record.lines:
        if line.error is not None:
            sentences[line.method] = f"{line.method} failed: {line.error}"
        elif not line.verified:
            sentences.setdefault(
                line.method, f"{line.method} did not verify: what was read back is not what was written"
            )
    return list(sentences.values())


def is_portable(method: str) -> bool:
    """Whether METHOD leaves one file that other tools read."""
    stem, _, parameters = method.partition(":")
    in_one_file = not any(word.startswith(("placement=", "parts=")) for word in parameters.split(","))
    return in_one_file and stem.split("/")[0] in PORTABLE_FORMATS and not stem.endswith(("/per_process", "/subfiles"))


def _operation(record: Record, operation: str) -> list[str]:
    usable = [line for line in record.of(operation) if line.usable and not line.control]
    usable = [line for line in usable if line.error_found is None] or usable
    if not usable:
        return [f"{operation}: no method worked."]
    portable = [line for line in usable if is_portable(line.method)]
    best = min(portable or usable, key=_median)
    kind = "one portable file" if portable else "speed"
    sentences = [f"{operation}: for {kind} use {best.method}: {_compared(best)}."]
    fastest = min(usable, key=_median)
    if _median(fastest) < _median(best):
        sentences.append(
            f"{operation}: the shortest median is {fastest.method}'s, "
            f"{words.seconds(_median(fastest))} against {words.seconds(_median(best))}."
        )
    return sentences


def _compared(line: Line) -> str:
    ratio = line.ratio
    if ratio is None:
        return "the others are compared with it"
    if ratio.low is None or ratio.high is None or min(ratio.low, ratio.median) <= 0:
        return f"{words.digits(ratio.median)} times the time of {ratio.to}, after too few repetitions to be sure"
    if ratio.verdict == "faster":
        evidence = words.interval(1 / ratio.high, 1 / ratio.low)
        return f"{words.digits(1 / ratio.median)} times as fast as {ratio.to} (95 % interval {evidence})"
    evidence = words.interval(ratio.low, ratio.high)
    if ratio.verdict == "slower":
        return f"it takes {words.digits(ratio.median)} times as long as {ratio.to} (95 % interval {evidence})"
    if not ratio.low <= 1 <= ratio.high:
        return (
            f"{words.digits(ratio.median)} times the time of {ratio.to} (95 % interval {evidence}), but here a method "
            "differs as much from itself, so no difference is claimed; more repetitions or a quieter machine may tell"
        )
    return (
        f"no detectable difference from {ratio.to} "
        f"(it takes {words.digits(ratio.median)} times as long, 95 % interval {evidence})"
    )


def _median(line: Line) -> float:
    assert line.median is not None
    return line.median
