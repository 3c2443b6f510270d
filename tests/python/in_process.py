"""in_process.py: runs `penstock` inside the process of the tests, as if it were one of its own."""

import contextlib
import os
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired
from types import FrameType
from typing import TextIO

from penstock.cli import main

SECONDS = 300
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGALRM)


def run(words: list[str], cwd: Path, environment: Mapping[str, str]) -> CompletedProcess[str]:
    """What a process with these words, folder and environment would print, children included, and its status."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out, tempfile.TemporaryFile("w+", encoding="utf-8") as err:
        with _limit(words), _place(words, cwd, environment), _streams(out, err):
            status = _status()
        out.seek(0)
        err.seek(0)
        return CompletedProcess(["penstock", *words], status, out.read(), err.read())


def _status() -> int:
    try:
        main()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except TimeoutExpired:
        raise
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


@contextlib.contextmanager
def _limit(words: list[str]) -> Iterator[None]:
    """Handlers of signals are as they were afterwards; what hangs is ended."""

    def hang(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutExpired(["penstock", *words], SECONDS)

    before = {number: signal.getsignal(number) for number in SIGNALS}
    signal.signal(signal.SIGALRM, hang)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _place(words: list[str], cwd: Path, environment: Mapping[str, str]) -> Iterator[None]:
    folder, arguments, variables, path = Path.cwd(), sys.argv, dict(os.environ), list(sys.path)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.argv = ["penstock", *words]
    try:
        yield
    finally:
        sys.argv, sys.path[:] = arguments, path
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)


@contextlib.contextmanager
def _streams(out: TextIO, err: TextIO) -> Iterator[None]:
    """Descriptors 1 and 2, which children have too, and Python's streams on them; warnings as Python prints them."""
    before = sys.stdout, sys.stderr
    for stream in before:
        stream.flush()
    saved = os.dup(1), os.dup(2)
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    try:
        with warnings.catch_warnings():
            warnings.resetwarnings()
            for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
                warnings.simplefilter("ignore", category)
            warnings.showwarning = _show
            yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        sys.stdout, sys.stderr = before
        for number, copy in enumerate(saved, 1):
            os.dup2(copy, number)
            os.close(copy)


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    (file or sys.stderr).write(warnings.formatwarning(message, category, filename, lineno, line))
