"""tune.py: `penstock tune` finds the fastest plan for a workload here, and keeps it as wisdom."""

import math
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from penstock.base import launch, words
from penstock.base.errors import UserError
from penstock.cli.bench import PROGRAMS, must_be_foreground, of_ior
from penstock.cli.campaigns import wide
from penstock.cli.options import Directory, Mpi
from penstock.cli.problems import about, stands_for, workload_like
from penstock.cli.progress import make_progress, watching
from penstock.cli.say import say
from penstock.measure import records
from penstock.measure.campaign.scratch import scratch as make_scratch
from penstock.measure.tune import wisdom
from penstock.measure.tune.candidates import candidates, stripes, transport_of
from penstock.measure.tune.choose import LEAST_FOR_INTERVAL, Choice, entries
from penstock.measure.tune.elsewhere import elsewhere
from penstock.measure.tune.probe import probe
from penstock.measure.tune.search import OVERRIDES, Found, Search, search

RANKS = 1 if launch.HERE is launch.Mpi.serial else 4
NOT_OURS = ("--preset", "--only", "--count-only", "--np-virtual", "--cases", "--keep", "--resume", "--scale")
OURS = ("--methods", "--json", "--repetitions", "--time-limit", "--seed")  # set for each round


def register(app: typer.Typer) -> None:
    # Everything that is not declared here is penstock-bench's own.
    settings = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(context_settings=settings, options_metavar="WORKLOAD|RECORD|TRACE [OPTIONS]")(tune)


def tune(
    context: typer.Context,
    np: Annotated[int, typer.Option("--np", min=1, help="Use so many ranks.")] = RANKS,
    mpi: Mpi = launch.HERE,
    form: Annotated[str, typer.Option("--format", help="Tune files of this format: hdf5, netcdf or raw.")] = "hdf5",
    budget: Annotated[float, typer.Option("--budget", metavar="SECONDS", help="Measure for about so long.")] = 120,
    keep: Annotated[
        Path | None, typer.Option("--wisdom", metavar="FILE", help="Keep the result in this file [that of the user].")
    ] = None,
    directory: Directory = Path(),
    probed: Annotated[
        bool, typer.Option("--probe", help="Measure this machine instead, by which plans are then estimated.")
    ] = False,
    show: Annotated[bool, typer.Option("--show", help="Print the wisdom there is; measure nothing.")] = False,
) -> None:
    """Find the fastest plan for a workload here, and keep it.

    Programs whose plan names no transport use it from then on. WORKLOAD and further options are those of penstock
    bench. A RECORD of penstock bench, or the folder of a traced program, stands for a workload like its largest commit
    or read. Files are written to a scratch folder in --dir, checked and removed.
    """
    if show:
        _show([keep] if keep is not None else wisdom.files())
        return
    if probed:
        if context.args:
            raise UserError(f"--probe needs no workload: {context.args[0]}")
        _probe(mpi, np, directory, keep if keep is not None else wisdom.file_of_user())
        return
    if not context.args or context.args[0].startswith("-"):
        raise UserError("which workload? See penstock bench --help")
    if (path := stands_for(context.args[0])) is not None:
        given = (getattr(context.get_parameter_source(name), "name", "") for name in ("np", "form"))
        if "COMMANDLINE" in given:
            raise UserError(f"{path} says how many ranks there are, and the format: leave out --np and --format")
        like, np, form = workload_like(path)
        context.args[:1] = like
    if context.args[0] in PROGRAMS:
        raise UserError(f"penstock tune is for workloads: {context.args[0]} measures something else")
    for word in context.args:
        if word.partition("=")[0] in OURS:
            raise UserError(f"{word.partition('=')[0]}: penstock tune sets it for each of its rounds")
        if word.partition("=")[0] in NOT_OURS:
            raise UserError(f"{word.partition('=')[0]} is of penstock bench only")
    must_be_foreground(context.args)
    if not 0 < budget < math.inf:
        raise UserError("--budget must be a number of seconds over 0")
    arguments, _, directory = of_ior(context.args, None, directory)
    file = keep if keep is not None else wisdom.file_of_user()
    wisdom.must_be_writable(file)
    console = Console()
    plans = candidates(mpi, form, np)
    current = _current(form, plans)
    with make_scratch(directory) as scratch:
        plans += [current] if current is not None and current not in plans else []
        wanted = Search(mpi, np, arguments, plans, current, budget, scratch, tuple(stripes(mpi, form)))
        found = search(wanted, watching(console), say)
    _explain(found)
    _explain_current(found, current)
    results = entries(found.choices, budget)
    if results:
        wisdom.keep(file, results)
    say(f"Kept as wisdom in {file}" if results else f"Nothing was kept in {file}: too few repetitions")


