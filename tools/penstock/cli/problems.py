"""problems.py: what a record of the bench or a trace asked of its plans, and a workload that asks the same."""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from penstock.base import words
from penstock.base.errors import UserError
from penstock.cli.say import say
from penstock.jobs.trace.blocks import SUFFIX
from penstock.jobs.trace.reader import read_trace
from penstock.measure import records

Problem = dict[str, Any]


def stands_for(word: str) -> Path | None:
    """The record or trace that WORD names; None if it is a workload, whatever folders or programs have its name."""
    path = Path(word)
    is_trace = path.is_dir() and any(path.glob("*" + SUFFIX))
    is_record = path.is_file() and (path.suffix != "" or not os.access(path, os.X_OK))
    return path if is_trace or is_record or (path.exists() and "/" in word) else None


def problems_of(path: Path) -> list[Problem]:
    """Of the record of penstock bench in the file PATH, or of the trace in the folder PATH: each once, those that moved
    most bytes first.
    """
    texts = _of_trace(path) if path.is_dir() else _of_record(path)
    if not texts:
        raise UserError(f"{path}: nothing in it says what was asked of a plan: it is older, or moved nothing")
    moved: Counter[str] = Counter()
    with records.taking_apart(path, "record or trace"):
        for text in texts:
            problem = json.loads(text)
            moved[text] += problem["bytes_per_rank"] * problem["ranks"]
    return [json.loads(text) for text, _ in moved.most_common()]


def _of_trace(folder: Path) -> list[str]:
    return [step.problem for step in read_trace(folder).steps if step.problem]


def _of_record(path: Path) -> list[str]:
    try:
        schema = json.loads(path.read_text(encoding="utf-8")).get("schema")
    except (OSError, ValueError, AttributeError):
        schema = None
    content = records.read(path, records.CASES if schema == records.CASES else records.BENCH)
    with records.taking_apart(path, str(schema)):
        cases = content["cases"] if schema == records.CASES else [content]
        lines = [line for case in cases for line in case["results"]]
        return [json.dumps(line["problem"], sort_keys=True) for line in lines if line.get("problem")]


def workload_of(problem: Problem) -> list[str]:
    """A workload of penstock bench that asks the same of its plan: blocks, bytes and contiguous bytes of each rank."""
    cached = not problem["durable"] if problem["operation"] == "write" else problem["in_memory"]
    kind = "real64" if problem["run_bytes"] % 8 == 0 else "uint8"
    return [
        *(
            "columns",
            "--per-rank",
            str(problem["bytes_per_rank"]),
            "--datasets",
            str(max(1, problem["blocks_per_rank"])),
        ),
        *("--row-bytes", str(problem["run_bytes"]), "--type", kind),
        *("--regime", "cached" if cached else "durable"),
    ]


def largest_to_tune(path: Path) -> Problem:
    """Of those of PATH the largest that a workload can stand for."""
    for problem in problems_of(path):
        if problem["format"] and problem["placement"] in ("", "single"):
            return problem
    raise UserError(f"{path}: only single files of hdf5, netcdf and raw can be tuned")


def workload_like(path: Path) -> tuple[list[str], int, str]:
    """A workload like the largest commit or read of PATH, its ranks and its format; says what it is like."""
    problem = largest_to_tune(path)
    say(f"Like {about(problem)}")
    return workload_of(problem), int(problem["ranks"]), str(problem["format"])


def about(problem: Problem) -> str:
    """In a sentence."""
    how = {"write": "durable" if problem["durable"] else "not synced"}.get(
        problem["operation"], "from the page cache" if problem["in_memory"] else "from the disk"
    )
    return (
        f"{problem['operation']} {words.size(problem['bytes_per_rank'])} on each of {problem['ranks']} ranks "
        f"({problem['ranks_per_node']} on a node), {words.count(problem['blocks_per_rank'], 'block', 'blocks')}, "
        f"runs of {words.size(problem['run_bytes'])}, {how}, "
        + (f"placement {problem['placement']}, " if problem["placement"] else "")
        + f"{problem['filesystem']}, {problem['mpi'] or 'any MPI library'}"
    )
