"""against.py: `penstock verify --against`: by how much the values of files differ from those of a reference."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from penstock.base import launch
from penstock.base.printable import printable, printable_in
from penstock.cli.pairs import TROUBLE, Compared, compare, index, only_words

Line = dict[str, Any]


@dataclass(frozen=True)
class Limits:
    """An element may differ by ABSOLUTE, or by RELATIVE of the reference's magnitude; without both, not at all."""

    absolute: float | None
    relative: float | None

    def words(self) -> list[str]:
        given = (("--max-error", self.absolute), ("--max-relative-error", self.relative))
        return [word for name, value in given if value is not None for word in (name, repr(value))]

    def __str__(self) -> str:
        parts = [] if self.absolute is None else [f"{self.absolute:g}"]
        parts += [] if self.relative is None else [f"{self.relative:g} of the reference's values"]
        return " or ".join(parts)


def compare_with(
    reference: Path, files: list[Path], only: list[str] | None, limits: Limits, np: int, mpi: launch.Mpi, as_json: bool
) -> None:
    """Prints how near each of FILES is to REFERENCE. The exit status is 1 unless all are near enough, and 2 where that
    could not be found out.
    """
    status = 0
    for file in files:
        found = compare(file, reference, ["--errors", *only_words(only), *limits.words()], np, mpi)
        status = max(status, TROUBLE if found.complaint else 0 if found.same else 1)
        if as_json:
            line = {"file": str(file), "against": str(reference), "agrees": found.same, "datasets": found.lines}
            typer.echo(json.dumps(line | ({"error": found.complaint} if found.complaint else {})))
            continue
        for text in _told(found, printable(str(file)), printable(str(reference)), limits):
            typer.echo(text)
        if found.complaint:
            typer.echo(f"penstock: {printable(found.complaint)}", err=True)
    if status:
        raise typer.Exit(status)


def _told(found: Compared, file: str, reference: str, limits: Limits) -> list[str]:
    lines = [printable_in(line) for line in found.lines]
    text = [f"{file} against {reference}:", *(f"  {_dataset(line, file, reference)}" for line in lines)]
    if found.complaint:
        return text
    bounded = limits.absolute is not None or limits.relative is not None
    if found.same:
        equal = all(line.get("bit_equal", True) for line in lines)
        verdict = "all bits are the same" if equal else "all values are the same"
        if any(line.get("differing") for line in lines):
            verdict = f"no value differs by more than {limits}"
        return [*text, f"  {verdict}"]
    beyond = sum(line.get("beyond", 0) for line in lines)
    whats = [f"{beyond} element{'' if beyond == 1 else 's'}" + (f" by more than {limits}" if bounded else "")]
    others = sum("beyond" not in line for line in lines)
    whats = (whats if beyond else []) + ([f"{others} dataset{'' if others == 1 else 's'} as a whole"] if others else [])
    return [*text, f"  DIFFERS: {' and '.join(whats)}"]


def _dataset(line: Line, file: str, reference: str) -> str:
    if "not_compared" in line:
        return f"not compared, in '{file if line['in'] == 'a' else reference}': {line['not_compared']}"
    name = f"'{line['dataset']}'"
    if "only_in" in line:
        return f"{name} is in '{file if line['only_in'] == 'a' else reference}' only"
    types = line.get("types")
    if "shapes" in line:
        kinds = [f"{types[which]} " if types else "" for which in (0, 1)]
        return f"{name} is {kinds[0]}{line['shapes'][0]}, {kinds[1]}{line['shapes'][1]} in the reference"
    remarks = [f"{types[0]} and {types[1]}"] if types else []
    remarks += ["unpacked"] if "packed" in line else []
    head = f"{name} ({', '.join(remarks)})" if remarks else name
    return f"{head}: {_how_near(line)}"


def _how_near(line: Line) -> str:
    if line["bit_equal"]:
        return "the same, bit by bit"
    if not line["differing"]:
        return "the same values"
    parts = [
        f"{line['differing']} of {line['elements']} elements differ, the first at {index(line['first_differing'])}"
    ]
    if "largest" in line:
        parts.append(f"by at most {_number(line['largest'])} at {index(line['largest_at'])}")
        parts.append(f"relatively {_number(line['largest_relative'])} at {index(line['largest_relative_at'])}")
    if line["one_nan"]:
        parts.append(f"{line['one_nan']} are NaN in one of both only, the first at {index(line['first_one_nan'])}")
    if 0 < line["beyond"] < line["differing"]:
        parts.append(f"{line['beyond']} too much, the first at {index(line['first_beyond'])}")
    return "; ".join(parts)


def _number(value: float | str) -> str:
    return "infinity" if value == "inf" else f"{value:.6g}"
