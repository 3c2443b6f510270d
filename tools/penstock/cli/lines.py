"""lines.py: runs a program of the library that says a line of JSON for each file."""

import json
import subprocess
from pathlib import Path
from typing import Any

from penstock.campaign import launch
from penstock.errors import UserError


def run(program: str, words: list[str], files: list[Path], np: int, mpi: launch.Mpi) -> list[dict[str, Any]]:
    """One line for each of FILES; its last error line is a UserError where it ended before."""
    if np < 1:
        raise UserError(f"--np must be at least 1, not {np}")
    ranks = 1 if mpi is launch.Mpi.serial else np
    command = [*launch.mpiexec(mpi, ranks), str(launch.program(program, mpi)), *words, *map(str, files)]
    ran = subprocess.run(command, env=launch.environment(), capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    if len(lines) < len(files):
        said = [line for line in ran.stderr.splitlines() if line.startswith(f"{program}: ")]
        raise UserError(
            said[0].removeprefix(f"{program}: ") if said else f"{program} ended before it had seen all files", 1
        )
    return lines


def error_of(line: dict[str, Any]) -> str:
    """What went wrong with its file, which is named."""
    error: str = line["error"]
    return error if line["file"] in error else f"'{line['file']}': {error}"
