"""simulate.py: `penstock simulate` says what a workload would take on a machine that is not here."""

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from penstock.base import words
from penstock.base.errors import UserError
from penstock.cli.campaigns import wide
from penstock.cli.say import say
from penstock.diagnose.replay.recorded import recorded
from penstock.diagnose.replay.steps import READ, WRITE, write_pattern
from penstock.jobs.any_job import read_job
from penstock.measure.campaign.request import parse_ranks
from penstock.measure.simulate import machine as machines
from penstock.measure.simulate.keep import entries
from penstock.measure.simulate.page import page
from penstock.measure.simulate.run import By, advice, assumed, headline, results
from penstock.measure.simulate.run import simulate as run
from penstock.measure.simulate.validate import Compared, Pair, compare
from penstock.measure.tune import wisdom

METHODS = "hdf5/two_phase,raw/mpiio,raw/mpiio:coordination=independent,raw/per_process,raw/gather"
FORMAT = "hdf5"  # of wisdom
RANKS = "1024"
FACTOR = 2  # a value within it counts as predicted


def register(app: typer.Typer) -> None:
    # Everything that is not declared here is penstock-bench's own.
    settings = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(context_settings=settings, options_metavar="WORKLOAD [OPTIONS]")(simulate)


def simulate(
    context: typer.Context,
    machine: Annotated[
        str, typer.Option("--machine", metavar="NAME|FILE.toml", help="On this machine; here: this node.")
    ] = "",
    np: Annotated[
        str | None, typer.Option("--np", metavar="N,...", help="On so many ranks.", show_default=RANKS)
    ] = None,
    methods: Annotated[str | None, typer.Option("--methods", help="By these methods.", show_default=METHODS)] = None,
    form: Annotated[
        str, typer.Option("--format", help="By the plans that penstock tune tries for files of this format instead.")
    ] = "",
    read: Annotated[bool, typer.Option("--read", help="Read instead of write.")] = False,
    pattern: Annotated[
        Path | None,
        typer.Option(
            "--pattern",
            metavar="TRACE|LOG|FILE.json",
            help="Instead of WORKLOAD: what a run did, of a trace, a Darshan log with DXT, or a pattern.",
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--wisdom",
            metavar="FILE",
            help="Keep the fastest plans in this file, for the day when the machine is there.",
        ),
    ] = None,
    as_json: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the record here too.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="PAGE.html", help="Make a page of it too.")
    ] = None,
    validate: Annotated[
        bool, typer.Option("--validate", help="Compare with what studies have published instead.")
    ] = False,
) -> None:
    """Say what a workload would take on another machine.

    WORKLOAD and further options are those of penstock bench. Nothing is written. docs/simulate.md describes a machine's
    file, and how far the figures can be believed.
    """
    if validate:
        if context.args or machine or keep is not None or pattern is not None:
            raise UserError("--validate has its own workloads and machines, and keeps nothing")
        _show_comparison(compare())
        return
    known = ", ".join([machines.HERE, *machines.names()])
    if not machine:
        raise UserError(f"which machine? --machine names a file that ends in .toml, or one of {known}")
    if methods and form:
        raise UserError("--methods and --format: one of them")
    if keep is not None:
        wisdom.must_be_writable(keep)
        form = form if form or methods else FORMAT
    by = By([methods or METHODS], form, read=read)
    described = machines.load(machine)
    has_workload = bool(context.args) and not context.args[0].startswith("-")
    if pattern is not None:
        if np or keep is not None or has_workload:
            raise UserError("--pattern says what is moved, and on how many ranks: no WORKLOAD, --np or --wisdom")
        record = _of_pattern(pattern, described, context.args, by)
    elif has_workload:
        record = run(described, context.args, list(parse_ranks(np or RANKS)), by)
    else:
        raise UserError("which workload? See penstock simulate --help")
    found = entries(record) if keep is not None else []
    if as_json is not None:
        as_json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if output is not None:
        output.write_text(page(record, described), encoding="utf-8")
    _show(record, described)
    if keep is not None:
        wisdom.keep(keep, found)
        _say_kept(keep, found)


