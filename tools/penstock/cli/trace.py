"""trace.py: `penstock trace` says what a trace holds, and hands it to Darshan's tools and Perfetto."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.base import words
from penstock.base.printable import printable
from penstock.jobs.darshan.writer import write_darshan
from penstock.jobs.job import Job, Step
from penstock.jobs.trace.perfetto import write_perfetto
from penstock.jobs.trace.reader import read_trace

_STEPS_SHOWN = 12


def register(app: typer.Typer) -> None:
    app.command()(trace)


def trace(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that PENSTOCK_TRACE named.")],
    darshan: Annotated[
        Path | None,
        typer.Option("--darshan", metavar="FILE", help="Write a Darshan log to this file."),
    ] = None,
    perfetto: Annotated[
        Path | None,
        typer.Option(
            "--perfetto",
            metavar="FILE",
            help="Write JSON for ui.perfetto.dev to this file, compressed if it ends in .gz.",
        ),
    ] = None,
) -> None:
    """Show what a traced program did to files.

    PENSTOCK_TRACE=DIR makes a program of penstock trace itself. You see the newest run in DIR, commit by commit: the
    time of the slowest rank, and which phase took most of it.
    """
    job = read_trace(folder)
    _show(job)
    if darshan is not None:
        write_darshan(job, darshan)
        typer.echo(f"Darshan log: {darshan}")
    if perfetto is not None:
        write_perfetto(folder, perfetto)
        typer.echo(f"for ui.perfetto.dev: {perfetto}")


def _show(job: Job) -> None:
    nodes = len(set(job.hosts.values()))
    typer.echo(printable(job.program))
    typer.echo(f"{_count(job.ranks, 'rank')} on {_count(nodes, 'node')}, {words.seconds(job.seconds)}")
    for name, module in job.modules.items():
        prefix = name.replace("-", "")
        read, written = module.total(f"{prefix}_BYTES_READ"), module.total(f"{prefix}_BYTES_WRITTEN")
        seconds = sum(_seconds(record.times, prefix) for record in module.records)
        files = len({record.path for record in module.records})
        typer.echo(
            f"{name}: {words.size(written)} written, {words.size(read)} read, {_count(files, 'file')}, "
            f"{words.seconds(seconds)} of all ranks together"
        )
    if job.steps:
        typer.echo(f"\n{'at':>9}  {'took':>9}  {'bytes':>10}  {'writers':>7}  most of it in")
    longest = sorted(range(len(job.steps)), key=lambda i: -job.steps[i].seconds)[:_STEPS_SHOWN]
    for i in sorted(longest):
        typer.echo(_line(job.steps[i]))
    if len(job.steps) > _STEPS_SHOWN:
        typer.echo(f"the longest {_STEPS_SHOWN} of {len(job.steps)}")
    if job.recorder_seconds is not None:
        typer.echo(_recorder(job, job.recorder_seconds))
    for trouble in job.troubles:
        typer.echo(f"note: {printable(trouble)}")


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _seconds(times: dict[str, float], prefix: str) -> float:
    return sum(times.get(f"{prefix}_F_{kind}_TIME", 0.0) for kind in ("READ", "WRITE", "META"))


def _recorder(job: Job, seconds: float) -> str:
    """The overhead that the trace measured itself. A commit or read counts with the time of its slowest rank."""
    share = f"{100 * seconds / max(job.seconds, 1e-9):.2g} % of the run"
    if moving := sum(step.seconds for step in job.steps):
        share += f", {100 * seconds / moving:.2g} % of the time in commits and reads"
    return f"tracing took at most {words.seconds(seconds)} on any rank: {share}"


def _line(step: Step) -> str:
    phase = max(step.phases, key=lambda name: step.phases[name], default="-")
    share = f"{phase} {words.seconds(step.phases[phase])}" if phase in step.phases else "-"
    return printable(
        f"{words.seconds(step.start):>9}  {words.seconds(step.seconds):>9}  {words.size(step.bytes):>10}  "
        f"{len(step.writers):>7}  {share:<18}  {step.operation} {Path(step.path).name} {step.plan}"
    )
