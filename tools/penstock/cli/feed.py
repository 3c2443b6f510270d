"""feed.py: `penstock feed`: findings for Splunk, and what this node does for Prometheus."""

import contextlib
import os
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from penstock.base import words
from penstock.base.errors import UserError, must_be_folder
from penstock.base.printable import printable
from penstock.cli import options

if TYPE_CHECKING:
    from penstock.operate.feed.collector import Collector
    from penstock.operate.feed.spool import Spool

TOKEN = "SPLUNK_HEC_TOKEN"  # noqa: S105 - a variable; a command line is seen by all users
LEAST_EVERY = 0.1
MOST_ERRORS = 10  # that are said

feed = typer.Typer(
    help="Send findings to Splunk and metrics to Prometheus.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def register(app: typer.Typer) -> None:
    app.add_typer(feed, name="feed")


@feed.command()
def splunk(
    logs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="LOG|TRACE|DIR",
            help="Logs, folders of one run, or folders of logs; without any, what waits is sent.",
        ),
    ] = None,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="Send to this HTTP Event Collector: https://host:8088.")
    ] = None,
    spool: Annotated[
        Path | None, typer.Option("--spool", metavar="DIR", help="Keep batches in this folder until they are accepted.")
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help=f"Read the token from this file, not from {TOKEN}."),
    ] = None,
    ca_file: Annotated[
        Path | None, typer.Option("--ca-file", metavar="FILE", help="Trust these certificates besides the system's.")
    ] = None,
    index: Annotated[str, typer.Option("--index", help="Set the index of the events.")] = "",
    source: Annotated[
        str, typer.Option("--source", help="Set the source of the events, which is the log's path otherwise.")
    ] = "",
    sourcetype: Annotated[
        str, typer.Option("--sourcetype", help="Set the sourcetype of the events.")
    ] = "penstock:doctor",
    host: Annotated[
        str, typer.Option("--host", help="Set the host of the events, which is this machine otherwise.")
    ] = "",
    again: Annotated[bool, typer.Option("--again", help="Send logs again that this spool has had before.")] = False,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="Wait so long for a request.")
    ] = 30.0,
    tries: Annotated[int, typer.Option("--tries", min=1, help="Try to send a batch so often in this run.")] = 5,
    processes: options.Processes = None,
) -> None:
    """Make an event of each job, file, phase and finding; print them, keep them or send them to Splunk.

    Without --url and --spool the events are printed. With --spool they become files there, in the format of Splunk's
    HTTP Event Collector. With --url those files are sent, the oldest first, and each is removed when it was accepted.
    What a collector did not take because it is down waits for the next run.
    """
    from penstock.operate.feed.events import Address
    from penstock.operate.feed.filling import fill, logs_of, look_at, new_of
    from penstock.operate.feed.spool import Spool

    paths = logs_of(logs or [])
    address = Address(host or socket.gethostname(), index, source, sourcetype)
    collector = _collector(url, token_file, ca_file, timeout, tries)
    if collector is None and not paths:
        raise UserError("name logs, or with --url what --spool holds is sent")
    kept = Spool(spool or _state()) if collector is not None or spool is not None else None
    known_logs = 0
    if kept is not None and not again and paths:
        new = new_of(paths, kept.fed())
        known_logs, paths = len(paths) - len(new), new
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("Reading logs", total=len(paths))
        found = look_at(paths, address, processes, lambda: bar.advance(task))
        if kept is None:
            errors = []
            for one in found:
                sys.stdout.writelines(f"{event.decode()}\n" for event in one.events)
                errors += [f"{one.log}: {one.error}"] if one.error else []
        else:
            filled = fill(kept, found)
            errors = filled.errors
            if logs:
                of_logs = words.count(filled.logs, "log", "logs")
                before = f"; {words.count(known_logs, 'log was', 'logs were')} before" if known_logs else ""
                typer.echo(f"{filled.events} events of {of_logs} put into {kept.folder}{before}")
    for error in errors[:MOST_ERRORS]:
        typer.echo(f"penstock: {printable(error)}", err=True)
    if len(errors) > MOST_ERRORS:
        typer.echo(f"penstock: and {len(errors) - MOST_ERRORS} more logs", err=True)
    if collector is not None and kept is not None:
        _send(kept, collector)
    if errors:
        raise typer.Exit(1)


def _collector(
    url: str | None, token_file: Path | None, ca_file: Path | None, timeout: float, tries: int
) -> "Collector | None":
    from penstock.operate.feed.collector import Collector, address_of

    if url is None:
        if token_file is not None or ca_file is not None:
            raise UserError("--token-file and --ca-file are for sending: add --url")
        return None
    return Collector(address_of(url), _token(token_file), timeout, tries, ca_file)


