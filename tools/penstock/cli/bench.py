"""bench.py: `penstock bench` runs penstock-bench under mpiexec, shows how it goes, and explains its record."""

import contextlib
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from penstock.base import launch
from penstock.base.errors import UserError
from penstock.cli import campaigns, regret
from penstock.cli.campaigns import wide
from penstock.cli.options import DryRun, Mpi
from penstock.cli.problems import stands_for, workload_like
from penstock.cli.progress import make_progress, watching
from penstock.cli.say import say
from penstock.measure import records
from penstock.measure.campaign import ior, program
from penstock.measure.campaign.record import save
from penstock.measure.campaign.request import Case, Request, parse_ranks, parse_size, split_words
from penstock.measure.campaign.run import run
from penstock.measure.campaign.scratch import scratch as make_scratch
from penstock.measure.report import counts, ratios
from penstock.measure.report.advice import advice, failures
from penstock.measure.report.results import read_record
from penstock.measure.report.table import headline, remarks, table
from penstock.measure.studies import presets
from penstock.measure.studies.presets import STUDIES, Asked
from penstock.measure.studies.presets.study import DEFAULT_RANKS, DEFAULT_SCALE
from penstock.measure.studies.ratio_results import count
from penstock.measure.studies.ratios import Job, run_preset
from penstock.measure.tune import wisdom
from penstock.measure.tune.candidates import DEFAULT, transport_of
from penstock.measure.tune.choose import LEAST_FOR_INTERVAL, OPERATIONS, choose, entries

PROGRAM = "penstock-bench"
RANKS = 1 if launch.HERE is launch.Mpi.serial else 4
METHODS = "hdf5/two_phase,hdf5/independent,raw/two_phase,raw/per_process,raw/gather"
REPETITIONS = 6
PROGRAMS = ("metadata", "readers")  # in penstock-bench, with options of their own


def register(app: typer.Typer) -> None:
    # Everything that is not declared here is penstock-bench's own: it has the one table of its options.
    settings = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    app.command(context_settings=settings, options_metavar="WORKLOAD [OPTIONS]")(bench)


def bench(
    context: typer.Context,
    np: Annotated[
        str | None,
        typer.Option("--np", metavar="N,...", help=f"Use so many ranks [{RANKS}]; several numbers make a campaign."),
    ] = None,
    mpi: Mpi = launch.HERE,
    methods: Annotated[
        str | None, typer.Option("--methods", help=f"Compare these: FORMAT/TRANSPORT[:name=value,...],... [{METHODS}]")
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            help=f"Run this: ratios, {regret.NAME} (also of WORKLOAD, RECORD or TRACE), or a study: "
            f"{', '.join(STUDIES)}.",
        ),
    ] = None,
    scale: Annotated[
        float | None, typer.Option("--scale", help=f"Multiply the bytes of a study by this [{DEFAULT_SCALE}].")
    ] = None,
    largest: Annotated[
        str | None,
        typer.Option("--largest", metavar="SIZE", help="Limit each file of a study to this [memory / 16]."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Measure only what the --json file of a campaign or study lacks.")
    ] = False,
    dry_run: DryRun = False,
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="IDS", help="Measure only these ratios: 1a,4,... (of regret: cases)"),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", metavar="SECONDS", help="Start no repetition that would end after this."),
    ] = None,
    count_only: Annotated[
        bool,
        typer.Option(
            "--count-only", help="Write nothing; count what WORKLOAD would send on --np-virtual 64,256,1024,4096 ranks."
        ),
    ] = False,
    directory: Annotated[
        Path,
        typer.Option(
            "--dir", metavar="DIR", help="Measure the file system of this folder, in a scratch folder that is removed."
        ),
    ] = Path(),
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the full record to this file.")
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option("--wisdom", metavar="FILE", help="Keep what is faster than the default plan in this file."),
    ] = None,
    wanted_help: Annotated[bool, typer.Option("--help", "-h", help="Show this message and exit.")] = False,
) -> None:
    """Compare ways to write a workload here; say which to use.

    Every file is read back and checked. WORKLOAD and further options are those of penstock-bench, which are listed
    below.
    """
    if wanted_help:
        _show_help(context)
        return
    if only is not None and preset is None:
        raise UserError("--only chooses from a --preset")
    several = (np is not None and len(parse_ranks(np)) > 1) or dry_run or resume
    _check_wisdom(keep, preset is None and not count_only and not several, context.args, methods)
    if count_only:
        if np is not None:
            raise UserError("--count-only is the work of one process: --np-virtual says for how many ranks")
        if preset is not None:
            raise UserError("--count-only measures nothing: --preset cannot stand beside it")
        given = _given({"--methods": methods, "--time-limit": time_limit})
        explain_counts(mpi, [*context.args, *given], json)
        return
    if resume and json is None:
        raise UserError("--resume goes on with the file of --json: name it")
    options = Campaign(mpi, np, scale, largest, time_limit, directory, json, resume, dry_run)
    if preset is not None and methods is not None:
        raise UserError(f"--preset {preset} brings its own cases: --methods cannot stand beside it")
    if preset is not None and preset != "ratios":
        run_study(preset, only, context.args, options)
        return
    if context.args[:1] and context.args[0] in PROGRAMS:
        run_program(context.args, methods, options)
        return
    if several:
        run_several(context.args, preset, methods, options)
        return
    if scale is not None or largest is not None:
        raise UserError(f"--scale and --largest are of a study: --preset {', '.join(STUDIES)}")
    ranks = RANKS if np is None else parse_ranks(np)[0]
    if preset is not None:
        words = split_words(context.args, program.options(mpi)["Run"])
        run_ratios(Job(mpi, ranks, words, only, time_limit, directory), json)
        return
    context.args += _given({"--time-limit": time_limit})
    run_one(mpi, ranks, context.args, methods, directory, json, keep)


