"""cli: the program `penstock`, one file per subcommand."""

import errno
import io
import os
import signal
import sys
from types import FrameType
from typing import Annotated

import typer

import penstock
from penstock.cli import (
    bench,
    campaign,
    catalogue,
    clean,
    completion,
    convert,
    diff,
    doctor,
    feed,
    hints,
    import_,
    info,
    join,
    ls,
    methods,
    monitor,
    picture,
    profile,
    repair,
    report,
    seal,
    soak,
    split,
    streams,
    trace,
    verify,
    view,
)
from penstock.errors import UserError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # of files that standard output may be

app = typer.Typer(
    name="penstock",
    help="Parallel arrays into one portable file: tools that measure and explain.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
bench.register(app)
campaign.register(app)
catalogue.register(app)
clean.register(app)
completion.register(app)
convert.register(app)
diff.register(app)
doctor.register(app)
feed.register(app)
hints.register(app)
import_.register(app)
info.register(app)
ls.register(app)
join.register(app)
methods.register(app)
monitor.register(app)
picture.register(app)
profile.register(app)
repair.register(app)
report.register(app)
seal.register(app)
soak.register(app)
split.register(app)
streams.register(app)
trace.register(app)
verify.register(app)
view.register(app)


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
) -> None:
    if version:
        typer.echo(f"penstock {penstock.__version__}")
        raise typer.Exit


def main() -> None:
    """Runs the subcommand that was asked for; an error the user can mend is one line."""
    signal.signal(signal.SIGTERM, _interrupt)  # as Ctrl-C: whatever is under way is undone
    if isinstance(sys.stdout, io.TextIOWrapper):  # names of files are bytes, and go out as such where that can be
        is_utf8 = sys.stdout.encoding.lower().replace("-", "") == "utf8"
        sys.stdout.reconfigure(errors="surrogateescape" if is_utf8 else "backslashreplace")
    try:
        try:
            app(prog_name="penstock")
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # here, where what goes wrong can be said
    except UserError as error:
        typer.echo(f"penstock: {error}", err=True)
        sys.exit(error.status)
    except OSError as error:
        if error.filename is not None or error.errno not in (*FULL, errno.EPIPE):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is held still is not tried once more at the end
        if error.errno != errno.EPIPE:
            typer.echo(f"penstock: cannot write standard output: {error.strerror}", err=True)
        sys.exit(1)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
