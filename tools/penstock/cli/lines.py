"""lines.py: runs a program of the library that says a line of JSON for each file."""

import errno
import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from penstock.base import launch
from penstock.base.errors import MISSING, UserError
from penstock.base.printable import printable, printable_in
from penstock.base.relay import own_lines, relay

Line = dict[str, Any]


def run(
    program: str,
    words: list[str],
    files: list[Path],
    np: int | None,
    mpi: launch.Mpi,
    moved: Callable[[str, float], None] = lambda _file, _share: None,
) -> list[Line]:
    """One line for each of FILES; its last error line is a UserError where it ended before.

    NP: ranks; None where the program needs no MPI, and so no launcher. MOVED is told how much of which file is done,
    from 0 to 1.
    """
    if np is not None and np < 1:
        raise UserError(f"--np must be at least 1, not {np}")
    launcher = [] if np is None else launch.mpiexec(mpi, 1 if mpi is launch.Mpi.serial else np)
    command = [*launcher, str(launch.program(program, mpi)), *words, *map(str, files)]
    lines: list[Line] = []
    with (
        relay() as errors,
        subprocess.Popen(
            command, env=launch.environment(), stdout=subprocess.PIPE, stderr=errors.file, text=True
        ) as ran,
    ):
        assert ran.stdout is not None
        for text in ran.stdout:
            if not text.startswith("{"):
                continue
            line: Line = json.loads(text)
            moved(line["file"], line.get("share", 1.0))
            if line.get("error", "").endswith(os.strerror(errno.ENOENT)) and not Path(line["file"]).exists():
                line["error"] = f"'{line['file']}': {MISSING}"
            if "share" not in line:
                lines.append(line)
    if len(lines) < len(files):
        messages = "; ".join(own_lines(program, errors.lines()))
        raise UserError(messages or _ended(program, files[len(lines)], ran.returncode), 1)
    return lines


def _ended(program: str, file: Path, code: int) -> str:
    if code >= 0:
        return f"{program} ended before it had seen all files"
    return (
        f"'{file}': {program} was ended by {signal.Signals(-code).name} while it read this file; "
        "if nobody killed it, the file is damaged"
    )


def conclude(
    results: list[Line], as_json: bool, describe: Callable[[Line], str], is_good: Callable[[Line], bool]
) -> None:
    """Prints all RESULTS, errors on stderr unless as JSON; the exit status is 1 unless all are good."""
    for result in results:
        tell(result, as_json, describe)
    if not all(map(is_good, results)):
        raise typer.Exit(status_of(results))


def status_of(results: list[Line]) -> int:
    """Returns the exit status for RESULTS that contain failures: 2 if a file does not exist, 1 otherwise."""
    return 2 if any(each.get("error", "").endswith(MISSING) for each in results) else 1


def tell(result: Line, as_json: bool, describe: Callable[[Line], str]) -> None:
    if "error" in result and not as_json:
        typer.echo(f"penstock: {printable(error_of(result))}", err=True)
    else:
        typer.echo(json.dumps(result) if as_json else describe(printable_in(result)))


def error_of(line: Line) -> str:
    """What went wrong with its file, which is named."""
    error: str = line["error"]
    return error if line["file"] in error else f"'{line['file']}': {error}"
