"""program.py: what penstock-bench says of itself, its methods and its options, so that nothing here lists them."""

import json
import subprocess

from penstock.base import launch
from penstock.base.errors import UserError

PROGRAM = "penstock-bench"


def ask(mpi: launch.Mpi, *words: str) -> str:
    """Returns what penstock-bench prints if one rank of it is started with WORDS."""
    command = [*launch.command(PROGRAM, mpi, 1), *words]
    ran = subprocess.run(command, env=launch.environment(), capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise UserError("; ".join(ran.stderr.strip().splitlines()) or f"{PROGRAM} failed", 1)
    return ran.stdout


def options(mpi: launch.Mpi) -> dict[str, dict[str, bool]]:
    """Under each heading of the program's help, as Run: the names of its options, and whether each takes a value."""
    groups: dict[str, dict[str, bool]] = {}
    for option in json.loads(ask(mpi, "--options-json"))["options"]:
        groups.setdefault(option["group"], {}).update(dict.fromkeys(option["names"], option["value"]))
    return groups


def common_parameters(mpi: launch.Mpi) -> list[str]:
    """The parameters of every plan, whatever its transport."""
    return [str(parameter["name"]) for parameter in json.loads(ask(mpi, "--methods-json"))["common"]["parameters"]]
