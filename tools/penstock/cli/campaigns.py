"""campaigns.py: how `penstock bench` and `penstock campaign` run a campaign and show what came of it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import typer
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from penstock.base import words
from penstock.base.errors import UserError
from penstock.base.replaceable import must_be_replaceable
from penstock.cli.progress import make_progress
from penstock.cli.say import say
from penstock.measure.campaign import execute, record
from penstock.measure.campaign.estimate import Needs, estimate
from penstock.measure.campaign.request import Request
from penstock.measure.campaign.scratch import scratch
from penstock.measure.report import campaign as tables
from penstock.measure.studies.presets import STUDIES, repeated

LEAST_WIDTH = 120  # of a table: a log has no width, and it is better to wrap in a narrow terminal than to hide figures


def dry_run(request: Request, directory: Path) -> None:
    """Prints what would run, how long it would take and what it needs; measures only the device, for a second."""
    if request.program:
        raise UserError(
            f"--dry-run: {request.name} is a program of its own, which looks at disk and memory before it starts"
        )
    with scratch(directory):  # it can be written
        needs = estimate(request, directory)
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("ranks", "case", "of one file", "methods", "runs", "about"):
        made.add_column(name, justify="left" if name == "case" else "right", no_wrap=True)
    for job in needs.jobs:
        for case in job.cases:
            made.add_row(
                str(job.np),
                case.name,
                words.size(case.bytes),
                str(case.methods),
                str(case.methods * (request.repetitions + 1)),
                words.duration(case.seconds),
            )
        made.add_section()
    wide(made).print(made)
    _say_needs(request, needs, directory)
    if (refusal := needs.refusal(directory)) is not None:
        raise UserError(refusal)


def measure(request: Request, directory: Path, output: Path, arguments: list[str], resume: bool) -> None:
    """Runs what is left of REQUEST, keeps it in OUTPUT and prints it. Status 1 if a method failed or did not verify."""
    must_be_replaceable(output)
    content = record.load(output, request) if resume and output.exists() else record.new(request, arguments)
    ground = execute.Ground(directory.absolute(), output.absolute())
    if resume:
        execute.left_behind(ground, request, content)
    if not request.program and execute.jobs_left(request, content):
        with scratch(directory):
            refusal = estimate(request, directory).refusal(directory)
        if refusal is not None:
            raise UserError(refusal)
    console = Console()
    try:
        complaints = execute.execute(request, ground, content, _watch(console, request))
    except KeyboardInterrupt:
        if content["jobs"]:
            typer.echo(f"penstock: stopped; what was measured is in {output}: --resume goes on from there", err=True)
        raise
    if request.preset in STUDIES and content["jobs"]:
        repeated(content)
        record.save(output, content)
    if content["jobs"]:
        show(content)
        typer.echo(f"The whole record is in {output}; penstock report {output} -o report.html draws it")
    for sentence in dict.fromkeys(complaints or tables.troubles(content)):
        typer.echo(f"penstock: {sentence}", err=True)
    if complaints or not record.verified(content):
        raise typer.Exit(1)


def show(content: record.Content) -> None:
    made = tables.tables(content)
    console = wide(*made)
    say(f"\n{tables.headline(content)}\n")
    for one in made:
        console.print(one)
    for remark in tables.remarks(content):
        say(remark, "dim")
    conclusions = tables.conclusions(content)
    if conclusions is not None:
        console.print(conclusions)


def wide(*tables_: Table) -> Console:
    """Wide enough that no method's name is cut."""
    console = Console()
    needed = [Measurement.get(console, console.options.update(width=1000), one).maximum for one in tables_]
    return Console(width=max(console.width, LEAST_WIDTH, *needed, 0))


def _watch(console: Console, request: Request) -> Callable[[execute.Job], AbstractContextManager[execute.Listen]]:
    @contextmanager
    def watch(job: execute.Job) -> Iterator[execute.Listen]:
        ranks = f"{job.np} rank{'' if job.np == 1 else 's'}"
        place = request.ranks.index(job.np) + 1 if job.np in request.ranks else 1
        more = f", going on with {job.repetitions} of {request.repetitions} repetitions" if job.part else ""
        console.print(f"{ranks} (job {place} of {len(request.ranks)}){more}", highlight=False)
        with make_progress(console) as progress:
            yield progress.show

    return watch


def _say_needs(request: Request, needs: Needs, directory: Path) -> None:
    total = sum(job.seconds for job in needs.jobs)
    limit = "" if request.time_limit is None else f", at most {words.duration(request.time_limit)} for each job"
    disk, memory = (max(getattr(job, name) for job in needs.jobs) for name in ("disk_bytes", "memory_bytes"))
    device = f" (just measured: {needs.write:.0f} MiB/s write, {needs.read:.0f} MiB/s read)" if needs.write else ""
    sentences = [
        f"In all about {words.duration(total)}{limit}{device}.",
        f"Needs {words.size(disk)} of the {words.size(needs.free_bytes)} free in {directory} at a time, and "
        f"{words.size(memory)} of the {words.size(needs.memory_available)} of memory available.",
        *(f"Cut: {one}." for one in request.cut),
        *(f"Not measured: {one}." for one in needs.unavailable),
    ]
    for sentence in sentences:
        say(sentence)
