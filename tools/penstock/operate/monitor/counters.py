"""counters.py: how far counters of the system moved between two readings, where they wrap or begin again."""

from collections.abc import Mapping
from pathlib import Path

Counters = Mapping[str, int]


def moved(before: int, now: int, bits: int = 64) -> int | None:
    """None where it began again. A narrow counter that is smaller wrapped, if that is less than half of its range."""
    if now >= before:
        return now - before
    wrapped = now + (1 << bits) - before
    return wrapped if bits < 64 and wrapped < 1 << (bits - 1) else None


def moved_all(before: Counters, now: Counters, narrow: frozenset[str] = frozenset()) -> dict[str, int] | None:
    """Returns how far each counter of both readings moved, those in NARROW having 32 bits; None if any was reset."""
    differences = {}
    for name in now.keys() & before.keys():
        difference = moved(before[name], now[name], 32 if name in narrow else 64)
        if difference is None:
            return None
        differences[name] = difference
    return differences


def text_of(path: Path) -> str:
    """Returns the text of a small system file, undecodable bytes as surrogates; OSError if it cannot be read."""
    return path.read_bytes().decode("utf-8", "surrogateescape")


def lines_of(path: Path) -> list[str]:
    """Returns the lines of a system file; none if it is missing or may not be read."""
    try:
        return text_of(path).splitlines()
    except OSError:
        return []


def integers(words: list[str]) -> list[int]:
    """WORDS as numbers as far as they are."""
    numbers: list[int] = []
    for word in words:
        if not (word.isascii() and word.isdigit()):
            break
        numbers.append(int(word))
    return numbers
