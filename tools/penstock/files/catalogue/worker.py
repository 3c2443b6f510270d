"""worker.py: reads files in a process of its own, since a hostile one may end or stall the library that reads it."""

import multiprocessing
import os
import resource
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType

from penstock.files.catalogue.contents import Contents
from penstock.files.catalogue.read import read

LIMIT_SECONDS = 60.0
MEMORY_BYTES = 8 << 30


def _serve(pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    sys.stderr.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # libraries that print on their way out
    while True:
        try:
            path, kind = pipe.recv()
        except EOFError:
            return
        try:
            answer: Contents | str = read(Path(os.fsdecode(path)), kind)
        except Exception as error:  # whatever a file of others makes of a reader
            answer = str(error).partition("\n")[0] or type(error).__name__
        pipe.send(answer)


class Reader:
    """Reads one file after another; to be used in a `with`."""

    def __init__(self, limit_seconds: float = LIMIT_SECONDS) -> None:
        self._limit = limit_seconds
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None

    def __enter__(self) -> "Reader":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._end()

    def read(self, path: Path, kind: str) -> Contents | str:
        """What is in PATH, or why that is not known."""
        pipe = self._start()
        try:
            pipe.send((os.fsencode(path), kind))
            if not pipe.poll(self._limit):
                self._end()
                return f"reading it took more than {self._limit:.0f} s"
            answer: Contents | str = pipe.recv()
        except (EOFError, OSError):
            code = self._end()
            return f"reading it ended the reader ({signal.Signals(-code).name if code < 0 else f'exit status {code}'})"
        return answer

    def _start(self) -> Connection:
        if self._pipe is None:
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()
        return self._pipe

    def _end(self) -> int:
        if self._process is None or self._pipe is None:
            return 0
        self._pipe.close()
        self._process.join(1)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        code = self._process.exitcode or 0
        self._process = self._pipe = None
        return code
