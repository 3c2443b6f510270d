"""say.py: sentences on standard output."""

from rich.console import Console


def say(sentence: str, style: str | None = None) -> None:
    """Broken between words on a terminal; one line in a file or a pipe, where programs look for it."""
    console = Console()
    console.print(sentence, style=style, highlight=False, markup=False, soft_wrap=not console.is_terminal)
