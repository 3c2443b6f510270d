"""methods.py: what a build can do ("penstock.methods/1") as tables."""

from typing import Any

from rich import box
from rich.table import Table

Methods = dict[str, Any]
CELL = ("positioning", "coordination", "synchronism")


def ways(methods: Methods) -> Table:
    """One row for each format, placement, transport, alias and engine."""
    made = _table("what", "name", "built", "when it is good")
    for what in ("formats", "transports", "placements", "engines"):
        for entry in methods[what]:
            made.add_row(
                what[:-1], entry["name"], f"no: {entry['missing']}" if entry["missing"] else "yes", entry["summary"]
            )
        made.add_section()
    for alias in methods["aliases"]:
        made.add_row("alias", alias["name"], "yes", f"{alias['help']} ({alias['transport']}:{alias['parameters']})")
    return made


def cells(methods: Methods) -> Table:
    """One row for each access of MPI-IO that can be asked for; those that the standard does not have say so."""
    made = _table(*CELL, "", "there is")
    by_cell = {}
    for method in methods["methods"]:
        name, _, text = method["plan"].partition(":")
        values = dict(item.partition("=")[::2] for item in text.split(",") if item)
        if name == "raw/mpiio":
            by_cell[tuple(values.get(word, _default(methods, word)) for word in CELL)] = (values, method["refused"])
    for cell, (values, refused) in sorted(by_cell.items()):
        needs = "layout=chunks" if values.get("layout") == "chunks" else ""
        made.add_row(*cell, needs, f"no: {refused.removeprefix('mpiio: ')}" if refused else "yes")
    return made


def parameters(methods: Methods) -> Table:
    """Every parameter with its values, by whom it belongs to."""
    made = _table("of", "parameter", "values", "default", "meaning")
    groups = [("every FORMAT/TRANSPORT", methods["common"]), ("every engine", methods["engine_common"])]
    for what in ("formats", "placements", "transports", "engines"):
        groups += [(entry["name"], entry) for entry in methods[what]]
    for name, entry in groups:
        for parameter in entry["parameters"]:
            made.add_row(name, parameter["name"], _values(parameter), parameter["default"], parameter["help"])
        if entry.get("hints"):
            made.add_row(name, "hint.NAME", "text", "", "any hint of MPI_Info: see penstock hints")
        if entry["parameters"]:
            made.add_section()
    return made


def _values(parameter: dict[str, str]) -> str:
    kind, allowed = parameter["type"], parameter["allowed"]
    if kind == "boolean":
        return "true, false"
    if kind == "choice":
        return allowed.replace("|", ", ")
    if kind in ("integer", "bytes"):
        return f"{'bytes' if kind == 'bytes' else 'number'}, at least {allowed}" if allowed else kind
    return allowed or "text"


def _default(methods: Methods, name: str) -> str:
    for transport in methods["transports"]:
        for parameter in transport["parameters"]:
            if transport["name"] == "mpiio" and parameter["name"] == name:
                return str(parameter["default"])
    return ""


def _table(*columns: str) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        made.add_column(column, overflow="fold")
    return made
