"""regret.py: `penstock bench --preset regret`: how good the plans are that Penstock chooses."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

import typer
from rich import box
from rich.table import Table

from penstock.base import launch
from penstock.base.errors import UserError
from penstock.base.replaceable import must_be_replaceable
from penstock.cli.campaigns import wide
from penstock.cli.say import say
from penstock.measure import records
from penstock.measure.campaign.execute import Listen
from penstock.measure.campaign.program import options
from penstock.measure.campaign.record import save
from penstock.measure.campaign.request import split_words
from penstock.measure.campaign.scratch import scratch as make_scratch
from penstock.measure.tune.candidates import transport_of
from penstock.measure.tune.regret import CASES, REPETITIONS, Regret, regrets, summary

NAME, FORMAT = "regret", "hdf5"
Watch = Callable[[str, int], AbstractContextManager[Listen]]


@dataclass(frozen=True)
class Wanted:
    """Where, on which numbers of ranks, files of which format, the file for the record. LIKE: what the workload stands
    for, if it stands for something.
    """

    mpi: launch.Mpi
    ranks: list[int]
    form: str
    directory: Path
    output: Path | None
    like: Path | None = None


def run_regret(wanted: Wanted, words: list[str], only: str | None, watch: Watch) -> None:
    """WORDS are a workload of penstock-bench with its options, instead of the CASES, and --repetitions N. ONLY names
    cases, separated by semicolons.
    """
    run = options(wanted.mpi)["Run"]
    for word in (word.partition("=")[0] for word in words):
        if word in run and word not in ("--repetitions", "--readers", "--threads"):
            raise UserError(f"{word} cannot stand beside --preset {NAME}")
    parsed = split_words(words, run)
    cases = CASES
    if given := [*parsed.case, *parsed.run]:
        if given[0].startswith("-"):
            raise UserError(f"--preset {NAME}: {given[0]} needs a workload before it")
        if only is not None:
            raise UserError(
                f"--only chooses cases of --preset {NAME}: '{wanted.like or given[0]}' cannot stand beside it"
            )
        cases = {" ".join(given) if wanted.like is None else str(wanted.like): given}
    elif only is not None:
        cases = {}
        for name in map(str.strip, only.split(";")):
            if name not in CASES:
                raise UserError(f"--only: no case '{name}'; there are {'; '.join(CASES)}")
            cases[name] = CASES[name]
    repetitions = parsed.repetitions or REPETITIONS
    output = wanted.output

    def keep(found: list[Regret]) -> None:
        if output is not None:
            content = {"schema": records.REGRET, "repetitions": repetitions, "regret": [asdict(one) for one in found]}
            save(output, content)

    if output is not None:
        must_be_replaceable(output)
    keep([])  # finds out now that it cannot be written
    with make_scratch(wanted.directory) as scratch:
        found = regrets(wanted.mpi, wanted.ranks, wanted.form, cases, repetitions, scratch, watch, say, keep)
    _show(found)
    if output is not None:
        typer.echo(f"The whole record is in {output}")


def _show(found: list[Regret]) -> None:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("problem", "best", "estimate", "measure"):
        made.add_column(name, no_wrap=True)
    made.add_column("95 %", no_wrap=True)
    made.add_column("default", justify="right")
    for one in found:
        interval = f"{one.low:.2f} to {one.high:.2f}" if one.low is not None and one.high is not None else ""
        made.add_row(
            f"{one.case}, {one.np} ranks, {one.problem['operation']}",
            transport_of(one.best),
            f"{one.estimate:.2f} {transport_of(one.plan_estimate)}",
            f"{one.measure:.2f} {transport_of(one.plan_measure)}",
            interval,
            f"{one.default_regret:.2f}",
        )
    say("")
    wide(made).print(made)
    for line in summary(found):
        say(line)
