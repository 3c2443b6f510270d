"""ratios.py: runs the cases that the wanted ratios need, in one interleaved run, and computes the ratios from it."""

import json
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.base import launch
from penstock.base.errors import UserError
from penstock.measure import records
from penstock.measure.campaign.events import Event
from penstock.measure.campaign.request import Words, parse_size
from penstock.measure.campaign.run import Outcome, run
from penstock.measure.studies.presets.ratios import CASES, NAME, ROWS, SLOW_FACTOR, WORDS, Growth, Ratio, Row, Setup
from penstock.measure.studies.ratio_results import PROGRAM, Content, Counted, result, skipped

FIRST_SHARE = 0.85  # of the time limit, where a second job follows

Listen = Callable[[Event], None]


@dataclass(frozen=True)
class Job:
    """What to measure. WORDS are penstock-bench's own, without --time-limit, --dir and --json."""

    mpi: launch.Mpi
    np: int
    words: Words
    only: str | None
    time_limit: float | None
    scratch: Path


def choose(only: str | None) -> tuple[Row, ...]:
    """The ratios that ONLY names, as 1a,4 (4 is 4a, 4b and 4c); all where it is None."""
    if only is None:
        return ROWS
    words = [word for word in only.split(",") if word]
    for word in words:
        if not any(_names(word, row.id) for row in ROWS):
            raise UserError(f"--only: no ratio '{word}'; there are {', '.join(row.id for row in ROWS)}")
    return tuple(row for row in ROWS if any(_names(word, row.id) for word in words))


def _names(word: str, identity: str) -> bool:
    return word == identity or (word.isdigit() and re.fullmatch(f"{word}[a-z]+", identity) is not None)


@dataclass(frozen=True)
class Part:
    """One job: the cases of ROWS, which end with SUFFIX, as penstock-bench reads them, and what cannot be measured."""

    rows: tuple[Ratio, ...]
    suffix: str
    environment: dict[str, str]
    cases: list[dict[str, Any]]
    unavailable: list[dict[str, str]]


def run_preset(job: Job, listen: Listen) -> tuple[Outcome, Content]:
    """Runs JOB; what needs ROMIO has a job of its own where that is not the first one's MPI-IO library. Without a
    record of the first job, the content is empty.
    """
    start = time.monotonic()
    rows = choose(job.only)
    outcome, content, results = Outcome(0, []), _empty(job), dict[str, Content]()
    parts = _parts(job, [row for row in rows if isinstance(row, Ratio)])
    for number, part in enumerate(parts):
        left = None if job.time_limit is None else job.time_limit - (time.monotonic() - start)
        if left is not None and number + 1 < len(parts):
            left *= FIRST_SHARE
        record: Content = {"cases": [], "unavailable": []}
        if part.cases and (left is None or left > 0):
            ended, found = _measure(job, part, left, listen)
            outcome = outcome if outcome.status else ended
            if found is None and number == 0:
                return outcome, {}
            if found is None:
                content["remarks"] = [f"the second job, under ROMIO, failed: {ended.complaint(PROGRAM)}."]
            else:
                record = found
                _join(content, part, record)
        record["unavailable"] += part.unavailable
        content["unavailable"] += record["unavailable"]
        results |= {row.id: result(row, job.np, record, part.suffix) for row in part.rows}
    counted = Counted(job.mpi, job.scratch)
    for row in rows:
        if isinstance(row, Growth):
            results[row.id] = counted.result(row, job.np)
        elif row.id not in results:
            results[row.id] = skipped(row, job.np, "there is no MPI-IO library in this run")
    content["ratios"] = [results[row.id] for row in rows]
    return outcome, content


def _parts(job: Job, rows: list[Ratio]) -> list[Part]:
    romio = [row for row in rows if row.romio]
    others = [row for row in rows if not row.romio]
    if job.mpi is launch.Mpi.openmpi and romio:
        return [_part(job, others, "", {}), _part(job, romio, " (ROMIO)", launch.ROMIO)]
    return [_part(job, rows if job.mpi is launch.Mpi.mpich else others, "", {})]


def _empty(job: Job) -> Content:
    return {
        "schema": records.PRESET,
        "preset": NAME,
        "np": job.np,
        "repetitions": 0,
        "repetitions_asked": job.words.repetitions,
        "stopped": None,
        "seed": job.words.seed,
        "order": [],
        "verified": True,
        "ratios": [],
        "cases": [],
        "unavailable": [],
        "provenance": {},
    }


