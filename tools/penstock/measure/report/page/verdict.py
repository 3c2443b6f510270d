"""verdict.py: what a page says first: which method, how much faster, how sure, and where that holds."""

from collections import Counter
from dataclasses import dataclass

from penstock.base import words
from penstock.measure.report.advice import is_portable
from penstock.measure.report.page.model import BESIDE, CaseView, Line, Source
from penstock.measure.report.stored import error_of
from penstock.measure.studies import stats

NO_PLANS = ("metadata", "readers")  # workloads whose methods are no plans, and leave no file of their own


@dataclass(frozen=True)
class Row:
    """The verdict on one operation of one case. RATIO is of BEST to the method TO, the baseline, or where BEST is that
    itself, to the next best; None where there is no other.
    """

    case: CaseView
    operation: str
    best: Line
    portable: bool
    fastest: Line
    to: str
    ratio: stats.Interval | None
    sure: str

    @property
    def sentence(self) -> str:
        """How it compares."""
        if self.ratio is None:
            return "nothing to compare it with"
        low, high = self.ratio.low, self.ratio.high
        spread = "" if low is None or high is None else f" (95 % interval {words.interval(low, high)})"
        return f"{words.digits(self.ratio.median)} times the time of {self.to}{spread}"


def sureness(ratio: stats.Interval | None, smallest: float) -> str:
    if ratio is None:
        return "-"
    claim = stats.claim(ratio, smallest)
    return f"{claim}, sure to 95 %" if claim in ("faster", "slower") else claim


def rows(source: Source) -> list[Row]:
    return [
        row for case in source.cases for operation in case.operations() if (row := _row(case, operation)) is not None
    ]


def _row(case: CaseView, operation: str) -> Row | None:
    usable = [line for line in case.of(operation) if line.usable]
    usable = [line for line in usable if error_of(line.details) is None] or usable  # others round values
    if not usable:
        return None
    plans = case.workload.get("name") not in NO_PLANS
    portable = [line for line in usable if plans and is_portable(line.method)]
    best = min(portable or usable, key=lambda line: line.median)
    fastest = min(usable, key=lambda line: line.median)
    other = _other(case, best, usable)
    ratio = None if other is None else stats.ratio(best.seconds, other.seconds)
    sure = sureness(ratio, case.smallest(operation))
    return Row(case, operation, best, bool(portable), fastest, other.method if other else "", ratio, sure)


def _other(case: CaseView, best: Line, usable: list[Line]) -> Line | None:
    """What BEST is compared with."""
    others = [line for line in usable if line is not best]
    baseline = next((line for line in others if line.method == case.baseline), None)
    return baseline or min(others, key=lambda line: line.median, default=None)


def headline(source: Source) -> list[str]:
    """A sentence for each operation."""
    all_rows = rows(source)
    sentences = []
    for operation in dict.fromkeys(row.operation for row in all_rows):
        mine = [row for row in all_rows if row.operation == operation]
        (method, wins), *_ = Counter(row.best.method for row in mine).most_common(1)
        kind = "for one portable file" if mine[0].portable else "for speed"
        if len(mine) == 1:
            sentences.append(f"{operation.capitalize()}: {kind} use {method}: {mine[0].sentence}; {mine[0].sure}.")
            continue
        compared = [row for row in mine if row.best.method == method and row.ratio is not None]
        ratios = [row.ratio.median for row in compared if row.ratio is not None]
        others = {row.to for row in compared}
        spread = ""
        if len(others) == 1:
            ends = [words.digits(min(ratios)), words.digits(max(ratios))]
            between = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
            spread = f", at {between} times the time of {others.pop()}"
        sentences.append(
            f"{operation.capitalize()}: {kind} {method} has the shortest median in {wins} of {len(mine)} cases"
            f"{spread}{_how_sure(mine, method)}."
        )
    return sentences


def _how_sure(mine: list[Row], method: str) -> str:
    """Returns in parentheses how often METHOD's cases reach each degree of certainty; empty if none is compared."""
    counts = Counter(row.sure for row in mine if row.best.method == method and row.ratio is not None)
    return f" ({'; '.join(f'{sure}: {count}' for sure, count in counts.most_common())})" if counts else ""


def over_all(source: Source) -> list[str]:
    """Where something else than one portable file has the shortest median: what, and how it compares with that."""
    sentences = []
    for row in rows(source):
        if row.fastest is row.best:
            continue
        found = stats.ratio(row.fastest.seconds, row.best.seconds)
        if found is None:
            continue
        spread = "" if found.low is None else f" (95 % interval {words.interval(found.low, found.high)})"
        sentences.append(
            f"{row.operation}, {row.case.name}, {row.case.np} ranks: {row.fastest.method}, "
            f"{words.seconds(row.fastest.median)} against {words.seconds(row.best.median)} of {row.best.method}; "
            f"ratio of pairs {words.digits(found.median)}{spread}: "
            f"{sureness(found, row.case.smallest(row.operation))}."
        )
    return sentences


def under_load(source: Source) -> list[str]:
    """Whether the verdicts also hold beside a competing job."""
    sentences = []
    by_place = {(row.case.name, row.case.np, row.operation): row for row in rows(source)}
    for (name, np, operation), loud in by_place.items():
        quiet = by_place.get((name.removesuffix(BESIDE), np, operation))
        if not name.endswith(BESIDE) or quiet is None:
            continue
        where = f"{operation}, {quiet.case.name}, {np} ranks"
        if loud.best.method == quiet.best.method:
            sentences.append(f"{where}: {loud.best.method} is the choice with and without a competing job.")
            continue
        other = loud.case.line(quiet.best.method, operation)
        if other is None or not other.usable:
            continue
        found = stats.ratio(loud.best.seconds, other.seconds)
        sure = found is not None and stats.verdict(found, loud.case.smallest(operation)) in ("faster", "slower")
        what = (
            "only while the file system is quiet" if sure else "quiet; beside a competing job no difference is claimed"
        )
        sentences.append(
            f"{where}: that {quiet.best.method} is the choice holds {what} ({loud.best.method} leads there)."
        )
    return sentences


def troubles(source: Source) -> list[str]:
    sentences: dict[str, None] = {}
    for case, line in source.lines():
        where = f"{case.name}, {case.np} ranks: {line.method}"
        if line.error is not None:
            sentences[f"{where} failed: {line.error}"] = None
        elif not line.verified and not case.imported:
            sentences[f"{where} did not verify: what was read back is not what was written"] = None
    return list(sentences)
