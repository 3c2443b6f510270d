"""cli: the program `penstock`, a file for each command; of these, what was called is imported, and nothing else."""

import errno
import io
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from types import FrameType
from typing import Annotated, Any, get_args

import penstock
from penstock.base.errors import UserError
from penstock.base.printable import printable
from penstock.cli.table import ALIASES, COMMANDS, overview

HELP = ["-h", "--help"]
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # of files that standard output may be


def main() -> None:
    """Runs the command that was asked for; an error the user can mend is one line."""
    signal.signal(signal.SIGTERM, _interrupt)  # as Ctrl-C: whatever is under way is undone
    if isinstance(sys.stdout, io.TextIOWrapper):  # names of files are bytes, and go out as such where that can be
        is_utf8 = sys.stdout.encoding.lower().replace("-", "") == "utf8"
        sys.stdout.reconfigure(errors="surrogateescape" if is_utf8 else "backslashreplace")
    try:
        try:
            _run(sys.argv[1:])
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # here, where what goes wrong can be said
    except ModuleNotFoundError as error:
        if (error.name or "penstock").partition(".")[0] == "penstock":
            raise
        _complain(
            f"{sys.executable} lacks the package '{error.name}': install it with pip, "
            "or name another Python in PENSTOCK_PYTHON (docs/install.md)"
        )
        sys.exit(2)
    except UserError as error:
        _complain(str(error))
        sys.exit(error.status)
    except OSError as error:
        if error.filename is not None:
            _complain(f"'{os.fsdecode(error.filename)}': {error.strerror}")
            sys.exit(2)
        if error.errno not in (*FULL, errno.EPIPE):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is held still is not tried once more at the end
        if error.errno != errno.EPIPE:
            _complain(f"cannot write standard output: {error.strerror}")
        sys.exit(1)


def command(name: str) -> Any:
    """The command NAME, or nothing where there is none: as Typer makes it, with all its options."""
    module = ALIASES.get(name) or (COMMANDS[name].module if name in COMMANDS else None)
    return _group(module).commands[name] if module else None


def whole() -> Any:
    """All commands as one group, for the manual and for completion; names of before are hidden in it."""
    return _group(*(row.module for row in COMMANDS.values()), "completion", "soak")


def _group(*modules: str) -> Any:
    import typer  # which the overview and the version do not need

    app = typer.Typer(name="penstock", add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

    @app.callback()
    def options(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
        """Parallel arrays into one portable file: tools that measure and explain."""

    for module in modules:
        import_module(f"penstock.cli.{module}").register(app)
    group = typer.main.get_command(app)
    _prepare(group)
    return group


def _prepare(command: Any) -> None:
    """Has COMMAND, and those in it, know -h, refuse empty paths, and say in plain words which value is wrong."""
    for inner in getattr(command, "commands", {}).values():
        _prepare(inner)
    command.context_settings.setdefault("help_option_names", HELP)
    for parameter in command.params:
        parameter.process_value = partial(_process, parameter, parameter.process_value)


def _process(parameter: Any, process: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    from pathlib import Path

    import typer

    kind = parameter.type_descriptor.annotation
    if Path in (kind, *get_args(kind)) and "" in (value if isinstance(value, list | tuple) else [value]):
        # It would be the current folder; most likely a variable was not set.
        raise typer.BadParameter("the path is empty ('.' is the current folder)", ctx=context, param=parameter)
    try:
        return process(context, value)
    except typer.BadParameter as error:
        cause: Any = error.__cause__
        if not hasattr(cause, "errors"):
            raise
        raise typer.BadParameter(_plain(cause.errors()[0]), ctx=context, param=parameter) from None


def _plain(wrong: dict[str, Any]) -> str:
    """What pydantic says is WRONG with a value."""
    limits = wrong.get("ctx", {})
    for limit, words in (("ge", "at least"), ("gt", "more than"), ("le", "at most"), ("lt", "less than")):
        if limit in limits:
            return f"{wrong['input']} must be {words} {limits[limit]:g}"
    for kind, words in (("float", "number"), ("int", "whole number")):
        if wrong["type"].startswith(f"{kind}_"):
            return f"'{wrong['input']}' is not a {words}"
    return str(wrong["msg"]).removeprefix("Value error, ")


def _run(words: list[str]) -> None:
    if not words or words[0] in HELP:
        print(overview())
        sys.exit(0 if words else 2)
    if words[0] == "--version":
        print(f"penstock {penstock.__version__}")
        return
    found = command(words[0])
    if found is None:
        raise UserError(_unknown(words[0]))
    found.main(words[1:], prog_name=f"penstock {words[0]}")


def _unknown(word: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, COMMANDS)
    kind = "option" if word.startswith("-") else "command"
    return f"there is no {kind} '{word}'{f': {near[0]}?' if near else ''}; penstock --help lists all commands"


def _complain(what: str) -> None:
    print(f"penstock: {printable(what)}", file=sys.stderr)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
