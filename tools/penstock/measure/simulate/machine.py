"""machine.py: machines to simulate, from the TOML files beside this one or from a user's."""

import math
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from penstock.base.errors import UserError
from penstock.measure.campaign.request import parse_size

SIZES = ("block", "smallest")  # which may have units
FOLDER = resources.files("penstock.measure.simulate") / "machines"


def names() -> list[str]:
    """The machines that are known."""
    return sorted(Path(file.name).stem for file in FOLDER.iterdir() if file.name.endswith(".toml"))


def load(word: str) -> dict[str, Any]:
    """The machine WORD, a name or a file, with sizes in bytes, as penstock-simulate reads it."""
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


def _is_value(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, int | float) and math.isfinite(value))


def _known(name: str) -> str:
    if name not in names():
        raise UserError(f"no machine '{name}' is known: name a file that ends in .toml, or one of {', '.join(names())}")
    return (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
