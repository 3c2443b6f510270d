"""candidates.py: the plans that a search tries: those of the library's planner."""

import json

from penstock.base import launch
from penstock.measure.campaign.program import ask

DEFAULT = "two_phase"


def candidates(mpi: launch.Mpi, form: str, ranks: int) -> list[str]:
    """The plans to try for a file of format FORM that RANKS write, the default first."""
    return [f"{form}/{transport}" for transport in json.loads(ask(mpi, f"--plans-to-try={ranks}"))]


def stripes(mpi: launch.Mpi, form: str) -> list[str]:
    """The default with other numbers of stripes, for new files of format FORM on a file system that has some."""
    return [f"{form}/{transport}" for transport in json.loads(ask(mpi, "--stripes-to-try"))]


def transport_of(plan: str) -> str:
    """ "two_phase:writers=1" of "hdf5/two_phase:writers=1"."""
    return plan.partition("/")[2]
