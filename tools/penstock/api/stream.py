"""stream.py: streams: opaque bytes, one stream for each rank, in a few files for all; file-like."""

from __future__ import annotations

import contextlib
import io
import os
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from penstock.api import native
from penstock.api.exceptions import Error, told
from penstock.base.nearest import named_arguments

if TYPE_CHECKING:
    from mpi4py import MPI

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]


class StreamWriter:
    """Appends to this rank's stream. In `with`: published at its end, all or nothing."""

    def __init__(self, stream: Any, ranks: Any) -> None:
        self._stream, self._ranks, self._open = stream, ranks, True

    def write(self, data: Any) -> int:
        """Local. Any object with bytes; returns how many."""
        if isinstance(data, str):
            raise TypeError("a stream takes bytes, not a str: encode it")
        view = memoryview(data).cast("B")
        try:
            self._stream.write(view)
        except Error as error:
            raise type(error)(f"{error}; after this the stream can only be closed, and is not published") from None
        return view.nbytes

    def close(self) -> None:
        """Collective. A second call does nothing."""
        if self._open:
            self._open = False
            self._stream.close()

    def abandon(self) -> None:
        """Local, on all ranks or on none. Drops what was written."""
        self._open = False
        self._stream.abandon()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        elif not self._open or self._ranks.size == 1 or not isinstance(error, Exception):
            self.abandon()
        else:  # the others may be waiting in close: they get this error
            with contextlib.suppress(Error):
                self._stream.remember_failure(told(self._ranks.rank, error))
                self.close()


class StreamReader(io.RawIOBase):
    """One of the streams, as a file to read; `ranks` says how many there are."""

    def __init__(self, stream: Any, rank: int) -> None:
        super().__init__()
        self._stream, self._rank, self._at = stream, rank, 0

    @property
    def ranks(self) -> int:
        return int(self._stream.count)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        data = self._stream.read(self._rank, self._at, view.nbytes)
        view[: len(data)] = data
        self._at += len(data)
        return len(data)

    def readall(self) -> bytes:
        data: bytes = self._stream.read(self._rank, self._at, max(0, self._stream.length(self._rank) - self._at))
        self._at += len(data)
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._stream.length(self._rank)}[whence]
        if base + offset < 0:
            raise ValueError(f"seek to {base + offset}: before the stream's beginning")
        self._at = base + offset
        return self._at

    def close(self) -> None:
        if not self.closed:
            self._stream.abandon()
        super().close()


@named_arguments
def create_stream(path: Path, comm: MPI.Comm | None = None, options: str = "") -> StreamWriter:
    """Collective. A container with one stream for each rank; OPTIONS as of penstock_stream_create."""
    _, ranks, stream = native.collective(comm, "create_stream", path=path, options=options)
    return StreamWriter(stream, ranks)


@named_arguments
def open_stream(path: Path, rank: int = -1, comm: MPI.Comm | None = None) -> StreamReader:
    """Collective. To read stream RANK; -1: all, one after another."""
    return StreamReader(native.collective(comm, "open_stream", path=path)[2], rank)
