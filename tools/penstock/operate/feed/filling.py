"""filling.py: logs turned into events and put into a spool, each log once."""

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from penstock.base.errors import UserError, must_be_there
from penstock.diagnose.many import NO_LOGS, each_of, logs_in
from penstock.jobs.any_job import is_run
from penstock.operate.feed.events import Address, Told, told
from penstock.operate.feed.spool import MOST_BYTES, Spool, batched, mark_of


@dataclass
class Filled:
    logs: int = 0
    events: int = 0
    errors: list[str] = field(default_factory=list)


def logs_of(given: Sequence[Path]) -> list[Path]:
    """Logs, folders of one run, and all logs in other folders; each once."""
    made: dict[Path, None] = {}
    for path in given:
        must_be_there(path)
        found = [path] if not path.is_dir() or is_run(path) else logs_in(path)
        if not found:
            raise UserError(f"{path}: {NO_LOGS}")
        made.update(dict.fromkeys(found))
    return list(made)


def look_at(logs: Sequence[Path], address: Address, processes: int | None, seen: Callable[[], None]) -> Iterable[Told]:
    return each_of(logs, processes, partial(told, address=address), seen) if logs else ()


def new_of(logs: Sequence[Path], known: Container[str]) -> list[Path]:
    """Those whose mark is not KNOWN, or that are gone meanwhile, which who reads them says."""

    def is_new(log: Path) -> bool:
        try:
            return mark_of(log) not in known
        except OSError:
            return True

    return [log for log in logs if is_new(log)]


def fill(spool: Spool, found: Iterable[Told]) -> Filled:
    made = Filled()
    events: list[bytes] = []
    marks: list[str] = []

    def flush() -> None:
        for batch in batched(events):
            spool.put(batch)
        spool.mark(marks)
        events.clear()
        marks.clear()

    for one in found:
        if one.error:
            made.errors.append(f"{one.log}: {one.error}")
            continue
        events += one.events
        marks.append(one.mark)
        made.logs += 1
        made.events += len(one.events)
        if sum(map(len, events)) >= MOST_BYTES:
            flush()
    if marks:
        flush()
    return made
