"""doctor.py: `penstock doctor`: why a run's I/O is slow, what will help, and the proof."""

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column

from penstock.base import launch
from penstock.base.errors import UserError, must_be_folder
from penstock.base.links import followed
from penstock.base.printable import printable
from penstock.cli import options
from penstock.cli.say import unbroken

if TYPE_CHECKING:
    from penstock.diagnose.diagnosis import Diagnosis
    from penstock.diagnose.replay.play import Stage


def register(app: typer.Typer) -> None:
    app.command("doctor")(doctor)


def doctor(
    logs: Annotated[
        list[Path],
        typer.Argument(
            metavar="LOG|TRACE|DIR",
            help="One run: a Darshan log, or a folder of PENSTOCK_TRACE or `penstock profile`. Or several runs of one "
            "program at several scales. Or a folder of logs.",
        ),
    ],
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the full result as JSON; - for stdout.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the result as one self-contained page.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="Tell the model how many steps the program wrote.")
    ] = None,
    fields: Annotated[
        int | None, typer.Option("--fields", min=1, help="Tell the model how many fields a step has.")
    ] = None,
    most: Annotated[int, typer.Option("--most", min=1, help="List so many jobs of a folder of logs.")] = 20,
    processes: options.Processes = None,
    ceiling: Annotated[
        str | None,
        typer.Option(
            "--ceiling", metavar="SIZE", help="Assume that the file system gives so many bytes a second: 40GiB."
        ),
    ] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Run the pattern of each finding here, before and after its remedy.")
    ] = False,
    np: Annotated[int, typer.Option("--np", min=1, help="Replay on at most so many ranks.")] = 8,
    directory: Annotated[
        Path | None, typer.Option("--dir", metavar="SCRATCH", help="Replay on the file system of this folder.")
    ] = None,
    repetitions: Annotated[
        int, typer.Option("--repetitions", min=1, help="Replay so often; fewer than 6 give no 95 % interval.")
    ] = 8,
    budget: Annotated[
        float,
        typer.Option("--budget", min=5, metavar="SECONDS", help="Replay for so long at most, all findings together."),
    ] = 60,
    mpi: Annotated[launch.Mpi, typer.Option("--mpi", help="Replay with this MPI library.")] = launch.HERE,
) -> None:
    """Say why the I/O of a run is slow and what will help.

    Each finding says what it costs. Several runs of one program at several scales give a law of growth. Of a folder of
    logs you see which jobs lose most.
    """
    if not replay and directory is not None:
        raise UserError("--dir is where --replay plays: add --replay")
    from penstock.jobs.any_job import is_run, read_job

    if len(logs) == 1 and logs[0].is_dir() and not is_run(logs[0]):
        if replay:
            raise UserError(f"{logs[0]}: --replay takes one log, not a folder of them")
        _many(logs[0], json, most, processes)
        return
    from penstock.diagnose.diagnosis import diagnose
    from penstock.diagnose.model import fit
    from penstock.diagnose.model_text import print_model
    from penstock.diagnose.record import to_record
    from penstock.diagnose.replay.play import Stage
    from penstock.diagnose.text import print_diagnosis
    from penstock.measure.campaign.request import parse_size

    most_bytes = None if ceiling is None else parse_size(ceiling)
    if most_bytes == 0:
        raise UserError("--ceiling 0: a file system that gives nothing")
    found = sorted((diagnose(read_job(log), most_bytes) for log in logs), key=lambda one: one.job.ranks)
    if replay:
        stage = Stage(followed(directory or Path.cwd()), np, mpi, repetitions, budget)
        found[-1] = _replayed(found[-1], stage)
    factors = {name: value for name, value in (("steps", steps), ("fields", fields)) if value is not None}
    model = fit([one.job for one in found], factors)
    if html is not None:
        from penstock.diagnose.page import build

        _write(html, build.page(found[-1], model))
    if _written(json, to_record(found[-1], model) if json else {}):
        return
    console = unbroken()
    if len(found) == 1:
        print_diagnosis(found[0], console)
    else:
        for one in found:
            console.print(printable(f"{one.job.ranks} ranks: {one.verdict}"))
    if model.says_more:
        print_model(model, console)


def _replayed(diagnosis: "Diagnosis", stage: "Stage") -> "Diagnosis":
    from penstock.diagnose.replay.replay import replayed

    must_be_folder(stage.directory)
    with replay_bar(Console(stderr=True)) as bar:
        task = bar.add_task(f"{stage.seconds:.3g} s at most", total=None)
        return replayed(
            diagnosis,
            stage,
            lambda what, done, of: bar.update(task, description=printable(what), completed=done, total=of),
        )


def replay_bar(console: Console) -> Progress:
    """The text gives way, not the bar and the time."""
    column = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    text = TextColumn("Replaying {task.description}", markup=False, table_column=column)
    columns = (SpinnerColumn(), text, BarColumn(20), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, expand=True)


def _many(folder: Path, json: Path | None, most: int, processes: int | None) -> None:
    from penstock.diagnose import many
    from penstock.diagnose.many_text import print_jobs

    paths = many.logs_in(folder)
    if not paths:
        raise UserError(f"{folder}: {many.NO_LOGS}")
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Reading logs", total=len(paths))
        found = list(many.look_at(paths, processes, lambda: bar.advance(task)))
    if not _written(json, many.to_record(folder, found) if json else {}):
        print_jobs(found, unbroken(), most)


def _written(path: Path | None, content: dict[str, Any]) -> bool:
    """Whether it went to standard output, where then nothing else belongs."""
    if path is None:
        return False
    text = json_text.dumps(content, indent=1) + "\n"
    if str(path) == "-":
        typer.echo(text, nl=False)
        return True
    _write(path, text)
    return False


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="replace")  # of names that are no UTF-8
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