def _probe(mpi: launch.Mpi, ranks: int, directory: Path, file: Path) -> None:
    wisdom.must_be_writable(file)
    with make_scratch(directory) as scratch, make_progress(Console()) as progress:
        machine = probe(mpi, ranks, scratch, progress.show)
    wisdom.keep_machine(file, machine)
    say(f"{machine['filesystem']}, {machine['mpi']}, {ranks} ranks:", "bold")
    for line in _rates(machine):
        say(f"  {line}")
    say(f"Kept in {file}: plans are estimated by these rates where nothing was measured.")


def _rates(machine: dict[str, Any]) -> list[str]:
    fast, slow = machine["bytes_per_second"], machine["seconds"]
    return [f"{name}: {words.size(rate)}/s" for name, rate in fast.items()] + [
        f"{name}: {words.seconds(seconds)}" for name, seconds in slow.items()
    ]


def _show(files: list[Path]) -> None:
    """What each entry is for, its plan, how it was found, and what comes nearest to it in other programs."""
    for file in files:
        try:
            entries = wisdom.read(file)
        except UserError as error:
            typer.echo(f"penstock: {error}", err=True)
            continue
        say(f"{file}: {words.count(len(entries), 'entry', 'entries') if entries else 'no wisdom'}", "bold")
        with records.taking_apart(file, wisdom.SCHEMA):
            for entry in entries:
                say("")
                for line in _about(entry):
                    say(f"  {line}")


def _about(entry: dict[str, Any]) -> list[str]:
    problem = entry["problem"]
    plan = f"{problem['format']}/{entry['plan']}"
    interval, how = f" ({words.interval(entry.get('low'), entry.get('high'))})", f"measured {entry['measured']}"
    if entry.get("simulated"):
        interval, how = "", f"simulated {entry['measured']} on {entry['simulated']}, used where nothing was measured"
    ratio = f"{words.digits(entry['ratio'])}{interval} of the default's time"
    worth = "the default" if entry["ratio"] == 1 else ratio
    until = f", used until {entry['expires']}" if entry.get("expires") else ""
    return [
        about(problem),
        f"plan: {plan}: {worth}; {how}{until}",
        *(f"{name}: {nearest}" for name, nearest in elsewhere(str(entry["plan"]), problem).items()),
    ]


def _current(form: str, plans: list[str]) -> str | None:
    """The plan of PENSTOCK_PLAN for files of format FORM, if its transport is one of those that PLANS have."""
    given = os.environ.get("PENSTOCK_PLAN", "")
    transport = given.removeprefix(f"{form}/")
    tried = {transport_of(plan).partition(":")[0] for plan in plans}
    return f"{form}/{transport}" if transport.partition(":")[0] in tried else None


def _explain_current(found: Found, current: str | None) -> None:
    if current is not None:
        for one in found.choices:
            if one.current_median is not None and one.plan != current:
                times = words.digits(one.current_median / one.median)
                say(f"{one.operation}: PENSTOCK_PLAN={current} takes {times} times as long.", "bold")
    for name in OVERRIDES:
        if os.environ.get(name):
            say(f"{name} is set, and takes precedence over wisdom: unset it to use what was found.", "bold")


def _explain(found: Found) -> None:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("operation", "plan"):
        made.add_column(name, no_wrap=True)
    for name in ("median", "default's", "time ÷ default", "95 % interval"):
        made.add_column(name, justify="right", no_wrap=True)
    for one in found.choices:
        made.add_row(
            one.operation,
            one.plan,
            words.seconds(one.median),
            words.seconds(one.default_median),
            words.digits(one.ratio),
            words.interval(one.low, one.high) if one.low is not None else "",
        )
    say("")
    wide(made).print(made)
    for one in found.choices:
        if (sentence := _doubt(one)) is not None:
            say(sentence, "dim")
    for plan, why in found.failures.items():
        say(f"{plan} was left out: {why}", "dim")


def _doubt(one: Choice) -> str | None:
    if one.nearest is None:
        return None
    if one.repetitions < LEAST_FOR_INTERVAL:
        return (
            f"{one.operation}: the default stays, since "
            f"{words.count(one.repetitions, 'repetition gives', 'repetitions give')} no 95 % interval: "
            "a larger --budget may find more."
        )
    return f"{one.operation}: the default stays: {one.nearest} is not faster beyond doubt."
