"""What anybody may have written is read to its end, or refused in our own words."""

import json
import math
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.base.errors import UserError
from penstock.crc64 import crc64
from penstock.files.container import CRC_AT, ENTRY, HEADER, HEADER_BYTES, MAGIC, STEM_AT, Container
from penstock.measure.report import results
from penstock.operate.leftovers.survey import Rules, survey

# Files are written over in one folder for all examples.
many = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300)
numbers = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([0, 1, 2, 3, 512, 4096, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1, -1]),
)

STREAMS = (b"first", b"", b"third stream")
FIELDS = [
    "generation",
    "file",
    "streams",
    "files",
    "chunk",
    "data",
    "index",
    "crc",
    "total",
    "token",
    "previous",
    "stem",
]


def container(changes: dict[str, int], entries: list[tuple[int, int, int]] | None = None) -> bytes:
    """Three streams in one file, whose numbers are changed and whose checksums are right all the same."""
    chunk, offset = 16, HEADER_BYTES
    data = b"".join(stream.ljust(chunk, b"\0") for stream in STREAMS)
    if entries is None:
        starts = [sum(map(len, STREAMS[:i])) for i in range(3)]
        entries = [(start, len(stream), crc64(stream)) for start, stream in zip(starts, STREAMS, strict=True)]
    index = b"".join(ENTRY.pack(*entry) for entry in entries)
    values = [7, 0, 3, 1, chunk, offset, offset + len(data), crc64(index), sum(map(len, STREAMS)), 0, 0, 4]
    for name, value in changes.items():
        values[FIELDS.index(name)] = value
    signed = [v if c == "q" else v % 2**64 for c, v in zip(HEADER.format[4:], values, strict=True)]
    head = bytearray(HEADER_BYTES)
    HEADER.pack_into(head, 0, MAGIC, 1, *signed)
    head[STEM_AT : STEM_AT + 4] = b"stem"
    head[CRC_AT:] = struct.pack("<Q", crc64(bytes(head[:CRC_AT])))
    return bytes(head) + data + index


def read_all(path: Path) -> list[bytes]:
    opened = Container(path)
    return [b"".join(opened.read(stream)) for stream in opened.streams]


def test_the_container_of_these_tests_is_one(tmp_path: Path) -> None:
    path = tmp_path / "f.pstream"
    path.write_bytes(container({}))
    assert tuple(read_all(path)) == STREAMS


@many
@given(st.dictionaries(st.sampled_from(FIELDS), numbers, min_size=1, max_size=4))
def test_a_container_whose_header_lies(tmp_path: Path, changes: dict[str, int]) -> None:
    path = tmp_path / "f.pstream"
    path.write_bytes(container(changes))
    try:
        found = read_all(path)
    except UserError:
        return
    assert sum(map(len, found)) <= path.stat().st_size


@many
@given(st.lists(st.tuples(numbers, numbers, st.integers(0, 2**64 - 1)), min_size=3, max_size=3))
def test_a_container_whose_index_lies(tmp_path: Path, entries: list[tuple[int, int, int]]) -> None:
    path = tmp_path / "f.pstream"
    path.write_bytes(container({}, entries))
    with pytest.raises(UserError):
        read_all(path)


def line() -> dict[str, Any]:
    ratio = {"to": "raw/per_process", "median": 1.0, "low": 0.9, "high": 1.1, "verdict": "no difference"}
    return {
        **{"method": "hdf5/two_phase", "operation": "write", "np": 4, "median": 1.0, "low": 0.9, "high": 1.1},
        **{"bwMiB": 100.0, "ratio": ratio, "verified": True, "error": None, "warnings": ["one"]},
    }


def record() -> dict[str, Any]:
    return {
        **{"schema": "penstock.bench/1", "workload": {"name": "checkpoint", "total_bytes": 1024}, "regime": "durable"},
        **{"np": 4, "readers": 3, "repetitions": 5, "baseline": "raw/per_process", "verified": True},
        **{"results": [line(), line()], "ceiling": {"best_write": 1.0}, "aa": {"write": {"smallest_claimable": 0.1}}},
    }


anything = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, st.floats(), st.text(max_size=8), st.just(10**400)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path] * bool(path) + [place for key, one in inner for place in places(one, (*path, key))]


@many
@given(st.data())
def test_a_record_of_the_bench_with_anything_in_it(tmp_path: Path, data: st.DataObject) -> None:
    whole = record()
    *outer, last = data.draw(st.sampled_from(places(whole)))
    inner: Any = whole
    for key in outer:
        inner = inner[key]
    inner[last] = data.draw(anything)
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(whole))
    try:
        read = results.read_record(path)
    except UserError:
        return
    assert all(line.median is None or isinstance(line.median, float) for line in read.lines)
    assert not math.isinf(read.total_bytes)


@pytest.mark.parametrize("count", [10**400, -1])
def test_a_count_that_cannot_be(tmp_path: Path, count: int) -> None:
    whole = record()
    whole["workload"]["total_bytes"] = count
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(whole))
    with pytest.raises(UserError, match="a count"):
        results.read_record(path)


def test_a_record_that_is_nested_without_end(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    path.write_text("[" * 100_000)
    with pytest.raises(UserError, match="nested"):
        results.read_record(path)


GENERATION, OTHER = "0123456789abcdef", "fedcba9876543210"


@many
@given(st.binary(max_size=200), st.sampled_from([b"", b"\x89HDF\r\n\x1a\n", MAGIC, b'{"schema": "penstock.index/1"']))
def test_clean_among_files_that_lie(tmp_path: Path, noise: bytes, beginning: bytes) -> None:
    (tmp_path / "f.json").write_bytes(beginning + noise)
    (tmp_path / "mine.json").write_text(json.dumps({"schema": "penstock.index/1", "generation": GENERATION}))
    (tmp_path / f"mine.g{GENERATION}.0001.raw").write_bytes(b"data")
    (tmp_path / f"f.g{OTHER}.0001.raw").write_bytes(noise)
    for left in survey(tmp_path, None, Rules(older_than=0.0)):
        assert all((tmp_path / name).parent == tmp_path for name in left.files())
        assert f"mine.g{GENERATION}.0001.raw" not in left.files()
        assert "mine.json" not in left.files()
