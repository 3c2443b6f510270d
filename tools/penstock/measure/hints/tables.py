"""tables.py: the hints known, as the TOML files of this folder say."""

import tomllib
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import resources
from typing import Any


class How(StrEnum):
    """How a hint is set: an MPI_Info key, an MCA parameter of Open MPI, or a variable of the environment."""

    info = "info"
    mca = "mca"
    environment = "environment"


@dataclass(frozen=True)
class Probe:
    """One small access by which an effect of the hint can be seen; WITH are other hints set in both runs."""

    value: str
    operation: str
    with_: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Hint:
    """A hint; either it has probes, or it NEEDS what is not here, or UNPROBED says why there are none."""

    name: str
    layer: str
    how: How
    meaning: str
    allowed: str
    default: str
    needs: str = ""
    unprobed: str = ""
    probes: tuple[Probe, ...] = ()


TABLES = ("romio", "lustre", "gpfs", "ompio", "others")


def known_hints() -> list[Hint]:
    """Every hint of every table, in their order."""
    found: list[Hint] = []
    for name in TABLES:
        text = resources.files("penstock.measure.hints").joinpath(f"{name}.toml").read_text(encoding="utf-8")
        table = tomllib.loads(text)
        found += [_hint(entry, table) for entry in table["hint"]]
    return found


def _hint(entry: dict[str, Any], table: dict[str, Any]) -> Hint:
    probes = tuple(Probe(p["value"], p["operation"], p.get("with", {})) for p in entry.get("probes", []))
    return Hint(
        name=entry["name"],
        layer=table["layer"],
        how=How(entry.get("set", "info")),
        meaning=entry["meaning"],
        allowed=entry["allowed"],
        default=entry["default"],
        needs=entry.get("needs", table.get("needs", "")),
        unprobed=entry.get("unprobed", ""),
        probes=probes,
    )
