"""bench.py: `penstock bench` runs penstock-bench under mpiexec, shows how it goes, and explains its record."""

import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from json import dumps
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from penstock.campaign import ior, launch
from penstock.campaign.preset import Job, run_preset
from penstock.campaign.run import run
from penstock.cli.progress import make_progress
from penstock.errors import UserError
from penstock.report import counts, ratios
from penstock.report.advice import advice, failures
from penstock.report.results import read_record
from penstock.report.table import headline, remarks, table

PROGRAM = "penstock-bench"
RANKS = 4
METHODS = "hdf5/two_phase,hdf5/independent,raw/two_phase,raw/per_process,raw/gather"
LEAST_WIDTH = 120  # of a table: a log has no width of its own, and a narrow terminal may rather wrap than hide figures


def register(app: typer.Typer) -> None:
    # Everything that is not declared here is penstock-bench's own: it has the one table of its options.
    settings = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    app.command(context_settings=settings, options_metavar="WORKLOAD [OPTIONS]")(bench)


def bench(
    context: typer.Context,
    np: Annotated[int | None, typer.Option("--np", help=f"Ranks; by default {RANKS}.")] = None,
    mpi: Annotated[launch.Mpi, typer.Option("--mpi", help="The MPI library to run under.")] = launch.Mpi.openmpi,
    methods: Annotated[
        str | None, typer.Option("--methods", help=f"FORMAT/TRANSPORT[:name=value,...],...; by default {METHODS}")
    ] = None,
    preset: Annotated[
        str | None, typer.Option("--preset", help="Instead of WORKLOAD: many cases in one run, and ratios from it.")
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", metavar="IDS", help="Of a preset: only these ratios, 1a,4,...")
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", metavar="SECONDS", help="Start no repetition that would end later."),
    ] = None,
    count_only: Annotated[
        bool,
        typer.Option(
            "--count-only", help="Write nothing: count what WORKLOAD would send on --np-virtual 64,256,1024,4096 ranks."
        ),
    ] = False,
    directory: Annotated[
        Path,
        typer.Option("--dir", metavar="DIR", help="On the file system to measure; holds a scratch folder meanwhile."),
    ] = Path(),
    json: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Keep the whole record here.")] = None,
    wanted_help: Annotated[bool, typer.Option("--help", help="Show this message and exit.")] = False,
) -> None:
    """Compare ways of writing and reading one workload on this machine, and say which to use.

    WORKLOAD and the options that are not listed here are those of penstock-bench; --help shows them below.
    """
    if wanted_help:
        _show_help(context)
        return
    if count_only:
        if np is not None:
            raise UserError("--count-only is the work of one process: --np-virtual says for how many ranks")
        given = _given({"--methods": methods, "--preset": preset, "--only": only, "--time-limit": time_limit})
        explain_counts(mpi, [*context.args, *given], json)
        return
    np = RANKS if np is None else np
    if np < 1:
        raise UserError(f"--np must be at least 1, not {np}")
    if preset is not None:
        if methods is not None:
            raise UserError(f"--preset {preset} brings its own cases: --methods cannot stand beside it")
        with _scratch(directory, keep=False) as scratch:
            job = Job(mpi, np, ["--preset", preset, *context.args], only, time_limit, scratch)
            explain_preset(job, json)
        return
    if not context.args:
        raise UserError("which workload? See penstock bench --help")
    if context.args[0] == "ior":
        said = ior.translate(context.args[1:])
        context.args[1:] = said.arguments
        methods, directory = methods or said.methods, said.directory or directory
    context.args += _given({"--only": only, "--time-limit": time_limit})
    program = launch.program(PROGRAM, mpi)
    with _scratch(directory, keep="--keep" in context.args) as scratch:
        record_path = json if json is not None else scratch / "record.json"
        before = _identity(record_path)
        given = [
            *context.args,
            "--methods",
            methods or METHODS,
            "--dir",
            str(scratch),
            "--json",
            str(record_path),
            "--progress",
        ]
        with make_progress(Console()) as progress:
            outcome = run([*launch.mpiexec(mpi, np), str(program), *given], launch.environment(), progress.show)
        if outcome.status != 0 and _identity(record_path) == before:
            raise UserError(outcome.complaint(PROGRAM), 2 if outcome.status == 2 else 1)
        explain(record_path)
        if json is not None:
            typer.echo(f"The whole record is in {json}")
    if outcome.status != 0:
        raise typer.Exit(1)