def _of_pattern(path: Path, machine: dict[str, Any], options: list[str], by: By) -> dict[str, Any]:
    if path.suffix == ".json":
        return run(machine, ["--pattern", str(path), *options], [], by)
    done = recorded(read_job(path), READ if by.read else WRITE)
    say(f"Recorded: {done.what}.")
    with tempfile.TemporaryDirectory() as folder:
        made = write_pattern(Path(folder), [("recorded", [done.variant])])
        if not done.gathered:
            return run(machine, ["--pattern", str(made), *options], [], by)
        record = run(machine, ["--pattern", str(made), *options], [], By([], "", read=by.read))
    why = "MPI-IO moved data between the ranks before it called, so other methods cannot be compared"
    return record | {"recorded_only": why}


def _say_kept(file: Path, found: list[wisdom.Entry]) -> None:
    for one in found:
        worth = "the default" if one.ratio == 1 else f"{words.digits(one.ratio)} of the default's time"
        say(
            f"Kept in {file}, as simulated: {one.problem['operation']} on {one.problem['ranks']:,} ranks by "
            f"{one.problem['format']}/{one.plan}, {worth}."
        )


def _show(record: dict[str, Any], machine: dict[str, Any]) -> None:
    found = results(record)
    say(headline(record))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("ranks", "bytes", "method", "time", "MiB/s", "limited by", "share"):
        table.add_column(name, justify="right" if name in {"ranks", "bytes", "time", "MiB/s", "share"} else "left")
    for one in found:
        share = f"{one.limit_seconds / one.seconds:.0%}"
        rate = f"{one.rate / 2**20:,.0f}" if one.rate >= 10 * 2**20 else f"{one.rate / 2**20:.2g}"
        table.add_row(
            f"{one.ranks:,}", words.size(int(one.bytes)), one.method, words.seconds(one.seconds), rate, one.limit, share
        )
        if one is not found[-1] and one.ranks != found[found.index(one) + 1].ranks:
            table.add_section()
    wide(table).print(table)
    for sentence in advice(record):
        say(sentence)
    if "recorded_only" in record:
        say(f"As recorded only: {record['recorded_only']}.")
    if keys := assumed(machine):
        say(f"Not published but assumed: {keys}.")


def _show_comparison(compared: Compared) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("study", "what", "published", "simulated", "ratio", ""):
        table.add_column(name, justify="right" if name in {"published", "simulated", "ratio"} else "left")
    study = ""
    for value in compared.values:
        if value.study != study:
            table.add_section()
        table.add_row(
            value.study if value.study != study else "",
            value.said,
            f"{value.published:,g} {value.unit}",
            f"{value.predicted:,.4g} {value.unit}",
            f"{value.ratio:.2f}",
            "fitted" if value.fitted else "",
        )
        study = value.study
    wide(table).print(table)
    wrong = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("published order that is not simulated", "faster", "slower", "simulated", ""):
        wrong.add_column(name)
    for pair in compared.pairs:
        if not pair.right:
            said = "the other way" if pair.wrong else "no difference"
            wrong.add_row(pair.study, pair.faster, pair.slower, said, "fitted" if pair.fitted else "")
    if wrong.row_count:
        wide(wrong).print(wrong)
    judged = [value for value in compared.values if not value.fitted]
    near = sum(1 / FACTOR <= value.ratio <= FACTOR for value in judged)
    say(f"Values that were not used to fit: {near} of {len(judged)} within a factor of {FACTOR}.")
    fresh = [pair for pair in compared.pairs if not pair.fitted]
    say(f"Orders of others' studies that were not used to fit: {_right(pair for pair in fresh if not pair.own)}.")
    say(f"Orders of our own measurements that were not used to fit: {_right(pair for pair in fresh if pair.own)}.")
    say(f"Orders that were used to fit: {_right(pair for pair in compared.pairs if pair.fitted)}.")


def _right(pairs: Iterable[Pair]) -> str:
    list_ = list(pairs)
    right, wrong = sum(pair.right for pair in list_), sum(pair.wrong for pair in list_)
    return f"{right} of {len(list_)} right, {wrong} wrong, no difference in {len(list_) - right - wrong}"
