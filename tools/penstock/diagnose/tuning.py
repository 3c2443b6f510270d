"""tuning.py: of Penstock's commits and reads in a trace: what penstock tune would measure, or has gained."""

import contextlib
import json
from datetime import date
from typing import Any

from penstock.base import words
from penstock.base.errors import UserError
from penstock.jobs.job import Job
from penstock.measure.tune import wisdom

NEEDED = {"problem", "plan", "ratio", "measured"}  # of an entry


def tuning(job: Job) -> list[str]:
    """Sentences, the problem that moved most bytes first; none for a job that does not use Penstock."""
    moved: dict[str, int] = {}
    seconds: dict[str, float] = {}
    for step in job.steps:
        if step.problem:
            moved[step.problem] = moved.get(step.problem, 0) + step.bytes
            seconds[step.problem] = seconds.get(step.problem, 0.0) + step.seconds
    known = _known() if moved else []
    return [
        _sentence(job, json.loads(text), seconds[text], known)
        for text in sorted(moved, key=lambda text: moved[text], reverse=True)
    ]


def _known() -> list[dict[str, Any]]:
    """Entries that the library would use, too."""
    today = date.today().isoformat()
    entries: list[dict[str, Any]] = []
    for file in wisdom.files():
        with contextlib.suppress(UserError):  # the library warns of it
            entries += wisdom.read(file)
    return [one for one in entries if one.keys() >= NEEDED and str(one.get("expires") or today) >= today]


def _sentence(job: Job, problem: dict[str, Any], seconds: float, known: list[dict[str, Any]]) -> str:
    size, blocks = words.size(problem["bytes_per_rank"]), words.count(problem["blocks_per_rank"], "block", "blocks")
    what = (
        f"{words.seconds(seconds)} in all for {problem['operation']}s of {size} by each of {problem['ranks']} ranks, "
        f"in {blocks}"
    )
    for entry in known:
        if not wisdom.alike(entry["problem"], problem):
            continue
        if entry["ratio"] == 1:
            return f"{what}: penstock tune found nothing faster than the default plan ({entry['measured']})."
        part = f"{words.digits(entry['ratio'])} ({words.interval(entry.get('low'), entry.get('high'))})"
        return (
            f"{what}: penstock tune found {problem['format']}/{entry['plan']}, which takes {part} of the default's "
            f"time ({entry['measured']}). Plans that name no transport use it."
        )
    return f"{what}: penstock tune {job.source} measures other plans for it, and keeps the fastest."
