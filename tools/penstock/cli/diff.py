"""diff.py: `penstock diff` compares what is in two files by value, whatever their formats."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.base import launch
from penstock.base.errors import UserError
from penstock.base.printable import printable, printable_in
from penstock.cli import options
from penstock.cli.pairs import TROUBLE, compare, index, only_words


def register(app: typer.Typer) -> None:
    app.command()(diff)


def diff(
    a: Annotated[Path, typer.Argument(metavar="A", help="A file, or the master of a set.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Another one, of any format and placement.")],
    rtol: Annotated[
        float, typer.Option("--rtol", min=0, help="Take elements as equal where |a - b| <= atol + rtol |b|.")
    ] = 0.0,
    atol: Annotated[float, typer.Option("--atol", min=0, help="The absolute part of that tolerance.")] = 0.0,
    only: options.Only = None,
    ignore_attributes: Annotated[bool, typer.Option("--ignore-attributes", help="Compare datasets only.")] = False,
    nan_differs: Annotated[bool, typer.Option("--nan-differs", help="Let NaN differ from NaN.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing; only set the exit status.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a line of JSON for each dataset, and each attribute that differs.")
    ] = False,
    np: options.Ranks = options.RANKS,
    mpi: options.Mpi = launch.HERE,
) -> None:
    """Compare two files by value.

    You see datasets and attributes that are in one file only, and shapes, elements and attributes that differ. Numbers
    of different types are compared by their values. The exit status is 0 where all is the same, 1 where
    something differs, 2 where that could not be found out.
    """
    words = ["--rtol", repr(rtol), "--atol", repr(atol), *only_words(only)]
    words += ["--ignore-attributes"] * ignore_attributes + ["--nan-differs"] * nan_differs
    found = compare(a, b, words, np, mpi)
    for line in found.lines:
        if not quiet:
            _print(line, a, b, as_json)
    if found.complaint:
        raise UserError(found.complaint, TROUBLE)
    if not found.same:
        raise typer.Exit(1)


def _print(line: dict[str, Any], a: Path, b: Path, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(line, separators=(",", ":"), ensure_ascii=False))
        return
    found = printable_in(line)
    if "not_compared" in found:
        text = f"not compared, in '{printable(str(a if found['in'] == 'a' else b))}': {found['not_compared']}"
    else:
        text = _describe(found, printable(str(a)), printable(str(b)))
    if text:
        typer.echo(text)


def _describe(found: dict[str, Any], a: str, b: str) -> str:
    """ "" where there is nothing to say."""
    what = (
        f"attribute '{found['attribute']}' of {_object(found['of'])}"
        if "attribute" in found
        else f"'{found['dataset']}'"
    )
    if "only_in" in found:
        return f"{what} is in '{a if found['only_in'] == 'a' else b}' only"
    if "values" in found:
        return f"{what} is {found['values'][0]} in '{a}', {found['values'][1]} in '{b}'"
    types = f" ({found['types'][0]} and {found['types'][1]})" if "types" in found else ""
    if "attribute" in found:
        return f"{what}: the same value{types}"
    if "shapes" in found:
        return f"{what} is {_kind(found, 0)} in '{a}', {_kind(found, 1)} in '{b}'"
    if not found["differing"]:
        return f"{what}: the same values{types}" if types else ""
    text = f"{what}{types}: {found['differing']} of {found['elements']} elements differ, "
    text += f"the first at {index(found['first'])}"
    if "largest" in found:
        text += f"; most by {found['largest']:.6g} at {index(found['largest_at'])}"
        if found["largest_relative"]:
            text += f", relatively by {found['largest_relative']:.3g}"
    return text


def _kind(found: dict[str, Any], which: int) -> str:
    types = found.get("types")
    return f"{types[which]} {found['shapes'][which]}" if types else str(found["shapes"][which])


def _object(name: str) -> str:
    return f"'{name}'" if name else "the file"
