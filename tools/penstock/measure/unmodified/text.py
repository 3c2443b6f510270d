"""text.py: reports of unchanged programs in words: first the sentence that matters, then a block for each file."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from penstock.base import words
from penstock.base.printable import printable
from penstock.measure.unmodified.report import Background, File, Passed, Report

MOST_FILES = 6
OPEN = "MPI_File_open"  # passed through: all calls of that opening are


def lines(report: Report) -> list[str]:
    """Harmless for a terminal; details are indented."""
    told = [headline(report), f"  {about(report)}"]
    shown = shown_files(report)
    for one in shown:
        told.append(f"  {shown_path(one.path)}: {how(one)}")
        told += [f"    {label}: {text}" for label, text in block(one)]
    if len(report.files) > len(shown):
        more = words.count(len(report.files) - len(shown), "file", "files")
        told.append(f"  and {more} more (--report json has all)")
    told += [f"  passed through: {text}" for text in passed(report.passed)]
    told += [f"  warning: {text}" for text in report.warnings]
    return [printable(one) for one in told]


def shown_files(report: Report) -> list[File]:
    """The files with errors, then those that took longest, as many as one reads."""
    order = sorted(report.files, key=lambda one: (not one.errors, -one.seconds_most))
    return order[: max(MOST_FILES, sum(bool(one.errors) for one in order))]


def headline(report: Report) -> str:
    """ "3 files: 400 collective writes of 8 KiB a rank became 3 movements and 16 writes of 4 MiB; ..." """
    files = words.count(len(report.files), "file", "files")
    spent = f"{words.seconds(report.io_mean)} in I/O of {words.seconds(report.seconds)}"
    if report.io_most > 1.2 * report.io_mean:
        spent += f" (mean rank; {words.seconds(report.io_most)} in the slowest)"
    failed = f"{words.count(len(report.errors), 'error', 'errors')}, see below; " if report.errors else ""
    return f"{failed}{f'{files}: ' if report.files else ''}{became(report.files)}; {spent}"


def became(files: Sequence[File]) -> str:
    """What calls became which; or that nothing, or nothing else, was done."""
    asked = list(_asked(files))
    left = sum(OPEN in file.passed for file in files)
    through = sum(one.count for file in files for name, one in file.passed.items() if name != OPEN)
    asides = [f"{words.count(left, 'file was', 'files were')} left to the MPI library"] if left else []
    asides += [f"{words.count(through, 'call was', 'calls were')} passed through to the MPI library"] if through else []
    aside = " and ".join(asides)
    if not files:
        return "MPI-IO was not used"
    if not asked:
        return aside or "nothing was read or written"
    told = f"{_joined(asked)} became {_joined(_made(files)) or 'no call of the file system'}"
    return f"{told}; {aside}" if aside else told


def about(report: Report) -> str:
    """The job, and how it was asked to be done."""
    kept = "nothing is kept back" if report.defer == "none" else f"{report.defer or 'no'} writes are kept back"
    if report.defer != "none" and report.memory_bytes:
        kept += f", at most {words.size(report.memory_bytes)} of each rank"
    ranks = words.count(report.ranks, "rank", "ranks")
    return f"{report.program}, {ranks}, {report.mpi or 'an unknown MPI'}; plan {report.plan or 'auto'}; {kept}"


def how(file: File) -> str:
    """By which plan FILE was written or read, and how long that took."""
    plan = f"{file.plan or 'no plan'}{f' ({file.reason})' if file.reason else ''}"
    times = "once" if file.opened == 1 else f"{file.opened:,} times"
    ranks = words.count(file.ranks, "rank", "ranks")
    took = f"; {words.seconds(file.seconds_mean)} of the mean rank" if file.seconds_mean > 0 else ""
    return f"{plan}; opened {times} by {ranks}{took}"


def block(file: File) -> Iterator[tuple[str, str]]:
    """What there is to say of FILE, each under a label."""
    if asked := [_function(name, file) for name in file.calls if file.calls[name].bytes]:
        yield "called", "; ".join(asked)
    made = list(_made([file]))
    if file.storage.metadata:
        made.append(f"{file.storage.metadata:,} other calls")
    if made:
        yield "made", _joined(made)
    if file.moves.count:
        why = ", ".join(f"{times:,} x {reason}" for reason, times in file.moves.why.items())
        yield "moved", f"{_times(file.moves.count)}{f' ({why})' if why else ''}; {words.seconds(file.moves.seconds)}"
    if kept := file.kept.calls:
        yield (
            "kept back",
            (
                f"{kept:,} {'call' if kept == 1 else 'calls'} of {words.size(file.kept.bytes)} in all, for at most "
                f"{words.seconds(file.kept.seconds_most)}; at most {words.size(file.kept.bytes_most)} in one rank"
            ),
        )
    yield from _background(file.background)
    for text in passed(file.passed):
        yield "passed through", text
    if file.hints:
        yield "hints", "; ".join(f"{name}: {text}" for name, text in file.hints.items())
    for error in file.errors:
        yield "error", error


def _background(one: Background) -> Iterator[tuple[str, str]]:
    if one.why_not:
        yield "not in the background", one.why_not
    if one.bytes:
        told = (
            f"{words.size(one.bytes)}, for at most {words.seconds(one.seconds_most)} and {words.size(one.bytes_most)}"
        )
        told += (
            f" in one rank; the program waited {words.seconds(one.waited)} for it"
            if one.waited >= 1e-3
            else " in one rank"
        )
        yield "in the background", told
    if one.at_once:
        yield "no room", f"{words.size(one.at_once)} were written at once: servers:buffer_bytes gives more"
    if one.lost:
        yield "LOST", f"{words.size(one.lost)} could not be written in the background"


def lost(report: Report) -> list[str]:
    """Of each file of which something was lost after the program had closed it, and no call could say so."""
    return [
        f"LOST: {words.size(one.background.lost)} of {shown_path(one.path)} could not be written in the background: "
        f"{one.errors[-1] if one.errors else 'no reason is known'}"
        for one in report.files
        if one.background.untold
    ]


def passed(found: Mapping[str, Passed]) -> list[str]:
    """One text for each reason."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for name, one in found.items():
        by_reason[one.why].append(f"{one.count:,} {name}")
    return [f"{', '.join(names)}{f' ({why})' if why else ''}" for why, names in by_reason.items()]


