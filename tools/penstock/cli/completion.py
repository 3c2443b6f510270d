"""completion.py: `penstock completion` prints what makes a shell complete subcommands, options, methods and files."""

import json
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any

import typer

from penstock.base import launch
from penstock.base.errors import UserError
from penstock.cli import whole

METHODS = "--methods"  # takes names of methods, as --plan does
PLANS = (METHODS, "--plan")


class Shell(StrEnum):
    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def register(app: typer.Typer) -> None:
    app.command(hidden=True)(completion)


def completion(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print the completion script of a shell.

    It completes commands, options, methods and file names: eval "$(penstock completion bash)". An installation puts it
    where shells look for it.
    """
    typer.echo(script(shell, whole()), nl=False)


def script(shell: Shell, root: Any) -> str:
    """The words that may follow each subcommand are written out, so that nothing is started when they are asked for."""
    commands = dict(_below("", root))
    values = {"--mpi": " ".join(launch.Mpi)} | dict.fromkeys(PLANS, " ".join(_methods()))
    return _fish(commands, values) if shell is Shell.fish else _bash(commands, values, shell)


def _below(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield words, command
    for name, inner in _inner(command):
        yield from _below(f"{words} {name}".strip(), inner)


def _inner(command: Any) -> list[tuple[str, Any]]:
    return sorted((name, one) for name, one in getattr(command, "commands", {}).items() if not one.hidden)


def _told(word: str) -> dict[str, list[dict[str, Any]]]:
    """What the bench of this installation says of itself; nothing without one."""
    try:
        command = [*launch.mpiexec(launch.Mpi.serial, 1), str(launch.program("penstock-bench", launch.HERE))]
        ran = subprocess.run([*command, word], capture_output=True, text=True, check=True, timeout=20)
    except (UserError, OSError, subprocess.SubprocessError):
        return defaultdict(list)
    return defaultdict(list, json.loads(ran.stdout))


def _methods() -> list[str]:
    """The formats with their transports, and the engines, that the bench has."""
    found = _told("--methods-json")
    built = {kind: [each["name"] for each in found[kind] if not each.get("missing")] for kind in KINDS}
    return [f"{form}/{way}" for form in built["formats"] for way in built["transports"] + built["aliases"]] + built[
        "engines"
    ]


KINDS = ("formats", "transports", "aliases", "engines")


def _options(words: str, command: Any) -> list[str]:
    names = [name for p in command.params for name in [*p.opts, *p.secondary_opts] if name.startswith("-")]
    if words in ("bench", "tune"):  # which pass on options of penstock-bench, but for its help and tables
        passed_on = [one for one in _told("--options-json")["options"] if one["group"] != "Options"]
        names += [name for option in passed_on for name in option["names"]]
    return list(dict.fromkeys([*names, "-h", "--help"]))


def _bash(commands: dict[str, Any], values: dict[str, str], shell: Shell) -> str:
    lines = ["# penstock: completion, made by `penstock completion`"]
    if shell is Shell.zsh:
        lines = ["#compdef penstock", *lines, "autoload -U +X bashcompinit && bashcompinit"]
    lines += [
        "_penstock_completion() {",
        "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} at=''",
    ]
    lines += [
        "  local i words=''",
        "  for ((i = 1; i < COMP_CWORD; i++)); do",
        '    case "${at:+$at }${COMP_WORDS[i]}" in',
    ]
    lines += [f'      "{words}") at="{words}" ;;' for words in commands if words]
    lines += ["    esac", "  done", '  case "$before" in']
    lines += [f'    {option}) words="{given}" ;;' for option, given in values.items() if given]
    lines += ["  esac", '  if [ -z "$words" ]; then', '    case "$at" in']
    for words, command in commands.items():
        inner = " ".join(name for name, _ in _inner(command))
        lines += [
            f'      "{words}") words="{inner}"; [[ $word != -* ]] || words="{" ".join(_options(words, command))}" ;;'
        ]
    lines += ["    esac", "  fi"]
    lines += ["  # Of a list of methods the last is completed.", '  local head=""']
    lines += ['  case "$before" in', f'    {"|".join(PLANS)}) [[ $word != *,* ]] || head="${{word%,*}}," ;;', "  esac"]
    lines += ['  COMPREPLY=($(compgen -P "$head" -W "$words" -- "${word#"$head"}"))', "}"]
    lines += ["complete -o default -o bashdefault -F _penstock_completion penstock", ""]
    return "\n".join(lines)


def _fish(commands: dict[str, Any], values: dict[str, str]) -> str:
    lines = ["# penstock: completion, made by `penstock completion`"]
    for words, command in commands.items():
        inner = [name for name, _ in _inner(command)]
        seen = " and ".join(f"__fish_seen_subcommand_from {word}" for word in words.split()) or "__fish_use_subcommand"
        below = f"{seen}; and not __fish_seen_subcommand_from {' '.join(inner)}" if inner and words else seen
        for name in inner:
            lines.append(f"complete -c penstock -n '{below}' -f -a {name}")
        for option in (name for name in _options(words, command) if name.startswith("--")):
            given = f" -x -a '{values[option]}'" if values.get(option) else ""
            lines.append(f"complete -c penstock -n '{seen}' -l {option.removeprefix('--')}{given}")
    return "\n".join([*lines, ""]).replace(" and __fish", "; and __fish")
