"""machine.py: machines to simulate, from the TOML files beside this one or from a user's."""

import math
import os
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from penstock.base.errors import UserError
from penstock.base.mounts import kind_of
from penstock.measure.campaign.request import parse_size
from penstock.measure.tune import wisdom

HERE = "here"
SIZES = ("block", "smallest")  # which may have units
FOLDER = resources.files("penstock.measure.simulate") / "machines"


def names() -> list[str]:
    """The machines that are known."""
    return sorted(Path(file.name).stem for file in FOLDER.iterdir() if file.name.endswith(".toml"))


def load(word: str) -> dict[str, Any]:
    """The machine WORD, a name or a file, with sizes in bytes, as penstock-simulate reads it."""
    if word == HERE:
        return _here()
    try:
        text = Path(word).read_text(encoding="utf-8") if word.endswith(".toml") else _known(word)
        machine = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{word}: {error}") from None
    for name, table in machine.items():
        if name in {"name", "source"} and isinstance(table, str):
            continue
        if name == "assumed" and isinstance(table, list) and all(isinstance(key, str) for key in table):
            continue
        if not isinstance(table, dict) or not all(_is_value(value) for value in table.values()):
            raise UserError(f"{word}: {name} is no table of numbers: see docs/simulate.md")
        table.update({key: parse_size(table[key]) for key in SIZES if isinstance(table.get(key), str)})
    machine.setdefault("name", Path(word).stem)
    return machine


def _here() -> dict[str, Any]:
    """One node with the file system of this folder, as penstock tune --probe has measured them."""
    probed = [machine for path in wisdom.files() for machine in wisdom.machines(path)]
    kind = kind_of(Path.cwd())
    found = next((machine for machine in probed if machine["filesystem"] == kind), None)
    if found is None:
        raise UserError(f"{kind} was not probed here: penstock tune --probe does it in this folder")
    rate, seconds = found["bytes_per_second"], found["seconds"]
    return {
        "name": f"This node, {kind}, {found['mpi']}",
        "source": f"penstock tune --probe, {found['measured']}",
        "assumed": ["create_seconds", "open_seconds", "entries"],
        "nodes": {
            "count": 1,
            "cores": 1 << 16,  # all ranks, also more than there are cores
            "memory_rate": rate["copy"],
            "memory_threads": max(1, min(found["ranks"], os.cpu_count() or 1)),
            "link_rate": rate["send"],
            "message_seconds": seconds["message"],
        },
        "servers": {"count": 1, "rate": rate["copy"]},
        "targets": {
            "count": 1,
            "write_rate": max(rate["write_direct_all"], rate["write_synced_all"]),
            "read_rate": max(rate["read_direct_all"], rate["read_device_all"]),
            "call_seconds": seconds["write_call"],
        },
        "file_system": {
            "kind": kind,
            "block": 4096,
            "smallest": 4096,
            "stripe_count": 0,
            "call_seconds": seconds["write_call"],
            "lock_servers": 0,
            "grant_seconds": 0,
            "lock_seconds": 0,
        },
        "metadata": {"create_seconds": seconds["publish"], "open_seconds": seconds["write_call"], "entries": 100000},
    }


def _is_value(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, int | float) and math.isfinite(value))


def _known(name: str) -> str:
    if name not in names():
        known = ", ".join([HERE, *names()])
        raise UserError(f"no machine '{name}' is known: name a file that ends in .toml, or one of {known}")
    return (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
