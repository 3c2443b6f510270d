"""keep.py: the fastest plans of a simulation as wisdom, marked as simulated."""

import math
import re
from datetime import date
from typing import Any

from penstock.base.errors import UserError
from penstock.measure.simulate.validate import ALIKE
from penstock.measure.tune.candidates import DEFAULT
from penstock.measure.tune.wisdom import Entry

# Of the default's time: simulated ratios err as much as the library's own estimates do (best_of in core/methods).
FASTER = 0.6


def _stripes(row: dict[str, Any]) -> float:
    """The stripes that a plan names; 0 if it names none."""
    found = re.search(r"\bstripe_count=(-?\d+)", row["transport"])
    count = int(found[1]) if found else 0
    return math.inf if count < 0 else count


def entries(record: dict[str, Any]) -> list[Entry]:
    """For each problem in RECORD the fastest plan; the default where no other is much faster."""
    rows = [row for row in record["results"] if row.get("transport")]
    found = []
    for default in rows:
        problem = default["problem"]
        if default["transport"] != DEFAULT:
            continue
        if not problem["filesystem"]:
            raise UserError(
                f'{record["machine"]}: wisdom is kept for a kind of file system: [file_system] has no kind = "lustre"'
            )
        if problem["in_memory"] or (problem["operation"] == "write" and not problem["durable"]):
            raise UserError("a simulation has no page cache: wisdom of it is for --regime durable, without --warm")
        alike = [row for row in rows if row["problem"] == problem]
        least = min(row["seconds"] for row in alike)
        # Of those that take as long, the one with the fewest stripes.
        best = min((row for row in alike if row["seconds"] <= least * (1 + ALIKE)), key=_stripes)
        chosen = best if best["seconds"] < FASTER * default["seconds"] else default
        found.append(
            Entry(
                problem=problem,
                plan=chosen["transport"],
                ratio=chosen["seconds"] / default["seconds"],
                low=None,
                high=None,
                measured=date.today().isoformat(),
                seconds=chosen["seconds"],
                repetitions=0,
                budget_seconds=None,
                simulated=record["machine"],
            )
        )
    if not found:
        raise UserError(f"--wisdom compares with the default plan: name FORMAT/{DEFAULT} among --methods")
    return found