def _check_wisdom(keep: Path | None, alone: bool, arguments: list[str], methods: str | None) -> None:
    """Before minutes of measuring."""
    if keep is None:
        return
    if not alone or arguments[:1] in ([name] for name in PROGRAMS):
        raise UserError("--wisdom is for one WORKLOAD on one number of ranks")
    must_be_foreground(arguments)
    first = (methods or "").partition(",")[0]
    if transport_of(first) != DEFAULT or "raw/per_process" in (methods or "").split(","):
        raise UserError(
            f"--wisdom compares with the default plan: name FORMAT/{DEFAULT} first of --methods, "
            "and not raw/per_process, which would be the baseline"
        )
    wisdom.must_be_writable(keep)


def must_be_foreground(arguments: list[str]) -> None:
    if any(word.partition("=")[0] == "--compute" for word in arguments):
        raise UserError("--compute measures writing in the background, for which wisdom is not used")


def run_ratios(job: Job, json: Path | None) -> None:
    with make_scratch(job.scratch, keep=False) as scratch:
        explain_preset(replace(job, scratch=scratch), json)


def run_one(
    mpi: launch.Mpi,
    ranks: int,
    arguments: list[str],
    methods: str | None,
    directory: Path,
    json: Path | None,
    keep: Path | None,
) -> None:
    """One workload on one number of ranks."""
    if not arguments:
        raise UserError("which workload? See penstock bench --help")
    arguments, methods, directory = of_ior(arguments, methods, directory)
    command = launch.command(PROGRAM, mpi, ranks)
    with make_scratch(directory, keep="--keep" in arguments) as scratch:
        record_path = json if json is not None else scratch / "record.json"
        before = _identity(record_path)
        given = [*arguments, "--methods", methods or METHODS, "--dir", str(scratch), "--json", str(record_path)]
        with make_progress(Console()) as progress:
            outcome = run([*command, *given, "--progress"], launch.environment(), progress.show)
        if outcome.status != 0 and _identity(record_path) == before:
            raise UserError(outcome.complaint(PROGRAM), 2 if outcome.status == 2 else 1)
        explain(record_path)
        if json is not None:
            typer.echo(f"The whole record is in {json}")
        if keep is not None:
            keep_wisdom(mpi, record_path, keep)
    if outcome.status != 0:
        raise typer.Exit(1)


