"""queries.py: queries to the worker, which wait only so long for an answer, since file systems hang."""

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORKER = Path(__file__).with_name("worker.py")
COMMAND = (sys.executable, "-I", "-S", str(WORKER))


@dataclass
class Answer:
    """The last answer to a query. WAITING: for how many seconds a newer one has been due."""

    value: Any = None
    error: str | None = None
    waiting: float = 0.0


class Queries:
    """Queries to one worker process. The first one starts it; if it dies, the next one starts another."""

    def __init__(self, command: tuple[str, ...] = COMMAND) -> None:
        self._command = command
        self._process: subprocess.Popen[str] | None = None
        self._replies: queue.SimpleQueue[list[Any]] = queue.SimpleQueue()
        self._answers: dict[str, Answer] = {}
        self._open: dict[str, float] = {}  # since when

    def __enter__(self) -> "Queries":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, key: str, question: str, argument: Any) -> None:
        """Nothing happens where KEY is still open."""
        if key in self._open:
            return
        process = self._worker()
        self._open[key] = time.monotonic()
        with contextlib.suppress(BrokenPipeError):
            assert process.stdin is not None
            process.stdin.write(json.dumps([key, question, argument]) + "\n")
            process.stdin.flush()

    def wait(self, seconds: float) -> None:
        """Until all is answered, or for SECONDS."""
        until = time.monotonic() + seconds
        while self._open and (left := until - time.monotonic()) > 0:
            try:
                self._store(self._replies.get(timeout=left))
            except queue.Empty:
                break
        while not self._replies.empty():
            self._store(self._replies.get())

    def answer(self, key: str) -> Answer:
        """None in it where there never was one."""
        last = self._answers.get(key, Answer())
        since = self._open.get(key)
        return Answer(last.value, last.error, 0.0 if since is None else time.monotonic() - since)

    def forget(self, key: str) -> None:
        self._answers.pop(key, None)

    def close(self) -> None:
        """Kills the worker. One that hangs is not waited for: the system ends it when it can."""
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(0.2)
            self._process = None

    def _worker(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._open.clear()
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                errors="surrogateescape",
                env=os.environ | {"PYTHONIOENCODING": "utf-8:surrogateescape"},
                start_new_session=True,  # Ctrl-C is for the monitor
            )
            threading.Thread(target=self._listen, args=[self._process], daemon=True).start()
        return self._process

    def _listen(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            for line in process.stdout:
                self._replies.put(json.loads(line))

    def _store(self, reply: list[Any]) -> None:
        key, value, error = reply
        self._open.pop(key, None)
        self._answers[key] = Answer(value, error)