def _token(file: Path | None) -> str:
    try:
        given = file.read_text(encoding="utf-8") if file is not None else os.environ.get(TOKEN, "")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--token-file {file}: {getattr(error, 'strerror', None) or 'no text'}") from None
    token = given.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        where = f"--token-file {file}" if file is not None else TOKEN
        raise UserError(f"{where}: no token; the one of an HTTP Event Collector is needed to send")
    return token


def _state() -> Path:
    """The user's, as of the XDG base directories."""
    base = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".local" / "state") / "penstock" / "splunk"


def _send(spool: "Spool", collector: "Collector") -> None:
    from penstock.operate.feed.collector import send

    with spool.alone(collector.timeout) as alone:
        if not alone:
            typer.echo(f"another penstock is sending what {spool.folder} holds")
            return
        try:
            sent = send(spool, collector)
        except UserError as error:
            raise UserError(f"{error}; {len(spool.batches())} batches stay in {spool.folder}", error.status) from None
    if sent.batches or not sent.left:
        typer.echo(f"{sent.batches} batches accepted by {collector.url}")
    for one in sent.refused:
        typer.echo(f"penstock: refused, and kept: {printable(one)}", err=True)
    if sent.left:
        raise UserError(f"{sent.why}; {sent.left} batches stay in {spool.folder}: run this again", status=1)
    if sent.refused:
        raise typer.Exit(1)


@feed.command()
def metrics(
    textfile: Annotated[
        Path | None,
        typer.Option("--textfile", metavar="FILE.prom", help="Write the metrics to this file, for node_exporter."),
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option("--listen", metavar="HOST:PORT", help="Answer Prometheus at this address until Ctrl-C."),
    ] = None,
    anywhere: Annotated[bool, typer.Option("--anywhere", help="Let --listen answer other machines.")] = False,
    every: Annotated[
        float | None, typer.Option("--every", metavar="SECONDS", help="Look again after so long, until Ctrl-C.")
    ] = None,
    interval: Annotated[
        float, typer.Option("--interval", metavar="SECONDS", help="Average the first rates over so long.")
    ] = 1.0,
    outputs: Annotated[bool, typer.Option("--outputs", help="Add metrics of each file that a job writes.")] = False,
    logs: Annotated[
        Path | None, typer.Option("--logs", metavar="DIR", help="Add the totals of the Darshan logs below this folder.")
    ] = None,
    processes: options.Processes = None,
) -> None:
    """Give Prometheus metrics of the file systems and the penstock jobs of this node.

    They are written once, on standard output or to --textfile; with --every or --listen they are renewed. --listen
    answers in the format of OpenMetrics if it is asked for that.
    """
    from penstock.operate.feed.families import Seen
    from penstock.operate.feed.metrics import SUFFIX, Exporter, Logs, endpoint, place_of
    from penstock.operate.monitor.sampler import Sampler

    for name, value in (("--every", every), ("--interval", interval)):
        if value is not None and not LEAST_EVERY <= value <= 86400:
            raise UserError(f"{name} {value:g}: {LEAST_EVERY} seconds to a day")
    if textfile is not None and textfile.suffix != SUFFIX:
        raise UserError(f"--textfile {textfile}: node_exporter reads files that end with {SUFFIX}")
    if textfile is not None and listen is not None:
        raise UserError("--textfile and --listen: one of them")
    if logs is not None:
        must_be_folder(logs)
    if anywhere and listen is None:
        raise UserError("--anywhere is about --listen")
    place = place_of(listen, anywhere) if listen is not None else None
    every = every if every is not None or place is None else 15.0
    exporter = Exporter()
    with contextlib.ExitStack() as open_now, contextlib.suppress(KeyboardInterrupt):
        folder = open_now.enter_context(Logs(logs, processes)) if logs is not None else None
        sampler = open_now.enter_context(Sampler())
        pause = interval
        first = True
        while True:
            summaries = folder.now() if folder is not None else None
            time.sleep(pause)
            exporter.show(Seen(sampler.next(), summaries, outputs))
            if textfile is not None:
                exporter.write(textfile)
            if first and place is not None:
                open_now.enter_context(endpoint(exporter, *place))
                typer.echo(f"listening on http://{listen}/metrics", err=True)
            if first and textfile is not None and every is not None:
                open_now.callback(textfile.unlink, missing_ok=True)  # nobody may take old figures for new ones
            if every is None:
                break
            first, pause = False, every
    if textfile is None and place is None:
        typer.echo(exporter.text(), nl=False)