def shown_path(path: str) -> str:
    """PATH as a person here would name it."""
    here = Path.cwd()
    return os.path.relpath(path, here) if Path(path).is_relative_to(here) else path


def is_collective(function: str) -> bool:
    return "_all" in function or "_ordered" in function


def _function(name: str, file: File) -> str:
    one = file.calls[name]
    return f"{one.count:,} {name} of {words.size(one.bytes / one.count)}, {words.seconds(one.seconds)} of all ranks"


def _asked(files: Sequence[File]) -> Iterator[str]:
    """Calls that were taken over: a collective one of all ranks is one call."""
    for verb in ("write", "read"):
        for kind in ("collective", "independent"):
            calls, pieces, moved = 0.0, 0, 0
            for file in files:
                for name, one in file.calls.items():
                    if verb not in name or is_collective(name) != (kind == "collective") or one.bytes == 0:
                        continue
                    count = max(0, one.count - (file.passed[name].count if name in file.passed else 0))
                    calls += count / file.ranks if kind == "collective" else count
                    pieces, moved = pieces + count, moved + one.bytes * count // one.count
            if pieces:
                each = " a rank" if kind == "collective" and pieces > calls else ""
                yield f"{_count(calls, kind, verb)} of {words.size(round(moved / pieces))}{each}"


def _count(calls: float, kind: str, verb: str) -> str:
    return f"{calls:,.0f} {kind} {verb}{'' if calls == 1 else 's'}"


def _made(files: Sequence[File]) -> Iterator[str]:
    """What the file system was asked for instead."""
    moves = sum(one.moves.count for one in files)
    if moves:
        yield f"{moves:,} {'movement' if moves == 1 else 'movements'}"
    for verb, number, moved in (
        ("write", sum(one.storage.writes for one in files), sum(one.storage.write_bytes for one in files)),
        ("read", sum(one.storage.reads for one in files), sum(one.storage.read_bytes for one in files)),
    ):
        if number:
            yield f"{number:,} {verb}{'' if number == 1 else 's'} of {words.size(round(moved / number))}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _joined(parts: Iterable[str]) -> str:
    *first, last = list(parts) or [""]
    return f"{', '.join(first)} and {last}" if first else last
