"""completion.py: `penstock completion` prints what makes a shell complete subcommands, options, methods and files."""

from enum import StrEnum
from typing import Annotated

import typer
from typer._completion_shared import get_completion_script


class Shell(StrEnum):
    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def register(app: typer.Typer) -> None:
    app.command()(completion)


def completion(shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]) -> None:
    """Print what makes SHELL complete subcommands, options and file names: `eval "$(penstock completion bash)"`.

    An installation has it where shells look for it.
    """
    typer.echo(script(shell))


def script(shell: Shell) -> str:
    return get_completion_script(prog_name="penstock", complete_var="_PENSTOCK_COMPLETE", shell=shell.value)
