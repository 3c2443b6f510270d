"""events.py: a diagnosis as events for Splunk: the job, each file, phase and finding; docs/formats/feeds.md."""

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.diagnose import record
from penstock.diagnose.diagnosis import Diagnosis, diagnose
from penstock.diagnose.finding import Finding
from penstock.diagnose.many import summary_of, why
from penstock.jobs.any_job import read_job
from penstock.operate.feed.spool import mark_of

VERSION = 1  # of the fields
MOST_PHASES = 200
MOST_TEXT = 4096  # bytes of a text: Splunk cuts events of over 10,000
MOST_NAMES = 20  # of files of a finding, or a phase


@dataclass(frozen=True)
class Address:
    """What Splunk files events under; empty: the collector's own."""

    host: str
    index: str = ""
    source: str = ""  # empty: the log's path
    sourcetype: str = "penstock:doctor"


@dataclass(frozen=True)
class Told:
    """What one log gave: events as bytes of JSON, or why there are none. MARK: of the log as it was before that."""

    log: Path
    mark: str = ""
    events: tuple[bytes, ...] = ()
    error: str = ""


def told(log: Path, address: Address) -> Told:
    try:
        mark = mark_of(log)  # what is added while it is read is fed another time
        return Told(log, mark, tuple(events(diagnose(read_job(log)), log, address)))
    except Exception as error:  # one log of many
        return Told(log, error=why(error, log))


def events(found: Diagnosis, log: Path, address: Address) -> Iterator[bytes]:
    """Each with an id that the same log gives again, so that what arrives twice can be told."""
    job = found.job
    run = {"job_id": job.job_id, "program": _text(job.program), "ranks": job.ranks, "log_kind": job.kind}
    identity = f"{VERSION}\n{job.kind}\n{job.job_id}\n{job.program}\n{job.ranks}\n{job.start!r}\n{job.seconds!r}"

    def event(kind: str, at: float, number: int, fields: dict[str, Any]) -> bytes:
        digest = hashlib.sha256(f"{identity}\n{kind}\n{number}".encode(errors="surrogateescape")).hexdigest()[:32]
        made: dict[str, Any] = {"time": round(at, 6), "host": address.host, "source": address.source or _text(str(log))}
        made["sourcetype"] = address.sourcetype
        if address.index:
            made["index"] = address.index
        made["event"] = {"kind": kind, "event_id": digest, "version": VERSION, **run, **_finite(fields)}
        return json.dumps(made, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()

    files = record.files(found.facts)
    yield event("job", job.start + job.seconds, 0, _job(found, log, len(files)))
    for number, one in enumerate(files):
        yield event("file", job.start + job.seconds, number, {**one, "path": _text(one["path"])})
    for number, phase in enumerate(found.phases[:MOST_PHASES]):
        yield event(
            "phase",
            job.start + phase.start,
            number,
            {
                "phase": number,
                "start_seconds": phase.start,
                "end_seconds": phase.end,
                "seconds": phase.end - phase.start,
                "operation": "write" if phase.written >= phase.read else "read",
                "bytes": phase.bytes,
                "read_bytes": phase.read,
                "written_bytes": phase.written,
                "weight": phase.weight,
                "ranks_active": len(phase.ranks),
                "files": [_text(name) for name in phase.files[:MOST_NAMES]],
            },
        )
    for number, finding in enumerate(found.findings):
        yield event("finding", job.start + job.seconds, number, _finding(finding, number, job.ranks))


def _job(found: Diagnosis, log: Path, files: int) -> dict[str, Any]:
    short = summary_of(log, found)
    return {
        "start": found.job.start,
        "seconds": short.seconds,
        "core_hours": short.core_hours,
        "io_share": short.io_share,
        "io_core_hours": short.io_core_hours,
        "lost_core_hours": short.lost_core_hours,
        "is_io": found.is_io,
        "verdict": _text(short.verdict),
        "first_rule": short.rule,
        "first_severity": short.severity,
        "read_bytes": short.read_bytes,
        "written_bytes": short.written_bytes,
        "pattern": short.pattern,
        "libraries": [
            {"library": name, "core_hours": hours, "read_bytes": read, "written_bytes": written}
            for name, (hours, read, written) in short.libraries.items()
        ],
        "areas": [
            {"mount": _text(mount), "read_bytes": read, "written_bytes": written}
            for mount, (read, written) in short.areas.items()
        ],
        "files": files,
        "phases": len(found.phases),
        "phases_left_out": max(0, len(found.phases) - MOST_PHASES),
        "findings": len(found.findings),
        "troubles": [_text(one) for one in found.job.troubles[:MOST_NAMES]],
    }


def _finding(one: Finding, number: int, ranks: int) -> dict[str, Any]:
    return {
        "place": number + 1,
        "rule": one.rule,
        "title": _text(one.title),
        "severity": one.severity,
        "saved_seconds": one.seconds,
        "saved_core_hours": one.seconds * ranks / 3600,
        "confidence": one.confidence,
        "cause": _text(one.cause),
        "remedies": [{"layer": layer, "text": _text(text)} for layer, text in one.remedies.items()],
        "files": [_text(name) for name in one.files[:MOST_NAMES]],
    }


def _finite(of: Any) -> Any:
    """JSON has no infinity."""
    if isinstance(of, dict):
        return {key: _finite(value) for key, value in of.items()}
    if isinstance(of, list):
        return [_finite(value) for value in of]
    return None if isinstance(of, float) and not math.isfinite(of) else of


def _text(given: str) -> str:
    """Replaces bytes that are not valid UTF-8, as file names may have, and truncates what is too long."""
    whole = given.encode(errors="surrogateescape").decode(errors="replace")
    return whole if len(whole) <= MOST_TEXT else whole[:MOST_TEXT] + "..."