def explain_counts(mpi: launch.Mpi, arguments: list[str], keep: Path | None) -> None:
    """Has one process count what ARGUMENTS ask for, and prints it; the record goes to KEEP."""
    with tempfile.TemporaryDirectory(prefix="penstock-counts-") as folder:
        record = keep if keep is not None else Path(folder) / "counts.json"
        words = ["--count-only", *arguments, "--json", str(record), "--progress"]
        command = [*launch.mpiexec(mpi, 1), str(launch.program(PROGRAM, mpi)), *words]
        outcome = run(command, launch.environment(), lambda _event: None)
        if outcome.status != 0:
            raise UserError(outcome.complaint(PROGRAM), 2 if outcome.status == 2 else 1)
        counted = counts.read_counts(record)
    rows = counts.table(counted)
    console = _console(rows)
    console.print(f"\n{counts.headline(counted)}", highlight=False, soft_wrap=True)
    console.print(rows)
    for remark in counts.REMARKS:
        console.print(remark, style="dim", highlight=False, markup=False, soft_wrap=True)
    if keep is not None:
        typer.echo(f"The whole record is in {keep}")


def explain_preset(job: Job, keep: Path | None) -> None:
    """Runs JOB and prints its ratios; the whole record goes to KEEP. Status 1 if a method failed or did not verify."""
    with make_progress(Console()) as progress:
        outcome, content = run_preset(job, progress.show)
    if content is None:
        raise UserError(outcome.complaint(PROGRAM), 2 if outcome.status == 2 else 1)
    if keep is not None:
        partial = keep.with_name(keep.name + ".partial")
        partial.write_text(dumps(content, indent=1) + "\n", encoding="utf-8")
        partial.replace(keep)
    preset = ratios.preset_of(content, keep or job.scratch)
    rows = ratios.table(preset)
    console = _console(rows)
    console.print(f"\n{ratios.headline(preset)}", highlight=False, soft_wrap=True)
    console.print(rows)
    for remark in ratios.remarks(preset):
        console.print(remark, style="dim", highlight=False, markup=False, soft_wrap=True)
    if keep is not None:
        typer.echo(f"The whole record is in {keep}")
    for sentence in ratios.troubles(preset):
        typer.echo(f"penstock: {sentence}", err=True)
    if outcome.status != 0 or not preset.verified:
        raise typer.Exit(1)


def explain(path: Path) -> None:
    """Prints the record in PATH as a table with its advice. Status 1 if a method failed or did not verify."""
    record = read_record(path)
    rows = table(record)
    console = _console(rows)
    console.print(f"\n{headline(record)}", highlight=False, soft_wrap=True)
    console.print(rows)
    for remark in remarks(record):
        console.print(remark, style="dim", highlight=False, markup=False, soft_wrap=True)
    console.print()
    for sentence in advice(record):
        console.print(sentence, style="bold", highlight=False, markup=False, soft_wrap=True)
    for sentence in failures(record):
        typer.echo(f"penstock: {sentence}", err=True)
    if not record.verified or failures(record):
        raise typer.Exit(1)


def _given(options: dict[str, str | float | None]) -> list[str]:
    return [word for name, value in options.items() if value is not None for word in (name, str(value))]


def _console(rows: Table) -> Console:
    """Wide enough that no method's name is cut."""
    console = Console()
    needed = Measurement.get(console, console.options.update(width=1000), rows).maximum
    return Console(width=max(console.width, LEAST_WIDTH, needed))


@contextlib.contextmanager
def _scratch(directory: Path, keep: bool) -> Iterator[Path]:
    """A new folder under DIRECTORY, removed whatever happens unless it is to be kept."""
    if not directory.is_dir():
        raise UserError(f"--dir {directory}: {'not a folder' if directory.exists() else 'no such folder'}")
    try:
        folder = Path(tempfile.mkdtemp(prefix="penstock-bench-", dir=directory.absolute()))
    except OSError as error:
        raise UserError(f"--dir {directory}: {error.strerror}") from None
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _identity(path: Path) -> tuple[int, int] | None:
    """Tells a file that was just written from one that was there before."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_ino, about.st_mtime_ns


def _show_help(context: typer.Context) -> None:
    typer.echo(context.get_help())
    for mpi in launch.Mpi:
        with contextlib.suppress(UserError):
            program = launch.program(PROGRAM, mpi)
            command = [*launch.mpiexec(mpi, 1), str(program), "--help"]
            environment = launch.environment()
            typer.echo(subprocess.run(command, env=environment, check=False, capture_output=True, text=True).stdout)
            return
