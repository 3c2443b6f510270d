"""printable.py: text of other people's files and names, made harmless for a terminal."""

from typing import Any


def printable(text: str) -> str:
    r"""TEXT with what would be an order to the terminal, or is no text, written as \n, \x1b, \xff."""
    return text if text.isprintable() else "".join(map(_written, text))


def valid_utf8(text: str) -> str:
    """TEXT without what SQLite and JSON cannot take: bytes that are no UTF-8 are written as in printable."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def printable_in(value: Any) -> Any:
    """VALUE as JSON has it, with all its texts and keys printable."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable(key): printable_in(each) for key, each in value.items()}
    return [printable_in(each) for each in value] if isinstance(value, list | tuple) else value


def _written(c: str) -> str:
    if c.isprintable() or c in "\xa0\u3000":
        return c
    return f"\\x{ord(c) - 0xDC00:02x}" if "\udc80" <= c <= "\udcff" else repr(c)[1:-1]
