"""blocks.py: the bytes of one process's trace (docs/formats/trace.md), block by block, as far as it got."""

import json
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from penstock.base.errors import UserError

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
MOST_RANKS = 1 << 20
LATEST = 1 << 62  # nanoseconds since 1970
_HALF = re.compile("[\ud800-\udfff]")  # of a character: no UTF-8 has it
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


def is_count(value: Any, most: int = LATEST) -> bool:
    return type(value) is int and 0 <= value < most


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and _HALF.search(value) is None


def _is_job(value: dict[str, Any]) -> bool:
    """What tells who a process is, and when it was; of the rest, that it is what it should be."""
    mounts = value.get("mounts", [])
    return (
        is_count(value.get("rank"), MOST_RANKS)
        and is_count(value.get("ranks", 1), MOST_RANKS + 1)
        and is_count(value.get("start"))
        and is_count(value.get("age", 0))
        and isinstance(value.get("environment", {}), dict)
        and all(_is_text(value.get(name, "")) for name in ("program", "host", "folder"))
        and isinstance(mounts, list)
        and all(isinstance(one, list) and len(one) == 2 and all(map(_is_text, one)) for one in mounts)
    )


def _is_step(value: dict[str, Any]) -> bool:
    return all(is_count(value.get(name)) for name in ("path", "start", "end"))


def _is_end(value: dict[str, Any]) -> bool:
    return all(is_count(value.get(name, 0)) for name in ("time", "calls_lost", "recorder"))


def _json(kind: str, payload: bytes) -> Block:
    """Its numbers are trusted by who reads it. A commit that is none is empty: others of the file are whole."""
    try:
        value = json.loads(payload)
    except RecursionError:
        value = None
    if not isinstance(value, dict) or (kind == "END " and not _is_end(value)):
        raise ValueError("not an object, or with odd numbers in it")
    return Block(kind, {} if kind == "STEP" and not _is_step(value) else value, {}, _NO_CALLS)


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
        if not _is_job(self.job):
            raise UserError(f"{path} is damaged: what it says of its job makes no sense")

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
