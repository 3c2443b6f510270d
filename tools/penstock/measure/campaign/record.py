"""record.py: the record of a campaign ("penstock.campaign/1"), which grows job by job."""

import json
from pathlib import Path
from typing import Any

from penstock.base.errors import UserError
from penstock.base.replaceable import must_be_replaceable
from penstock.measure import records
from penstock.measure.campaign.request import Request

Content = dict[str, Any]


def new(request: Request, arguments: list[str]) -> Content:
    return {
        "schema": records.CAMPAIGN,
        "name": request.name,
        "preset": request.preset,
        "title": request.title,
        "source": request.source,
        "scale": request.scale,
        "arguments": arguments,
        "ranks": list(request.ranks),
        "repetitions_asked": request.repetitions,
        "request": request.identity(),
        "jobs": [],
        "cut": list(request.cut),
        "figures": [],
        "conclusions": [],
    }


def load(path: Path, request: Request) -> Content:
    """The record in PATH, which must be of the same REQUEST but for its ranks, repetitions and limits."""
    content = records.read(path, records.CAMPAIGN)
    with records.taking_apart(path, records.CAMPAIGN):
        recorded, asked = content["request"], request.identity()
        different = [name for name in asked if recorded.get(name) != asked[name]]
        _ = [(job["np"], job["part"], job["record"]) for job in content["jobs"]]
    if different:
        raise UserError(
            f"{path} is of another campaign: {', '.join(different)} differ{'s' if len(different) == 1 else ''}; "
            "leave out --resume and name another file"
        )
    content["ranks"] = sorted({*content["ranks"], *request.ranks})
    content["repetitions_asked"] = request.repetitions
    return content


def save(path: Path, content: Content) -> None:
    """Whole beside PATH, then over it."""
    partial = path.with_name(path.name + ".partial")
    must_be_replaceable(path)
    try:
        partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None


def add(content: Content, np: int, request: Request, job: Content) -> None:
    """Takes in what a job on NP ranks measured, if it finished a repetition."""
    if not any(line["seconds"] for case in job["cases"] for line in case["results"]):
        return
    content["jobs"].append(
        {
            "np": np,
            "part": len(of_ranks(content, np)),
            "mpi": request.mpi,
            "environment": dict(request.environment),
            "record": job,
        }
    )


def of_ranks(content: Content, np: int) -> list[Content]:
    """The parts of the job on NP ranks."""
    return [job for job in content["jobs"] if job["np"] == np]


def repetitions(content: Content, np: int) -> int:
    return sum(int(job["record"]["repetitions"]) for job in of_ranks(content, np))


def finished(content: Content, np: int) -> bool:
    """Whether nothing of the job on NP ranks is left to do. What stopped early, at its time limit or with intervals
    narrow enough, goes on where more repetitions are asked for than it was.
    """
    asked = int(content["repetitions_asked"])
    parts = of_ranks(content, np)
    if not parts or repetitions(content, np) >= asked:
        return bool(parts)
    last = parts[-1]["record"]
    before = repetitions(content, np) - int(last["repetitions"])
    return last.get("stopped") is not None and asked <= before + int(last.get("repetitions_asked", asked))


def verified(content: Content) -> bool:
    return bool(content["jobs"]) and all(job["record"]["verified"] for job in content["jobs"])
