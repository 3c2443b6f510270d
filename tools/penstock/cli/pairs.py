"""pairs.py: runs penstock-diff on two files, which says a line of JSON for each of their datasets."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.base import launch
from penstock.base.errors import UserError, must_be_there
from penstock.base.relay import relay

PROGRAM = "penstock-diff"
TROUBLE = 2  # the exit status where two files could not be compared


@dataclass(frozen=True)
class Compared:
    """The program's LINES and what it COMPLAINED of, which is empty where it could compare; SAME is its verdict."""

    lines: list[dict[str, Any]]
    same: bool
    complaint: str


def compare(a: Path, b: Path, words: list[str], np: int, mpi: launch.Mpi) -> Compared:
    if np < 1:
        raise UserError(f"--np must be at least 1, not {np}", TROUBLE)
    must_be_there(a, b)
    ranks = 1 if mpi is launch.Mpi.serial else np
    command = [*launch.command(PROGRAM, mpi, ranks), str(a), str(b), *words]
    with relay() as errors:
        ran = subprocess.run(
            command, env=launch.environment(), stdout=subprocess.PIPE, stderr=errors.file, text=True, check=False
        )
    lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    complaint = "" if ran.returncode in (0, 1) else errors.complaint(PROGRAM) or f"{PROGRAM} failed"
    return Compared(lines, ran.returncode == 0, complaint)


def only_words(only: list[str] | None) -> list[str]:
    return [word for name in only or [] for word in ("--only", name.strip("/"))]


def index(at: list[int]) -> str:
    return "(" + ", ".join(map(str, at)) + ")"
