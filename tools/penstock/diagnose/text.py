"""text.py: a diagnosis in the terminal."""

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from penstock.base import words
from penstock.base.printable import printable
from penstock.diagnose.diagnosis import Diagnosis
from penstock.diagnose.finding import ACHIEVED, HIGH, INFO, UNDECIDED, WARN, WITHDRAWN, Evidence, Finding
from penstock.diagnose.record import CONTAINED, call_sites, files
from penstock.diagnose.rules.common import number, share, size
from penstock.diagnose.tuning import tuning
from penstock.jobs.job import Job

STYLE = {HIGH: "bold red", WARN: "yellow"}
MOST_FILES = 5
MOST_SITES = 8
OUTCOMES = {
    ACHIEVED: "achieved",
    WITHDRAWN: "withdrawn, no gain here",
    UNDECIDED: "undecided here",
}


def print_diagnosis(diagnosis: Diagnosis, console: Console) -> None:
    console.print(Text(printable(diagnosis.verdict), style="bold"))
    job = diagnosis.job
    console.print(
        printable(f"{job.program or 'a program'}, job {job.job_id}: {words.count(job.ranks, 'rank', 'ranks')}, ")
        + f"{job.seconds:.4g} s, {job.core_hours:,.4g} core-hours\n"
    )
    if job.functions:
        console.print(f"{printable(first_site(job))}\n")
    for trouble in job.troubles:
        console.print(f"Note: {printable(trouble)}")
    for at, one in enumerate(diagnosis.findings, 1):
        _finding(at, one, diagnosis, console)
    if not diagnosis.findings:
        console.print("No rule has anything to say.")
    if len(diagnosis.worth) > 1:
        console.print(f"{together(diagnosis)}\n")
    for sentence in tuning(job):
        console.print(f"Plans: {printable(sentence)}\n")
    if job.functions:
        console.print(sites(job))
    console.print(_layers(diagnosis))
    if len(diagnosis.facts.layers) > 1:
        console.print(f"{CONTAINED}\n")
    if diagnosis.phases:
        console.print(_phases(diagnosis))
    console.print(_files(diagnosis))


def together(diagnosis: Diagnosis) -> str:
    """What all findings would save, which is less than their sum where they speak of the same time."""
    told = f"All of them together would save at most {diagnosis.saved_seconds:.3g} s of {diagnosis.job.seconds:.4g} s"
    same = any(one.overlaps for one in diagnosis.worth)
    return f"{told}: what several of them would save counts once." if same else f"{told}."


def first_site(job: Job) -> str:
    part, one = call_sites(job)[0]
    return f"{share(part)} of the I/O time is in {one.function} called from {one.place}."


def sites(job: Job) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="Where I/O is called", title_justify="left")
    for name in ("of I/O", "function", "called from", "calls", "mean rank", "slowest", "read", "written"):
        made.add_column(name, justify="left" if name in ("function", "called from") else "right", overflow="fold")
    for part, one in call_sites(job)[:MOST_SITES]:
        made.add_row(
            share(part), printable(one.function), printable(one.place), f"{one.calls:,}", f"{one.seconds:.3g} s",
            f"{one.slowest_seconds:.3g} s", size(one.read_bytes), size(one.written_bytes),
        )  # fmt: skip
    return made


