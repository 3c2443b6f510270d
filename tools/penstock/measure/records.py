"""records.py: JSON files that say by a schema what they are, read whole or refused by name."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from penstock.base.errors import UserError, must_be_there

# Their schemas: of one run, of the cases of a campaign on one number of ranks, of the ratios, of a campaign, of counts.
BENCH, CASES, PRESET = "penstock.bench/1", "penstock.cases/1", "penstock.preset/1"
CAMPAIGN, COUNTS, REGRET = "penstock.campaign/1", "penstock.counts/1", "penstock.regret/1"


def read(path: Path, schema: str) -> dict[str, Any]:
    """The JSON object in the file PATH, or a UserError that says why it is no record of SCHEMA."""
    must_be_there(path)
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise UserError(f"{path}: it is not a result of penstock bench or campaign (JSON){damage(error)}") from None
    except RecursionError:
        raise UserError(f"{path}: it is nested too deeply to be a {schema} record") from None
    found = record.get("schema") if isinstance(record, dict) else None
    if found != schema:
        raise UserError(f"{path}: its schema is {found!r}, not {schema!r}")
    whole: dict[str, Any] = record
    return whole


def damage(error: ValueError | RecursionError) -> str:
    """Where JSON is damaged that could not be read for ERROR; "" where there is none."""
    if isinstance(error, UnicodeEncodeError):
        return f"; it has {error.object[error.start]!r}, which is half of a UTF-16 pair"
    if not isinstance(error, json.JSONDecodeError) or not error.doc.lstrip().startswith("{"):
        return ""
    return f"; it begins as JSON, and is damaged or cut in line {error.lineno}"


@contextmanager
def taking_apart(path: Path, schema: str) -> Iterator[None]:
    """What is missing in a record, or of another type than it should be, is a UserError about PATH."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UserError(f"{path}: not a whole {schema} record: {type(error).__name__} {error}") from None
