"""child.py: what may crash, in a process of its own, whose values come through a pipe."""

import faulthandler
import os
import pickle
import signal
import struct
from collections.abc import Callable, Generator, Iterator
from typing import BinaryIO, TypeVar

from penstock.base.errors import UserError

T = TypeVar("T")
HEAD = struct.Struct("<cq")  # a value, or the error that ended them; length
VALUE, ERROR = b"v", b"e"


def pieces_from_child(make: Callable[[], Iterator[T]]) -> Generator[T, None, str | None]:
    """Yields what MAKE yields. Returns how the process ended where it did not end by itself: "ends by SIGSEGV"."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _serve(make, writing)
    os.close(writing)
    whole = False
    try:
        with os.fdopen(reading, "rb") as pipe:
            while head := pipe.read(HEAD.size):
                kind, length = HEAD.unpack(head) if len(head) == HEAD.size else (b"", 0)
                data = pipe.read(length)
                if len(data) < length:
                    break
                if kind == ERROR:
                    raise pickle.loads(data)  # noqa: S301  our own child's
                yield pickle.loads(data)  # noqa: S301
            whole = True
    finally:
        if not whole:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return None if code == 0 else f"ends by {signal.Signals(-code).name}" if code < 0 else f"ends with status {code}"


def _serve(make: Callable[[], Iterator[T]], writing: int) -> None:
    """Never returns: what the parent has begun is not ours to end."""
    status = 1
    try:
        faulthandler.disable()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with os.fdopen(writing, "wb") as pipe:
            try:
                for value in make():
                    _send(pipe, VALUE, value)
            except UserError as error:
                _send(pipe, ERROR, error)
        status = 0
    except BrokenPipeError:
        status = 0
    finally:
        os._exit(status)


def _send(pipe: BinaryIO, kind: bytes, value: object) -> None:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    pipe.write(HEAD.pack(kind, len(data)))
    pipe.write(data)
