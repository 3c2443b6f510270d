"""clean.py: `penstock clean` removes partial files and parts that dead processes left."""

import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.base import words
from penstock.base.errors import MISSING, UserError
from penstock.base.links import followed
from penstock.base.printable import printable
from penstock.cli import options
from penstock.cli.file_info import is_folder
from penstock.operate.leftovers import names
from penstock.operate.leftovers.remove import remove
from penstock.operate.leftovers.survey import LeftOver, Rules, survey

SCHEMA = "penstock.clean/1"
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def register(app: typer.Typer) -> None:
    app.command()(clean)


def clean(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Folders to clean, or files whose left-overs to remove."),
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be removed; remove nothing.")] = False,
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than",
            metavar="DURATION",
            help="Also remove left-overs of unknown processes that nobody has written to for so long: 90m, 12h, 7d.",
        ),
    ] = None,
    host_is_dead: Annotated[
        list[str] | None,
        typer.Option("--host-is-dead", metavar="HOST", help="Take all processes on HOST for dead. Repeatable."),
    ] = None,
    json_wanted: options.Json = False,
) -> None:
    """Remove what killed programs left behind.

    A program that is killed while it writes leaves a hidden file beside its target, .TARGET.XXXX.partial, whose name
    says which process of which job on which host made it; it may leave parts of a set as well. They are removed if
    their process has certainly ended: it ran on this machine and is gone, or its Slurm job is over. All others stay,
    with a reason, unless you say more. Complete files, and files of running jobs, are never touched.
    """
    rules = Rules(
        None if older_than is None else _seconds(older_than),
        frozenset(names.host_name(host) for host in host_is_dead or []),
    )
    outcomes = [_outcome(left, dry_run) for left in _find(paths, rules)]
    failed = sum(action == "failed" for _, action, _ in outcomes)
    if json_wanted:
        typer.echo(json.dumps(_as_json(outcomes, dry_run), indent=1))
    else:
        for left, action, why in outcomes:
            typer.echo(f"{action}  {_shown(left)}: {printable(why)}")
        typer.echo(_sum(outcomes))
    if failed:
        raise UserError(f"{failed} of {len(outcomes)} left-overs could not be removed", status=1)


Outcome = tuple[LeftOver, str, str]  # what was done, and why


def _find(paths: list[Path], rules: Rules) -> list[LeftOver]:
    found: list[LeftOver] = []
    for path in paths:
        whole = followed(path)  # partial files lie beside the file, not beside a link to it
        folder, target = (whole, None) if is_folder(whole) else (whole.parent, whole.name)
        if not folder.is_dir():
            raise UserError(f"'{path}': {MISSING}")
        try:
            new = survey(folder, target, rules)
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}", status=1) from None
        if not new and not whole.exists():
            raise UserError(f"'{path}': {MISSING}, and nothing that was left beside it")
        seen = {(left.folder, *left.files()) for left in found}
        found += [left for left in new if (left.folder, *left.files()) not in seen]
    return found


def _outcome(left: LeftOver, dry_run: bool) -> Outcome:
    if not left.removable:
        return left, "kept", left.why
    if dry_run:
        return left, "would be removed", left.why
    error = remove(left)
    return (left, "removed", left.why) if error is None else (left, "failed", error)


def _shown(left: LeftOver) -> str:
    more = len(left.files()) - 1
    name = printable(str(left.folder / left.files()[-1]))
    return f"{name}{f' and {more} more' if more else ''} ({words.size(left.bytes)})"


def _sum(outcomes: list[Outcome]) -> str:
    if not outcomes:
        return "nothing is left over"
    lines = []
    for action in ("removed", "would be removed", "kept", "failed"):
        of_it = [left for left, done, _ in outcomes if done == action]
        if of_it:
            lines.append(f"{len(of_it)} {action} ({words.size(sum(left.bytes for left in of_it))})")
    return ", ".join(lines)


def _as_json(outcomes: list[Outcome], dry_run: bool) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "dry_run": dry_run,
        "left_overs": [left.as_json() | {"action": action, "why": why} for left, action, why in outcomes],
        "removed_bytes": sum(left.bytes for left, action, _ in outcomes if action == "removed"),
    }


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", text)
    if found is None:
        raise UserError(f"--older-than {text}: a number and one of s, m, h, d, w, as 90m, 12h, 7d")
    return float(found[1]) * UNITS[found[2]]
