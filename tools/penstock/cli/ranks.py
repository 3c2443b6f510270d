"""ranks.py: runs a program of the library on ranks, and turns what it says of a failure into an error of ours."""

import subprocess

from penstock.base import launch
from penstock.base.errors import UserError
from penstock.base.relay import relay


def run(program: str, words: list[str], np: int, mpi: launch.Mpi) -> str:
    """What PROGRAM printed; where it failed, its own line as a UserError. A serial build runs on one rank."""
    if np < 1:
        raise UserError(f"--np must be at least 1, not {np}")
    ranks = 1 if mpi is launch.Mpi.serial else np
    command = [*launch.command(program, mpi, ranks), *words]
    with relay() as errors:
        ran = subprocess.run(
            command, env=launch.environment(), stdout=subprocess.PIPE, stderr=errors.file, text=True, check=False
        )
    if ran.returncode != 0:
        raise UserError(errors.complaint(program) or f"{program} failed", 1)
    return ran.stdout.strip()