def _part(job: Job, rows: Sequence[Ratio], suffix: str, environment: dict[str, str]) -> Part:
    part = Part(tuple(rows), suffix, environment, [], [])
    options = _case_options(job.words.case)
    for name, setup in CASES.items():
        sides = [(row, side) for row in rows for side in (row.ours, row.other) if side.case == name]
        methods = list(dict.fromkeys(method for _, side in sides for method in side.methods))
        if not methods:
            continue
        if setup.workload == "map" and "--map" not in options:
            lacking = {"case": name + suffix, "reason": "needs an E3SM map: --map FILE"}
            part.unavailable.extend({**lacking, "method": method} for method in methods)
            continue
        alone = {side.methods[0] for _, side in sides if len(side.methods) == 1}
        rivals = [
            tuple(method for method in side.methods if method not in alone)
            for row, side in sides
            if len(side.methods) > 1 and side is row.other and side.measure != "copy"
        ]
        part.cases.append(
            {
                "case": name + suffix,
                "group": setup.group or name,
                "words": [*_words(setup, options), "--methods", ",".join(methods)],
                "rivals": [list(group) for group in dict.fromkeys(rivals)],
            }
        )
    return part


def _case_options(words: tuple[str, ...]) -> dict[str, str]:
    """The options of all cases, by name. The map is one at hand where none is given."""
    if words and not words[0].startswith("-"):
        raise UserError(f"--preset {NAME} brings its own cases: the workload '{words[0]}' cannot stand beside it")
    given: dict[str, str] = {}
    path = Path(os.environ.get("PENSTOCK_DATA", "../shared/data")) / "e3sm" / "map_f_case_16p.nc"
    if path.is_file():  # where the tests have it too
        given["--map"] = str(path)
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name not in WORDS:
            raise UserError(f"--preset {NAME} brings its own cases: {name} cannot stand beside it")
        found = value if equals else next(rest, None)
        if found is None:
            raise UserError(f"{name} needs a value")
        given[name] = found
    return given


def _words(setup: Setup, options: dict[str, str]) -> list[str]:
    words = [setup.workload, *setup.words, *([] if "--aa" in setup.words else ["--no-aa"])]
    for option in ("--type", "--order", *(["--total"] if setup.sized else [])):
        words += [option, options[option]] if option in options else []
    if setup.workload == "many" and "--total" in options:  # smaller ones, if the whole run is to be smaller
        words += ["--dataset-bytes", str(min(128 * 2**10, parse_size(options["--total"]) // 400))]
    return words + (["--map", options["--map"]] if setup.workload == "map" else [])


def _measure(job: Job, part: Part, limit: float | None, listen: Listen) -> tuple[Outcome, Content | None]:
    """The record of PART; None if there is none."""
    stem = "romio" if part.environment else "first"
    cases, record = job.scratch / f"{stem}.cases.json", job.scratch / f"{stem}.json"
    cases.write_text(json.dumps({"cases": part.cases, "slow_factor": SLOW_FACTOR}), encoding="utf-8")
    given = job.words
    words = ["--cases", str(cases), *given.run, "--seed", str(given.seed)]
    words += ["--repetitions", str(given.repetitions)] if given.repetitions is not None else []
    words += ["--half-width", f"{given.half_width:g}"] if given.half_width is not None else []
    words += ["--time-limit", f"{limit:.3f}"] if limit is not None else []
    words += ["--dir", str(job.scratch), "--json", str(record), "--progress"]
    command = [*launch.command(PROGRAM, job.mpi, job.np), *words]
    outcome = run(command, launch.environment() | part.environment, listen)
    return outcome, records.read(record, records.CASES) if record.is_file() else None


def _join(content: Content, part: Part, record: Content) -> None:
    """Adds what PART has measured. Repetitions and order are those of the first job."""
    content["cases"] += record["cases"]
    content["verified"] = content["verified"] and record["verified"] and record["complete"]
    own = {name: record[name] for name in ("order", "provenance")}
    if part.environment:
        content["romio"] = {"environment": part.environment, **own}
        settings = " ".join(f"{name}={value}" for name, value in part.environment.items())
        content["remarks"] = [
            f"{', '.join(row.id for row in part.rows)} comes from a second job after the first, with {settings}: its "
            "own interleaved repetitions of both."
        ]
    if not content["order"]:
        content |= own | {name: record[name] for name in ("repetitions", "repetitions_asked", "stopped")}
