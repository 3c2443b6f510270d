"""request.py: what is asked of the library that takes over MPI-IO calls: plans, what is kept back, where it reports."""

import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from penstock.base import launch, preload
from penstock.base.errors import UserError
from penstock.measure.campaign.request import parse_size

NAME = "libpenstock_mpiio.so"
TRANSPORTS = ("two_phase", "independent", "servers")
PLANS = ("auto", "none", *TRANSPORTS)
PREFIX = "PENSTOCK_RUN_"
OFF = {"PENSTOCK_RUN": "0"}
DRIVER = "penstock"  # of HDF5's files
DRIVER_LIBRARY = "hdf5/libpenstock_hdf5_driver.so"
PARAMETERS = re.compile(r"[a-z_]+=[^=,:;\s]+(,[a-z_]+=[^=,:;\s]+)*")


class Defer(StrEnum):
    """Which writes may be kept back and moved later, together."""

    collective = "collective"
    none = "none"


@dataclass(frozen=True)
class Request:
    """RULES as the library reads them; None: its own choice."""

    rules: str | None = None
    defer: Defer | None = None
    memory_bytes: int | None = None

    def variables(self) -> dict[str, str]:
        given = {"PLAN": self.rules, "DEFER": self.defer, "MEMORY": self.memory_bytes}
        return {f"{PREFIX}{name}": str(value) for name, value in given.items() if value is not None}


def request(plans: Sequence[str], defer: Defer | None, memory: str | None) -> Request:
    """UserError for what has not the form that the library reads."""
    size = None if memory is None else parse_size(memory)
    if size == 0:
        raise UserError("--memory 0: to keep nothing back is --defer none")
    return Request(rules(plans), defer, size)


def rules(plans: Sequence[str]) -> str | None:
    """PLANS, each PLAN or PATTERN=PLAN, as one text; that without a pattern is for the rest, and comes last."""
    found = [split(one) for one in plans]
    rest = [plan for pattern, plan in found if pattern is None]
    if len(rest) > 1:
        raise UserError(f"--plan {rest[1]}: {rest[0]} is for all files already; name some by PATTERN=PLAN")
    told = [f"{pattern}={plan}" for pattern, plan in found if pattern is not None]
    return ";".join([*told, *rest]) or None


def split(text: str) -> tuple[str | None, str]:
    """The pattern, which ends at the first =, and the plan. Without a pattern a colon is before it: two_phase:w=4."""
    before, equals, after = text.partition("=")
    pattern, plan = (before, after) if equals and ":" not in before else (None, text)
    name, colon, parameters = plan.partition(":")
    if name not in PLANS:
        hint = ": of PATTERN=PLAN, PATTERN is the name of files" if pattern is None and equals else ""
        raise UserError(f"--plan {text}: '{name}' is no plan of unchanged programs; there are {', '.join(PLANS)}{hint}")
    if pattern is not None and (not pattern or ";" in pattern):
        raise UserError(f"--plan {text}: '{pattern}' is no pattern of file names, as *.h5 or out/*")
    if colon and (name not in TRANSPORTS or not PARAMETERS.fullmatch(parameters)):
        raise UserError(f"--plan {text}: parameters are name=value, with commas between them, as two_phase:writers=4")
    if name == "servers" and colon and not re.fullmatch(r"buffer_bytes=[^,]+", parameters):
        raise UserError(f"--plan {text}: the one parameter of servers for unchanged programs is buffer_bytes")
    return pattern, plan


def hdf5_driver(mpi: launch.Mpi | None, preloaded: str) -> dict[str, str]:
    """What HDF5's file driver needs, where the user asks for it: its folder, and to be in front of HDF5, too."""
    if os.environ.get("HDF5_DRIVER") != DRIVER:
        return {}
    try:
        library = preload.library(DRIVER_LIBRARY, mpi)
    except UserError:
        raise UserError(f"HDF5_DRIVER={DRIVER}: this build has no file driver, which needs HDF5 1.14") from None
    path = os.environ.get("HDF5_PLUGIN_PATH", "/usr/local/hdf5/lib/plugin")  # HDF5's own where nothing is set
    given = {name: os.environ[name] for name in ("HDF5_DRIVER", "HDF5_DRIVER_CONFIG") if name in os.environ}
    return given | {"HDF5_PLUGIN_PATH": f"{library.parent}:{path}", "LD_PRELOAD": f"{library}:{preloaded}"}


def folder_in(place: Path) -> "tempfile.TemporaryDirectory[str]":
    """A folder for reports in PLACE, which all nodes should see, else in that for temporary files."""
    for one in (place, Path(tempfile.gettempdir())):
        try:
            return tempfile.TemporaryDirectory(prefix=".penstock-run-", dir=one, ignore_cleanup_errors=True)
        except OSError as error:
            reason = f"{one}: {error.strerror}"
    raise UserError(f"{reason}: there is no place for a report")


def without() -> dict[str, str]:
    """Our environment for a run without the library; in programs that are linked with it, it does nothing."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    if kept.get("HDF5_DRIVER") == DRIVER:
        del kept["HDF5_DRIVER"]
    preloaded = [one for one in re.split(r"[\s:]+", kept.pop("LD_PRELOAD", "")) if one and Path(one).name != NAME]
    return kept | ({"LD_PRELOAD": ":".join(preloaded)} if preloaded else {}) | OFF
