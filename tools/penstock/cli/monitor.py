"""monitor.py: `penstock monitor`: what the file systems of this node are doing, and for whom."""

import json
import time
from typing import Annotated

import typer

from penstock.errors import UserError


def register(app: typer.Typer) -> None:
    app.command("monitor")(monitor)


def monitor(
    interval: Annotated[float, typer.Option("--interval", metavar="SECONDS", help="Between two readings.")] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Measure one interval, say it, and end.")] = False,
    json_wanted: Annotated[bool, typer.Option("--json", help="Say it as JSON, a line for each interval.")] = False,
) -> None:
    """Show what the file systems of this node are doing, and who makes them do it."""
    from penstock.monitor import sample
    from penstock.monitor.sampler import Sampler

    if interval < 0.1:
        raise UserError(f"--interval {interval:g}: at least 0.1 seconds")
    with Sampler() as sampler:
        time.sleep(interval)
        found = sampler.next()
    if json_wanted:
        typer.echo(json.dumps(sample.to_record(found)))
