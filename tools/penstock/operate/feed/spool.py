"""spool.py: a folder of batches of events: whole or not there, and kept until somebody has accepted them."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from penstock.base.errors import UserError
from penstock.jobs.any_job import RUN

MOST_BYTES = 800_000  # of a batch: collectors refuse more than a megabyte unless they are told otherwise
SUFFIX, REFUSED = ".batch.json", ".refused.json"
FED, LOCK = "fed.txt", ".lock"


class Spool:
    """FOLDER is made where it is missing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._number = 0
        with _user_errors(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def batches(self) -> list[Path]:
        """The oldest first."""
        with _user_errors(self.folder):
            return sorted(path for path in self.folder.iterdir() if path.name.endswith(SUFFIX))

    def put(self, events: Iterable[bytes]) -> None:
        """Stores EVENTS as one batch. They are on disk when this returns."""
        name = f"{time.time_ns():020d}-{os.getpid()}-{self._number:04d}"
        self._number += 1
        made, path = self.folder / f"{name}.partial", self.folder / f"{name}{SUFFIX}"
        with _user_errors(path):
            try:
                with made.open("xb") as file:
                    file.write(b"\n".join(events) + b"\n")
                    file.flush()
                    os.fsync(file.fileno())
                made.rename(path)
            except OSError:
                with contextlib.suppress(OSError):
                    made.unlink(missing_ok=True)
                raise
            _sync(self.folder)

    def accepted(self, batch: Path) -> None:
        with _user_errors(batch):
            batch.unlink(missing_ok=True)

    def refused(self, batch: Path) -> Path:
        """Kept under another name, out of the others' way."""
        path = batch.with_name(batch.name.removesuffix(SUFFIX) + REFUSED)
        with _user_errors(batch):
            batch.rename(path)
        return path

    def fed(self) -> set[str]:
        """Marks of logs whose events were put here."""
        with _user_errors(self.folder / FED):
            try:
                return set((self.folder / FED).read_text(encoding="utf-8", errors="surrogateescape").splitlines())
            except FileNotFoundError:
                return set()

    def mark(self, marks: Iterable[str]) -> None:
        with (
            _user_errors(self.folder / FED),
            (self.folder / FED).open("a", encoding="utf-8", errors="surrogateescape") as file,
        ):
            file.writelines(f"{one}\n" for one in marks)
            file.flush()
            os.fsync(file.fileno())

    @contextlib.contextmanager
    def alone(self, seconds: float) -> Iterator[bool]:
        """Whether nobody else sends from here, after waiting for SECONDS at most."""
        with _user_errors(self.folder):
            lock = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            yield _locked(lock, time.monotonic() + seconds)
        finally:
            os.close(lock)


def mark_of(log: Path) -> str:
    """Another where the log has changed, or what is in the folder of a run."""
    parts = [log]
    if log.is_dir():  # a folder's own time and size do not show that files in it grow
        parts = [part for part in log.iterdir() if part.suffix in RUN]
    abouts = [part.stat() for part in parts]
    newest = max((about.st_mtime_ns for about in abouts), default=0)
    return f"{newest} {sum(about.st_size for about in abouts)} {str(log.resolve())!a}"


def batched(events: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Groups EVENTS into batches of at most MOST_BYTES; a larger event gets a batch of its own."""
    batch: list[bytes] = []
    held = 0
    for one in events:
        if batch and held + len(one) + 1 > MOST_BYTES:
            yield batch
            batch, held = [], 0
        batch.append(one)
        held += len(one) + 1
    if batch:
        yield batch


def _locked(lock: int, until: float) -> bool:
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(0.05)


@contextlib.contextmanager
def _user_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}", status=1) from None


def _sync(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
