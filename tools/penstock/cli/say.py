"""say.py: sentences on standard output."""

from rich.console import Console

UNBROKEN = 100_000  # columns


def unbroken() -> Console:
    """As wide as the terminal; in a file or a pipe, where programs look for lines, as wide as what is said.

    Names in brackets are names, not orders to rich.
    """
    width = None if Console().is_terminal else UNBROKEN
    return Console(width=width, markup=False, highlight=False)


def say(sentence: str, style: str | None = None) -> None:
    """Broken between words on a terminal; one line in a file or a pipe, where programs look for it."""
    unbroken().print(sentence, style=style)
