"""stored.py: how many bytes methods that compress store, and by how much those that round change values."""

from dataclasses import dataclass
from typing import Any

from penstock.base import words


@dataclass(frozen=True)
class Stored:
    """BYTES of the files, the median of all repetitions; RATIO is of the workload's bytes to them."""

    bytes: float
    ratio: float

    @property
    def text(self) -> str:
        return words.size(self.bytes)


@dataclass(frozen=True)
class Error:
    """The largest that was found in any element."""

    absolute: float
    relative: float

    @property
    def text(self) -> str:
        return f"{self.absolute:.3g}, relatively {self.relative:.3g}"


def stored_of(line: dict[str, Any]) -> Stored | None:
    """Of a line of a record; None where its plan does not compress."""
    found = line.get("compressed")
    return None if found is None else Stored(float(found["stored_bytes"]), float(found["ratio"]))


def error_of(line: dict[str, Any]) -> Error | None:
    """Of a line of a record; None where its plan does not round."""
    found = line.get("largest_error")
    return None if found is None else Error(float(found["absolute"]), float(found["relative"]))


def sentences(lines: list[dict[str, Any]]) -> list[str]:
    """One for each method that compresses or rounds."""
    made = {}
    for line in lines:
        stored, error = stored_of(line), error_of(line)
        if line.get("control") or (stored is None and error is None):
            continue
        parts = [] if stored is None else [f"stores {stored.text}, {words.digits(stored.ratio)} to 1"]
        parts += [] if error is None else [f"no value is off by more than {error.text}"]
        made[str(line["method"])] = f"{line['method']}: {'; '.join(parts)}."
    return list(made.values())
