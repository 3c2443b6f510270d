"""plan.py: `penstock plan` says which plan a workload gets, why, and what others should take."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from penstock.base import launch, words
from penstock.base.errors import UserError
from penstock.cli.bench import must_be_foreground
from penstock.cli.campaigns import wide
from penstock.cli.options import Directory, Mpi
from penstock.cli.problems import Problem, about, problems_of, stands_for
from penstock.cli.say import say
from penstock.measure.campaign.program import ask
from penstock.measure.tune.candidates import DEFAULT
from penstock.measure.tune.elsewhere import elsewhere
from penstock.measure.tune.predict import Predicted, predict
from penstock.measure.tune.search import OVERRIDES

PROBED = "Predicted by the rates that penstock tune --probe measured here. mpiio and io=mmap are not predicted."
NOT_PROBED = (
    "Predicted by the rates of a usual machine, which decide nothing: penstock tune --probe measures this one. "
    "mpiio and io=mmap are not predicted."
)
RANKS = 1 if launch.HERE is launch.Mpi.serial else 4


def register(app: typer.Typer) -> None:
    # Everything that is not declared here is penstock-bench's own.
    settings = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(context_settings=settings, options_metavar="WORKLOAD|RECORD|TRACE [OPTIONS]")(plan)


def plan(
    context: typer.Context,
    np: Annotated[int, typer.Option("--np", min=1, help="Of WORKLOAD: so many ranks.")] = RANKS,
    mpi: Mpi = launch.HERE,
    form: Annotated[str, typer.Option("--format", help="Of WORKLOAD: hdf5, netcdf or raw.")] = "hdf5",
    directory: Directory = Path(),
) -> None:
    """Say which plan a workload gets, and why.

    WORKLOAD and further options are those of penstock bench. RECORD is a file that penstock bench --json has written,
    TRACE the folder of a traced program. Nothing is written: times are measured ones from wisdom, or predicted from
    rates that penstock tune --probe has measured.
    """
    if not context.args or context.args[0].startswith("-"):
        raise UserError("which workload, record or trace? See penstock plan --help")
    must_be_foreground(context.args)
    if (path := stands_for(context.args[0])) is not None:
        if len(context.args) > 1:
            raise UserError(f"{path} has its own options: {context.args[1]} cannot stand beside it")
        problems = problems_of(path)
    else:
        problems = _of_workload(mpi, np, [*context.args, "--methods", f"{form}/{DEFAULT}"], directory)
    for number, problem in enumerate(problems):
        if number > 0:
            say("")
        _explain(predict(mpi, problem))
    for name in OVERRIDES:
        if os.environ.get(name):
            say(f"{name} is set, and takes precedence over all this.", "bold")


def _of_workload(mpi: launch.Mpi, ranks: int, arguments: list[str], directory: Path) -> list[Problem]:
    words = ["--dry-run", "--problems", f"--np-virtual={ranks}", f"--dir={directory}"]
    (job,) = json.loads(ask(mpi, *arguments, *words))
    if "error" in job:
        raise UserError(job["error"])
    problems: list[Problem] = job["cases"][0]["problems"]
    return problems


def _explain(predicted: Predicted) -> None:
    say(f"{about(predicted.problem)}:", "bold")
    chosen, why = DEFAULT, "the default, since nothing was measured here: penstock tune, or penstock tune --probe"
    if predicted.wisdom is not None:
        chosen, why = predicted.wisdom, predicted.known
    elif predicted.probed and predicted.estimated is not None:
        chosen, why = predicted.estimated, "by an estimate; penstock tune would measure"
    say(f"  plan {chosen}: {why}")
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    made.add_column("plan", no_wrap=True)
    made.add_column("predicted", justify="right", no_wrap=True)
    made.add_column("÷ default", justify="right", no_wrap=True)
    made.add_column("most of it")
    for one in sorted(predicted.plans, key=lambda one: one.seconds):
        ratio = words.digits(one.seconds / predicted.plans[0].seconds)
        made.add_row(one.plan, words.seconds(one.seconds), ratio, one.limit)
    if predicted.plans:
        wide(made).print(made)
        say("  " + (PROBED if predicted.probed else NOT_PROBED), "dim")
    for name, nearest in elsewhere(chosen, predicted.problem).items():
        say(f"  {name}: {nearest}")