def keep_wisdom(mpi: launch.Mpi, record: Path, file: Path) -> None:
    """Adds what RECORD shows to the wisdom in FILE."""
    content = records.read(record, records.BENCH)
    common = program.common_parameters(mpi)
    choices = [choose(content, operation, str(content["baseline"]), common=common) for operation in OPERATIONS]
    found = entries(choices)
    if not found:
        say(f"Nothing was kept in {file}: under {LEAST_FOR_INTERVAL} repetitions give no 95 % interval.")
        return
    wisdom.keep(file, found)
    for one in choices:
        say(f"Kept in {file}: {one.operation} by {one.plan}.")


def of_ior(words: list[str], methods: str | None, directory: Path) -> tuple[list[str], str | None, Path]:
    """WORDS of IOR as ours, with the methods and the folder that they say; those of another workload as they are."""
    if words[0] != "ior":
        return words, methods, directory
    translated = ior.translate(words[1:])
    return ["ior", *translated.arguments], methods or translated.methods, translated.directory or directory


@dataclass(frozen=True)
class Campaign:
    """What the command line says of a run on several numbers of ranks, or of a study."""

    mpi: launch.Mpi
    np: str | None
    scale: float | None
    largest: str | None
    time_limit: float | None
    directory: Path
    json: Path | None
    resume: bool
    dry_run: bool

    def ranks(self) -> tuple[int, ...] | None:
        return None if self.np is None else parse_ranks(self.np)

    def run(self, request: Request, arguments: list[str]) -> None:
        request = replace(request, time_limit=self.time_limit)
        if self.dry_run:
            campaigns.dry_run(request, self.directory)
            return
        with contextlib.ExitStack() as stack:
            output = self.json or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "out.json"
            campaigns.measure(request, self.directory, output, ["bench", *arguments], self.resume)


def run_study(name: str, only: str | None, arguments: list[str], options: Campaign) -> None:
    """Repeats the published study NAME, or measures regret; ARGUMENTS are those that are not declared here."""
    if name == regret.NAME:
        for word, is_given in (
            ("--dry-run", options.dry_run),
            ("--resume", options.resume),
            ("--time-limit", options.time_limit is not None),
            ("--scale or --largest", options.scale is not None or options.largest is not None),
        ):
            if is_given:
                raise UserError(f"{word} cannot stand beside --preset {name}")
        directory = options.directory
        if arguments and arguments[0] in PROGRAMS:
            raise UserError(f"--preset {name} is for workloads: {arguments[0]} measures something else")
        if arguments:
            must_be_foreground(arguments)
            arguments, _, directory = of_ior(arguments, None, directory)
        ranks, form = list(options.ranks() or (RANKS,)), regret.FORMAT
        if (like := stands_for(arguments[0]) if arguments else None) is not None:
            if options.np is not None:
                raise UserError(f"{like} says how many ranks there are: leave out --np")
            arguments[:1], one, form = workload_like(like)
            ranks = [one]
        wanted = regret.Wanted(options.mpi, ranks, form, directory, options.json, like)
        regret.run_regret(wanted, arguments, only, watching(Console()))
        return
    study = presets.find(name)
    if only is not None:
        raise UserError(f"--only chooses ratios: {name} has none")
    known = program.options(options.mpi)
    parsed = split_words(arguments, known["Run"])
    if parsed.case and not parsed.case[0].startswith("-"):
        raise UserError(f"--preset {name} brings its own cases: the workload '{parsed.case[0]}' cannot stand beside it")
    allowed = known["Conditions"]
    refused = [word for word in parsed.case if word.startswith("-") and word.partition("=")[0] not in allowed]
    if refused:
        raise UserError(f"--preset {name} brings its own cases: {refused[0]} cannot stand beside it")
    if options.scale is not None and options.scale <= 0:
        raise UserError("--scale must be over 0")
    asked = Asked(
        ranks=options.ranks() or DEFAULT_RANKS,
        scale=DEFAULT_SCALE if options.scale is None else options.scale,
        repetitions=parsed.repetitions,
        largest=0 if options.largest is None else parse_size(options.largest),
        words=parsed.case,
        mpi=options.mpi.value,
    )
    request = replace(study.request(asked), seed=parsed.seed, half_width=parsed.half_width, run_words=parsed.run)
    options.run(request, ["--preset", name, *arguments])


