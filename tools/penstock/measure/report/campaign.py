"""campaign.py: a campaign as tables for a terminal: methods against numbers of ranks, and conclusions."""

from collections import Counter
from statistics import fmean
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from penstock.base import words
from penstock.measure.report.stored import sentences
from penstock.measure.studies import stats
from penstock.measure.studies.pooled import Pooled, Series

MOVING = {"write", "read"}


def headline(content: dict[str, Any]) -> str:
    of_ranks = Counter[int]()
    for job in content["jobs"]:  # a job that was resumed is two
        of_ranks[int(job["np"])] += int(job["record"]["repetitions"])
    repetitions = sorted(set(of_ranks.values()))
    scale = f", scaled by {content['scale']:g}" if content["scale"] is not None else ""
    ranks = ", ".join(str(np) for np in sorted(of_ranks))
    count = " or ".join(str(one) for one in repetitions) or "no"
    noun = "repetition" if repetitions == [1] else "repetitions"
    return f"{content['name']}{scale}: on {ranks or 'no'} ranks; {count} {noun}"


def tables(content: dict[str, Any]) -> list[Table]:
    """One for each case and operation: the median of every method on each number of ranks, the fastest standing out."""
    pooled = Pooled(content)
    operations = list(dict.fromkeys(series.operation for series in pooled.all()))
    made = []
    for case in pooled.cases():
        own = {series.operation for series in pooled.all() if series.case == case}
        if own & MOVING:
            made += [_table(pooled, case, operation) for operation in operations if operation in own]
        elif own:
            made.append(_operations(pooled, case))
    return made


def remarks(content: dict[str, Any]) -> list[str]:
    """What is left out of the study, and what could not be measured."""
    cut = [f"Cut: {one}." for one in content["cut"]]
    missing = dict.fromkeys(
        f"Not measured: {one['method']}: {one['reason']}."
        for job in content["jobs"]
        for one in job["record"].get("unavailable", [])
    )
    sets = dict.fromkeys(
        f"{job['np']} ranks: {sentence}"
        for job in content["jobs"]
        for case in job["record"]["cases"]
        for sentence in (*left_behind(case["results"]), *sentences(case["results"]))
    )
    return [*cut, *missing, *sets]


def left_behind(lines: list[dict[str, Any]]) -> list[str]:
    """What methods leave on the file system, how much of it is wasted, and what they fetch from it."""
    found = {str(line["method"]): line for line in lines if "inodes" in line}
    fetched = [
        f"{line['method']} reads {words.digits(line['system_call_bytes_per_unique'])} bytes by system calls for each "
        "byte of the files, on each node."
        for line in lines
        if "system_call_bytes_per_unique" in line
    ]
    return fetched + [
        f"{method} leaves {words.count(line['inodes'], 'file or folder', 'files and folders')}, "
        f"{words.size(line['file_bytes'])} in {words.size(line['allocated_bytes'])} of blocks, "
        f"{words.size(max(0, line['wasted_bytes']))} wasted."
        for method, line in found.items()
    ]


def troubles(content: dict[str, Any]) -> list[str]:
    """Methods that failed or did not verify."""
    return [f"{case}: {method} on {np} ranks: {error}" for (case, method, np), error in Pooled(content).errors.items()]


def conclusions(content: dict[str, Any]) -> Table | None:
    if not content["conclusions"]:
        return None
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    made.add_column("here", no_wrap=True)
    made.add_column("the study's conclusion", ratio=1)
    made.add_column("evidence", ratio=2, overflow="fold")
    style = {"reproduced": "green", "contradicted": "red"}
    for one in content["conclusions"]:
        made.add_row(
            Text(one["verdict"], style=style.get(one["verdict"], "dim")),
            Text(one["text"]),
            Text(one["evidence"], style="dim"),
        )
    return made


def _table(pooled: Pooled, case: str, operation: str) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=Text(f"{case}: {operation}"), title_justify="left")
    made.add_column("method", no_wrap=True)
    ranks = [np for np in pooled.ranks() if any(s.np == np and s.case == case for s in pooled.all())]
    for np in ranks:
        made.add_column(f"{np} rank{'' if np == 1 else 's'}", justify="right", no_wrap=True)
        made.add_column("MiB/s", justify="right", no_wrap=True)
    found = {method: [pooled.get(case, method, operation, np) for np in ranks] for method in pooled.methods(case)}
    fastest = [
        min((stats.interval(one.seconds).median for one in column if one is not None), default=None)
        for column in zip(*found.values(), strict=True)
    ]
    for method, row in found.items():
        cells = [cell for one, best in zip(row, fastest, strict=True) for cell in _cells(one, best)]
        made.add_row(Text(method), *cells)
    return made


def _operations(pooled: Pooled, case: str) -> Table:
    """A row for each operation of each method: the fastest rank, the mean, and the slowest, which counts."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=Text(case), title_justify="left")
    made.add_column("method", no_wrap=True)
    made.add_column("operation", no_wrap=True)
    ranks = [np for np in pooled.ranks() if any(s.np == np and s.case == case for s in pooled.all())]
    for np in ranks:
        made.add_column(f"{np} ranks: fastest", justify="right", no_wrap=True)
        made.add_column("mean", justify="right", no_wrap=True)
        made.add_column("slowest", justify="right", no_wrap=True)
    rows = dict.fromkeys((series.method, series.operation) for series in pooled.all() if series.case == case)
    for method, operation in rows:
        cells: list[str] = []
        for np in ranks:
            one = pooled.get(case, method, operation, np)
            cells += ["-"] * 3 if one is None else [words.seconds(one.over_ranks(pick)) for pick in (min, fmean, max)]
        made.add_row(Text(method), operation, *cells)
    return made


def _cells(series: Series | None, fastest: float | None) -> tuple[Text, Text]:
    if series is None:
        return Text("-"), Text("")
    found = stats.interval(series.seconds)
    style = "bold" if found.median == fastest else ""
    spread = "" if found.low is None else f" ({words.seconds_interval(found.median, found.low, found.high)})"
    rate = stats.interval(series.rates).median if series.bytes and series.rates else None
    return Text(words.seconds(found.median) + spread, style=style), Text(
        "" if rate is None else f"{rate:.0f}", style=style
    )
