"""blocks.py: the bytes of one process's trace (docs/formats/trace.md), block by block, as far as it got."""

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from penstock.errors import UserError

MAGIC = b"PENSTRC\x01"
SUFFIX = ".trace"
CALL = np.dtype(
    [
        ("start", "<i8"),
        ("nanoseconds", "<i8"),
        ("offset", "<i8"),
        ("length", "<i8"),
        ("path", "<u4"),
        ("operation", "<u2"),
        ("failed", "<u2"),
    ]
)
_HEAD = struct.Struct("<4sIQ")
_JSON_MOST = 64 << 20
_CALLS_AT_ONCE = 1 << 16

Calls = npt.NDArray[np.void]  # of CALL


@dataclass(frozen=True)
class Block:
    """A JSON object of kind "JOB ", "STEP" or "END ", new PATHs, or some CALLs."""

    kind: str
    json: dict[str, Any]
    paths: dict[int, str]
    calls: Calls


_NO_CALLS = np.zeros(0, CALL)


def _json(kind: str, payload: bytes) -> Block:
    value = json.loads(payload)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return Block(kind, value, {}, _NO_CALLS)


def _paths(payload: bytes) -> Block:
    paths, at = {}, 0
    while at < len(payload):
        number, length = struct.unpack_from("<II", payload, at)
        at += 8
        if at + length > len(payload):
            raise ValueError("a path is cut off")
        paths[number] = payload[at : at + length].decode(errors="surrogateescape")
        at += length
    return Block("PATH", {}, paths, _NO_CALLS)


class TraceFile:
    """One file of a trace. TROUBLE says, after BLOCKS have been read, why they ended early."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trouble = ""
        first = next(self.blocks(), None)
        if first is None or first.kind != "JOB ":
            raise UserError(f"{path} is no trace of penstock: {self.trouble or 'it does not begin with its job'}")
        self.job = first.json
        if not isinstance(self.job.get("rank"), int) or not isinstance(self.job.get("start"), int):
            raise UserError(f"{path} is damaged: its job has no rank, or no start")

    def blocks(self) -> Iterator[Block]:
        self.trouble = ""
        try:
            with self.path.open("rb") as file:
                if file.read(len(MAGIC)) != MAGIC:
                    self.trouble = "it does not begin as one"
                    return
                yield from self._blocks(file)
        except OSError as error:
            raise UserError(f"cannot read {self.path}: {error.strerror}") from None

    def _blocks(self, file: BinaryIO) -> Iterator[Block]:
        while head := file.read(_HEAD.size):
            if len(head) < _HEAD.size:
                self.trouble = "it is cut off"
                return
            kind_bytes, _, size = _HEAD.unpack(head)
            kind = kind_bytes.decode("ascii", errors="replace")
            at = file.tell()
            try:
                if kind == "CALL":
                    yield from self._calls(file, size)
                elif kind in ("JOB ", "STEP", "END ", "PATH"):
                    payload = file.read(min(size, _JSON_MOST))
                    if len(payload) < size:
                        self.trouble = "it is cut off"
                        return
                    yield _paths(payload) if kind == "PATH" else _json(kind, payload)
                else:
                    self.trouble = f"there is no block of kind {kind!r}: it is damaged at byte {at}"
                    return
            except (ValueError, struct.error):
                self.trouble = f"it is damaged at byte {at}"
                return
            if self.trouble:
                return

    def _calls(self, file: BinaryIO, size: int) -> Iterator[Block]:
        left = size // CALL.itemsize
        while left > 0:
            payload = file.read(min(left, _CALLS_AT_ONCE) * CALL.itemsize)
            count = len(payload) // CALL.itemsize
            if count:
                yield Block("CALL", {}, {}, np.frombuffer(payload, CALL, count))
            left -= count
            if len(payload) < CALL.itemsize * min(left + count, _CALLS_AT_ONCE):
                self.trouble = "it is cut off"
                return