def run_program(arguments: list[str], methods: str | None, options: Campaign) -> None:
    """What penstock-bench measures besides writing and reading back."""
    parsed = split_words(arguments, program.options(options.mpi)["Run"])
    request = Request(
        name=parsed.case[0],
        ranks=options.ranks() or (RANKS,),
        cases=(),
        repetitions=parsed.repetitions or REPETITIONS,
        half_width=parsed.half_width,
        seed=parsed.seed,
        run_words=parsed.run,
        program=(*parsed.case, *(["--methods", methods] if methods else [])),
        mpi=options.mpi.value,
    )
    options.run(request, arguments)


def run_several(arguments: list[str], preset: str | None, methods: str | None, options: Campaign) -> None:
    """One workload on several numbers of ranks."""
    if preset is not None:
        raise UserError(f"--preset {preset} runs on one number of ranks, as a whole")
    if not arguments or arguments[0].startswith("-"):
        raise UserError("which workload? See penstock bench --help")
    ours, methods, directory = of_ior(arguments, methods, options.directory)
    parsed = split_words(ours, program.options(options.mpi)["Run"])
    case = Case(parsed.case[0], parsed.case, (methods or METHODS,), group=parsed.case[0])
    request = Request(
        name=parsed.case[0],
        ranks=options.ranks() or (RANKS,),
        cases=(case,),
        repetitions=parsed.repetitions or REPETITIONS,
        half_width=parsed.half_width,
        seed=parsed.seed,
        run_words=parsed.run,
        mpi=options.mpi.value,
    )
    replace(options, directory=directory).run(request, arguments)


def explain_counts(mpi: launch.Mpi, arguments: list[str], keep: Path | None) -> None:
    """Has one process count what ARGUMENTS ask for, and prints it; the record goes to KEEP."""
    with tempfile.TemporaryDirectory(prefix="penstock-counts-") as folder:
        record = keep if keep is not None else Path(folder) / "counts.json"
        count(mpi, arguments, record)
        counted = counts.read_counts(record)
    rows = counts.table(counted)
    say(f"\n{counts.headline(counted)}")
    wide(rows).print(rows)
    for remark in counts.REMARKS:
        say(remark, "dim")
    if keep is not None:
        typer.echo(f"The whole record is in {keep}")


def explain_preset(job: Job, keep: Path | None) -> None:
    """Runs JOB and prints its ratios; the whole record goes to KEEP. Status 1 if a method failed or did not verify."""
    with make_progress(Console()) as progress:
        outcome, content = run_preset(job, progress.show)
    if not content:
        raise UserError(outcome.complaint(PROGRAM), 2 if outcome.status == 2 else 1)
    if keep is not None:
        save(keep, content)
    preset = ratios.preset_of(content, keep or job.scratch)
    rows = ratios.table(preset)
    say(f"\n{ratios.headline(preset)}")
    wide(rows).print(rows)
    for remark in ratios.remarks(preset):
        say(remark, "dim")
    if keep is not None:
        typer.echo(f"The whole record is in {keep}")
    for sentence in ratios.troubles(preset):
        typer.echo(f"penstock: {sentence}", err=True)
    if outcome.status != 0 and not ratios.troubles(preset):
        typer.echo(f"penstock: {outcome.complaint(PROGRAM)}", err=True)
    if outcome.status != 0 or not preset.verified:
        raise typer.Exit(1)


def explain(path: Path) -> None:
    """Prints the record in PATH as a table with its advice. Status 1 if a method failed or did not verify."""
    record = read_record(path)
    rows = table(record)
    say(f"\n{headline(record)}")
    wide(rows).print(rows)
    for remark in remarks(record):
        say(remark, "dim")
    say("")
    for sentence in advice(record):
        say(sentence, "bold")
    for sentence in failures(record):
        typer.echo(f"penstock: {sentence}", err=True)
    if not record.verified or failures(record):
        raise typer.Exit(1)


def _given(options: dict[str, str | float | None]) -> list[str]:
    return [word for name, value in options.items() if value is not None for word in (name, str(value))]


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
            command = [*launch.command(PROGRAM, mpi, 1), "--help"]
            environment = launch.environment()
            typer.echo(subprocess.run(command, env=environment, check=False, capture_output=True, text=True).stdout)
            return
