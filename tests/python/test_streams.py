"""test_streams.py: `penstock streams` on containers that the library wrote, and on such as nobody should have."""

import os
import random
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Penstock
from penstock.base import launch
from penstock.base.crc64_numpy import by_numpy
from penstock.base.errors import UserError
from penstock.crc64 import crc64
from penstock.files.container import Container, DamagedError

RANKS = 3
LENGTHS = (100000, 0, 4096, 1, (3 << 20) + 17, 4095, 4097, 1 << 20)


def content(stream: int, version: int) -> bytes:
    """What tests/container/content.h has in a stream."""
    mask = (1 << 64) - 1
    add = (stream * 1000 + version) * 0xBF58476D1CE4E5B9
    count = LENGTHS[(stream + 3 * version) % len(LENGTHS)]
    return bytes((((at + 1) * 0x9E3779B97F4A7C15 + add & mask) >> 37) & 0xFF for at in range(count))


@pytest.fixture(scope="module")
def written(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Containers of three ranks, by the library."""
    folder = tmp_path_factory.mktemp("written")
    program = build / "bin" / "container_streams"
    command = [*launch.mpiexec(launch.Mpi.openmpi, RANKS), str(program), "--write", str(folder)]
    subprocess.run(command, env=launch.environment(), cwd=folder, check=True, timeout=300)
    return folder


@given(st.binary(max_size=3000), st.binary(max_size=300))
def test_both_ways_of_crc64_agree(first: bytes, second: bytes) -> None:
    assert by_numpy(first) == crc64(first)
    assert by_numpy(second, by_numpy(first)) == crc64(first + second)


def test_crc64_is_that_of_xz() -> None:
    assert crc64(b"123456789") == by_numpy(b"123456789") == 0x995DC9BBDF1939FA
    large = random.Random(1).randbytes((3 << 20) + 5)
    assert by_numpy(large) == crc64(large)


@pytest.mark.parametrize("way", [0, 1, 2, 3, 5])
def test_every_stream_is_found(written: Path, way: int) -> None:
    container = Container(written / f"way{way}.pstream")
    wanted = [content(rank, way) for rank in range(RANKS)]
    assert [b"".join(container.read(stream)) for stream in container.streams] == wanted
    assert container.total_bytes == sum(map(len, wanted))


def test_the_list_names_every_rank(written: Path, penstock: Penstock) -> None:
    result = penstock("streams", str(written / "way2.pstream"))
    assert result.returncode == 0, result.stderr
    head, title, *lines = result.stdout.splitlines()
    assert head.startswith("way2.pstream: 3 streams, ")
    assert "in 3 files" in head
    assert "chunks of 4 KiB" in head
    assert title.split() == ["rank", "bytes", "part"]
    assert [line.split()[:2] for line in lines] == [[str(rank), str(len(content(rank, 2)))] for rank in range(RANKS)]
    assert lines[1].endswith(".000001.pstream")


def test_streams_are_copied_out(written: Path, penstock: Penstock, tmp_path: Path) -> None:
    container = str(written / "way2.pstream")
    assert penstock("streams", container, "--extract", "1", "--output", "one").returncode == 0
    assert (tmp_path / "one").read_bytes() == content(1, 2)
    assert penstock("streams", container, "--join", "--output", "all").returncode == 0
    assert (tmp_path / "all").read_bytes() == b"".join(content(rank, 2) for rank in range(RANKS))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all", "one"]


def test_a_stream_goes_to_the_standard_output(written: Path) -> None:
    command = [sys.executable, "-m", "penstock", "streams", str(written / "way0.pstream"), "--extract", "0", "-o", "-"]
    assert subprocess.run(command, capture_output=True, check=True).stdout == content(0, 0)


def test_verify_says_what_is_damaged(written: Path, penstock: Penstock, tmp_path: Path) -> None:
    path = tmp_path / "hurt.pstream"
    data = bytearray((written / "way0.pstream").read_bytes())
    path.write_bytes(data)
    assert "every checksum is right" in penstock("streams", "hurt.pstream", "--verify").stdout
    data[4096 + 500] ^= 4  # of stream 0
    path.write_bytes(data)
    result = penstock("streams", "hurt.pstream", "--verify")
    assert result.returncode == 1
    assert "stream 0 of" in result.stderr
    assert "3 streams" in result.stderr
    assert "1 damaged" in result.stderr
    result = penstock("streams", "hurt.pstream", "--extract", "0", "--output", "out")
    assert result.returncode == 1
    assert "another checksum" in result.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["hurt.pstream"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--extract", "3", "-o", "x"], "there is no stream 3"),
        (["--extract", "-1", "-o", "x"], "there is no stream -1"),
        (["--join"], "--output PATH is needed"),
        (["-o", "x"], "--output needs"),
        (["--join", "--verify", "-o", "x"], "one at a time"),
        (["--join", "-o", "."], "it is a folder"),
        (["--join", "-o", "nowhere/x"], "No such file or directory"),
    ],
)
def test_wrong_options_are_one_line(written: Path, penstock: Penstock, words: list[str], said: str) -> None:
    result = penstock("streams", str(written / "way0.pstream"), *words)
    assert result.returncode != 0
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def copy(written: Path, way: int, folder: Path) -> tuple[Path, list[Path]]:
    """A container and its other files, copied."""
    for path in written.glob(f"way{way}.pstream*"):
        (folder / path.name).write_bytes(path.read_bytes())
    return folder / f"way{way}.pstream", sorted(folder.glob(f"way{way}.pstream.g*"))


def remove(_: Path, others: list[Path]) -> None:
    others[0].unlink()


def cut(_: Path, others: list[Path]) -> None:
    others[1].write_bytes(others[1].read_bytes()[:5000])


def exchange(_: Path, others: list[Path]) -> None:
    others[0].write_bytes(others[1].read_bytes())


def cut_index(main: Path, _: list[Path]) -> None:
    main.write_bytes(main.read_bytes()[:-1])


def escape(main: Path, _: list[Path]) -> None:
    """A header, its checksum right, that names files outside of the folder."""
    data = bytearray(main.read_bytes())
    data[128:140] = b"../../../etc"
    data[504:512] = struct.pack("<Q", crc64(bytes(data[:504])))
    main.write_bytes(data)


def lead_out(_: Path, others: list[Path]) -> None:
    elsewhere = others[0].parent / "elsewhere"
    elsewhere.mkdir()
    others[0].rename(elsewhere / "whole")
    others[0].symlink_to(elsewhere / "whole")


def pipe(_: Path, others: list[Path]) -> None:
    others[0].unlink()
    os.mkfifo(others[0])


@pytest.mark.parametrize(
    ("hurt", "said"),
    [
        (lead_out, "000001.pstream is a link out of the folder of way2.pstream"),
        (pipe, "000001.pstream is not a regular file"),
        (remove, "000001.pstream is missing: streams 1 to 1 of way2.pstream"),
        (cut, "000002.pstream is cut off: it has 5000 bytes"),
        (exchange, "is not the file that belongs to"),
        (cut_index, "is cut off"),
        (escape, "a name that cannot be"),
    ],
)
def test_what_is_wrong_is_named(
    written: Path, tmp_path: Path, hurt: Callable[[Path, list[Path]], None], said: str
) -> None:
    main, others = copy(written, 2, tmp_path)
    hurt(main, others)
    with pytest.raises(UserError, match=said):
        Container(main)


def test_no_bad_header_or_index_passes(written: Path, tmp_path: Path) -> None:
    good = (written / "way0.pstream").read_bytes()
    path = tmp_path / "bad.pstream"
    choose = random.Random(5)
    places = [*range(512), *range(len(good) - RANKS * 24, len(good))]
    for place in choose.sample(places, 150):
        bad = bytearray(good)
        bad[place] ^= 1 << choose.randrange(8)
        path.write_bytes(bad)
        with pytest.raises(DamagedError):
            Container(path)
    for length in choose.sample(range(len(good)), 50):
        path.write_bytes(good[:length])
        with pytest.raises(DamagedError):
            Container(path)


def test_an_inner_file_says_so(written: Path) -> None:
    inner = sorted(written.glob("way2.pstream.g*"))[0]
    with pytest.raises(UserError, match=r"is file 1 of a container: name way2\.pstream instead"):
        Container(inner)
    with pytest.raises(UserError, match="no such file"):
        Container(written / "absent")
    with pytest.raises(UserError, match="not a regular file"):
        Container(written)