def _finding(at: int, one: Finding, diagnosis: Diagnosis, console: Console) -> None:
    head = Text(f"{at}. ")
    head.append("WITHDRAWN" if one.withdrawn else one.severity, style=STYLE.get(one.severity, "dim"))
    head.append(printable(f" {one.rule} {one.title}"), style="bold")
    console.print(head)
    hours = one.seconds * diagnosis.job.ranks / 3600
    if one.severity == INFO and one.replayed is None:
        why = f"; not replayed: {printable(one.not_replayed)}" if one.not_replayed else ""
        brief = Text(
            f"{f'would save {one.saved_seconds:.3g} s' if one.saved_seconds else 'saves nothing by itself'}{why}"
        )
        console.print(Padding(brief, (0, 0, 1, 3), expand=False))
        return
    context = f"of {diagnosis.job.seconds:.4g} s, {hours:,.3g} core-hours (confidence {one.confidence:.0%})"
    if one.withdrawn:
        lines = [f"would save nothing: the {one.saved_seconds:.3g} s that counters suggest were not gained in replay"]
    elif one.replayed is not None and one.replayed.outcome == ACHIEVED:
        lines = [f"would save about {one.seconds:.3g} s {context}, if it gains as much there as in replay; "
                 f"counters suggest {one.saved_seconds:.3g} s"]  # fmt: skip
    else:
        lines = [f"would save about {one.seconds:.3g} s {context}"]
    if one.overlaps and one.seconds > 0:
        lines[0] += f"; {one.besides_seconds:.3g} s besides {' and '.join(dict.fromkeys(one.overlaps))}, the same time"
    if one.replayed is not None:
        lines.append(_replayed(one))
    elif one.not_replayed:
        lines.append(f"not replayed: {printable(one.not_replayed)}")
    of_log = [one.cause, *(f"{layer}: {text}" for layer, text in one.remedies.items())]
    of_log.append("evidence: " + "; ".join(_evidence(e) for e in one.evidence))
    lines += map(printable, of_log)
    for line in lines:
        console.print(Padding(Text(line), (0, 0, 0, 3), expand=False))
    console.print()


def _evidence(one: Evidence) -> str:
    return f"{one.name} = {number(one.value)}" + (f" ({one.meaning})" if one.meaning else "")


def _replayed(one: Finding) -> str:
    found = one.replayed
    assert found is not None
    note = f" ({printable(found.note)})" if found.note else ""
    gained = f"gain {share(found.gain)} of the time" if found.gain >= 0 else f"{found.ratio:.3g} times as long"
    expected = f"\n  {found.expected}" if found.expected else ""
    return "\n".join(
        [
            f"replayed {found.how} on {found.ranks} ranks and {found.file_system or 'this file system'}{note}:",
            f"  before {found.before_seconds:.3g} s, {_moved(found.before)}",
            f"  {found.remedy}: {found.after_seconds:.3g} s, {_moved(found.after)}",
            f"  {gained}, ratio {found.ratio:.3g} ({found.spread}): {OUTCOMES[found.outcome]}{expected}",
        ]
    )


def _moved(of: dict[str, float]) -> str:
    parts = [
        f"{size(of[f'{verb}_bytes'])} {verb} in {'1 call' if of[calls] == 1 else f'{of[calls]:,.0f} calls'}"
        for verb, calls in (("read", "reads"), ("written", "writes"))
        if of[calls] > 0
    ]
    return ", ".join(parts) or "nothing moved"


def _layers(diagnosis: Diagnosis) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="Where the time goes", title_justify="left")
    for name in ("interface", "mean rank", "slowest rank", "read", "written", "calls"):
        made.add_column(name, justify="left" if name == "interface" else "right")
    for one in diagnosis.facts.layers:
        made.add_row(
            one.module, share(one.mean_share), share(one.slowest_share), size(one.read_bytes), size(one.written_bytes),
            f"{one.operations:,}",
        )  # fmt: skip
    return made


def _phases(diagnosis: Diagnosis) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="Bursts that make half of the time", title_justify="left")
    for name in ("from", "to", "weight", "read", "written", "ranks", "files"):
        made.add_column(name, justify="right")
    weight = 0.0
    for one in sorted(diagnosis.phases, key=lambda each: -each.weight):
        if weight >= 0.5:
            break
        weight += one.weight
        made.add_row(
            f"{one.start:.4g} s", f"{one.end:.4g} s", share(one.weight), size(one.read), size(one.written),
            str(len(one.ranks)), str(len(one.files) or "?"),
        )  # fmt: skip
    return made


def _files(diagnosis: Diagnosis) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="Files that take longest", title_justify="left")
    for name in ("file", "on", "interface", "slowest rank", "read", "written", "ranks"):
        made.add_column(name, justify="left" if name in ("file", "on", "interface") else "right", overflow="fold")
    for one in files(diagnosis.facts)[:MOST_FILES]:
        made.add_row(
            printable(one["path"]), one["file_system"], one["module"], f"{one['seconds']:.4g} s",
            size(one["read_bytes"]), size(one["written_bytes"]), str(one["ranks"]),
        )  # fmt: skip
    return made
