"""events.py: what penstock-bench reports while it runs, one JSON object per line."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Started:
    total_runs: int


@dataclass(frozen=True)
class Run:
    """One operation of one method is done; repetition 0 is the warm-up."""

    method: str
    operation: str
    repetition: int
    seconds: float
    done: int
    of: int


@dataclass(frozen=True)
class Failed:
    """A method takes no further part."""

    method: str
    repetition: int
    error: str


@dataclass(frozen=True)
class Finished:
    pass


Event = Started | Run | Failed | Finished


def parse_event(line: str) -> Event | None:
    """The event in LINE; None where there is none: MPI and other libraries may print lines of their own."""
    try:
        fields = json.loads(line)
        return _event(fields) if isinstance(fields, dict) else None
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return None


def _event(fields: dict[str, Any]) -> Event | None:
    match fields.get("event"):
        case "start":
            return Started(int(fields["total_runs"]))
        case "run":
            return Run(
                str(fields["method"]),
                str(fields["operation"]),
                int(fields["repetition"]),
                float(fields["seconds"]),
                int(fields["done"]),
                int(fields["of"]),
            )
        case "failed":
            return Failed(str(fields["method"]), int(fields["repetition"]), str(fields["error"]))
        case "done":
            return Finished()
        case _:
            return None
