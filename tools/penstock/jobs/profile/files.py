"""files.py: the bytes of one process's profile (docs/profile.md): counts of files, bins of time, rows of calls."""

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.base.errors import UserError
from penstock.jobs.trace.blocks import LATEST, MOST_RANKS, is_count

MAGIC = b"PENSPRF\x01"
SUFFIX = ".profile"
WORDS = 204  # of a file's counts
BINS = 200
# What is said in numbers, each below another.
_COUNTS = (
    ("rank", MOST_RANKS),
    ("ranks", MOST_RANKS + 1),
    *((one, LATEST) for one in ("pid", "start", "nanoseconds", "calls", "io", "recorder", "lost")),
)
_PAIR = np.dtype([("at", "<u2"), ("value", "<i8")])

Words = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ProcessFile:
    path: Path
    about: dict[str, Any]
    counts: list[Words]
    heat: list[Words]


def read_file(path: Path) -> ProcessFile:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    if data[: len(MAGIC)] != MAGIC:
        raise UserError(f"{path} is no profile of penstock")
    try:
        many, words, heat_words = struct.unpack_from("<qqq", data, len(MAGIC))
        at = len(MAGIC) + 24
        if words != WORDS or heat_words != 1 + 2 * BINS or not 0 <= many <= 1 << 16:
            raise ValueError
        parts = []
        for number in range(many + 3):
            (used,) = struct.unpack_from("<q", data, at)
            pairs = np.frombuffer(data, _PAIR, used, at + 8)
            made = np.zeros(words if number < many else heat_words, np.int64)
            made[pairs["at"]] = pairs["value"]
            parts.append(made)
            at += 8 + used * _PAIR.itemsize
        about = json.loads(data[at:])
        if not isinstance(about["rows"], list) or not all(is_count(about[name], most) for name, most in _COUNTS):
            raise ValueError
    except (ValueError, IndexError, KeyError, TypeError, struct.error):
        raise UserError(f"{path} is damaged: it is cut off, or of another version of penstock") from None
    return ProcessFile(path, about, parts[:many], parts[many:])


def text(word: str) -> str:
    """Paths are bytes, each of them one character."""
    return word.encode("latin-1", "replace").decode(errors="surrogateescape")
