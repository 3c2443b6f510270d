"""commands.py: the program `penstock` as man pages and as a page of the site, from its own tree of subcommands."""

import inspect
import sys
from collections.abc import Iterator
from typing import Any

import header

sys.path.insert(0, str(header.ROOT / "tools"))
import roff

from penstock.cli import whole

ENDS = (
    ("0", "All went well."),
    ("1", "It was done, and what was looked at is not as it should be; or it failed."),
    ("2", "The command line, or a file that it names, cannot be."),
)


def tree() -> dict[str, Any]:
    """All subcommands by their words: "verify", "import ramses"."""
    return dict(_below((), whole()))


def _below(words: tuple[str, ...], command: Any) -> Iterator[tuple[str, Any]]:
    if words:
        yield " ".join(words), command
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        if not inner.hidden:  # a name of before
            yield from _below((*words, name), inner)


def usage(words: str, command: Any) -> str:
    context = command.context_class(command, info_name=f"penstock {words}".strip())
    return " ".join([f"penstock {words}".strip(), *command.collect_usage_pieces(context)])


def parameters(command: Any) -> Iterator[tuple[str, str]]:
    """Each option and argument, as it is written, and what it is for."""
    context = command.context_class(command, info_name="")
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            written, meaning = record
            yield written if written.startswith("-") else written.partition(" <")[0], meaning


def words_of(command: Any) -> str:
    return inspect.cleandoc(command.help or command.callback.__doc__ or "").replace("\b", "").split("\f")[0]


def man(version: str) -> Iterator[roff.Page]:
    """penstock(1), and a page for each subcommand."""
    commands = tree()
    overview = roff.Page("penstock", 1, version)
    overview.name("tools that measure, explain and change files of parallel arrays")
    overview.head("synopsis")
    overview.literal("penstock SUBCOMMAND [OPTIONS] [ARGUMENTS]\npenstock SUBCOMMAND --help\npenstock --version")
    overview.head("subcommands")
    for words, command in commands.items():
        if not getattr(command, "commands", None):
            overview.entry(f"penstock {words}", _first(words_of(command)))
    _ends(overview)
    overview.also([*((page_name(words), 1) for words in commands), ("penstock", 3)])
    yield overview
    for words, command in commands.items():
        page = roff.Page(page_name(words), 1, version)
        page.name(_first(words_of(command)))
        page.head("synopsis")
        page.literal(usage(words, command))
        page.head("description")
        page.words(words_of(command))
        inner = getattr(command, "commands", {})
        for name, below in sorted(inner.items()):
            page.entry(f"penstock {words} {name}", _first(words_of(below)))
        if found := list(parameters(command)):
            page.head("arguments and options")
            for written, meaning in found:
                page.entry(written, meaning)
        _ends(page)
        page.also([("penstock", 1), *((page_name(f"{words} {name}"), 1) for name in sorted(inner))])
        yield page


def page_name(words: str) -> str:
    return "-".join(["penstock", *words.split()])


def _ends(page: roff.Page) -> None:
    page.head("exit status")
    for status, meaning in ENDS:
        page.entry(status, meaning)


def _first(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split()).rstrip(".")


def markdown() -> str:
    """All subcommands as one page."""
    lines = [
        "# The command line",
        "",
        "Made from `penstock --help`. Each subcommand has a man page: `man penstock-verify`.",
        "",
    ]
    for words, command in tree().items():
        lines += [f"## penstock {words}", "", "```text", usage(words, command), "```", ""]
        lines += [_marked(words_of(command)), ""]
        for written, meaning in parameters(command):
            lines += [f"`{written}`", f": {_marked(meaning) or written}", ""]
    lines += ["## Exit status", ""]
    for status, meaning in ENDS:
        lines += [f"`{status}`", f": {meaning}", ""]
    return "\n".join(lines)


def _marked(text: str) -> str:
    for mark in "\\*_<[#|$":
        text = text.replace(mark, "\\" + mark)
    return text
