"""soak.py: `penstock soak` writes checkpoints, kills the writers now and then, and sees whether anything is lost."""

import random
import shutil
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from penstock.base import launch
from penstock.base.errors import UserError
from penstock.cli import options


def register(app: typer.Typer) -> None:
    app.command(hidden=True)(soak)


def soak(
    minutes: Annotated[float, typer.Option("--minutes", help="Go on for so many minutes.")] = 20,
    folder: Annotated[
        Path | None, typer.Option("--dir", help="Write to a scratch folder in this folder; it is removed.")
    ] = None,
    most_ranks: Annotated[int, typer.Option("--max-np", help="Run jobs of at most so many ranks.")] = 6,
    mpi: options.Mpi = launch.HERE,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Repeat the kills and plans of the run with this seed.")
    ] = None,
) -> None:
    """Kill writers at random and see whether a file is lost.

    Jobs on random numbers of ranks write checkpoints by many plans, are killed, restart and verify what they find. The
    exit status is 1 where a committed checkpoint was lost, a wrong value was read, a job hung, or memory or
    open files grew.
    """
    if minutes <= 0 or most_ranks < 1:
        raise UserError("--minutes and --max-np must be above 0")
    chosen = random.randrange(1 << 32) if seed is None else seed
    scratch = Path(tempfile.mkdtemp(prefix="penstock-soak-", dir=folder))
    from penstock.operate.soak import Tally, run, summary

    tally = Tally()
    typer.echo(f"In {scratch}, with seed {chosen}")
    try:
        run(tally, random.Random(chosen), scratch, time.monotonic() + 60 * minutes, most_ranks, mpi, typer.echo)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    typer.echo(summary(tally))
    if not tally.good():
        raise typer.Exit(1)
