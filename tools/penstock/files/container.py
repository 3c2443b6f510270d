"""container.py: containers of streams read from their bytes alone; docs/formats/container.md specifies them."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from penstock.base.errors import UserError, must_be_there
from penstock.base.links import followed
from penstock.crc64 import crc64

MAGIC = b"\x89PSTRM\r\n"
VERSION = 1
HEADER = struct.Struct("<8sQQqqqqqqQqQqQ")
HEADER_BYTES = 512
STEM_AT, STEM_MOST, CRC_AT = 128, 255, 504
ENTRY = struct.Struct("<qqQ")
PIECE_BYTES = 8 << 20
MOST_STREAMS, MOST_BYTES, MOST_OFFSET = 2**31 - 1, 1 << 40, 1 << 62


class DamagedError(UserError):
    """The bytes are not what a writer left there."""

    def __init__(self, message: str) -> None:
        super().__init__(message, status=1)


class Stream(NamedTuple):
    """What the index says of one rank's stream."""

    rank: int
    bytes: int
    crc: int
    path: Path  # of the file that it lies in


@dataclass(frozen=True)
class _Header:
    generation: int
    file: int
    streams: int
    files: int
    chunk_bytes: int
    data_offset: int
    index_offset: int
    index_crc: int
    total_bytes: int
    stem: str

    def shape(self) -> tuple[int, ...]:
        return self.generation, self.streams, self.files, self.chunk_bytes, self.data_offset

    def first(self, file: int) -> int:
        """The first stream of FILE."""
        return file * self.streams // self.files

    def file_of(self, stream: int) -> int:
        return ((stream + 1) * self.files - 1) // self.streams


class Container:
    """The streams of a container; all that it says of them was checked when it was opened, their bytes are not."""

    def __init__(self, path: Path) -> None:
        self.path = followed(path)  # the other files lie beside the file, not beside a link to it
        must_be_there(path)
        if not self.path.is_file():
            raise UserError(f"{path}: not a regular file")
        self._header = _read_header(self.path)
        if self._header.file:
            raise UserError(f"{path} is file {self._header.file} of a container: name {self._header.stem} instead")
        self.streams = self._read_index()
        for number in range(self._header.files):
            self._check_file(number)

    @property
    def chunk_bytes(self) -> int:
        return self._header.chunk_bytes

    @property
    def total_bytes(self) -> int:
        return self._header.total_bytes

    def files(self) -> list[Path]:
        """All files of the container, the one with its name first."""
        return [self._path_of(number) for number in range(self._header.files)]

    def read(self, stream: Stream) -> Iterator[bytes]:
        """The bytes of STREAM in pieces; DamagedError at their end where the checksum is another."""
        crc, header = 0, self._header
        number = header.file_of(stream.rank)
        first, group = header.first(number), header.first(number + 1) - header.first(number)
        with _open(stream.path) as file:
            at = 0
            while at < stream.bytes:
                chunk, within = divmod(at, header.chunk_bytes)
                wanted = min(header.chunk_bytes - within, stream.bytes - at, PIECE_BYTES)
                file.seek(header.data_offset + (chunk * group + stream.rank - first) * header.chunk_bytes + within)
                piece = _read(file, stream.path, wanted)
                if len(piece) < wanted:
                    raise DamagedError(f"{stream.path} is cut off: it became shorter while it was read")
                crc = crc64(piece, crc)
                at += wanted
                yield piece
        if crc != stream.crc:
            raise DamagedError(
                f"stream {stream.rank} of {self.path} is damaged: its {stream.bytes} bytes in {stream.path.name} "
                "have another checksum than when they were written"
            )

    def _path_of(self, number: int) -> Path:
        if number == 0:
            return self.path
        return self.path.with_name(f"{self._header.stem}.g{self._header.generation:016x}.{number:06d}.pstream")

    def _read_index(self) -> list[Stream]:
        header, length = self._header, self._header.streams * ENTRY.size
        size = self.path.stat().st_size
        if header.index_offset + length > size:
            raise DamagedError(
                f"{self.path} is cut off: it has {size} bytes, with its index it had {header.index_offset + length}"
            )
        with _open(self.path) as file:
            file.seek(header.index_offset)
            index = _read(file, self.path, length)
        if crc64(index) != header.index_crc:
            raise DamagedError(f"{self.path}: its index is damaged: the checksum is another")
        paths = self.files()
        streams, next_start = [], 0
        for rank, (start, count, crc) in enumerate(ENTRY.iter_unpack(index)):
            if count < 0 or start != next_start:
                raise DamagedError(f"{self.path}: its index has a place or length of stream {rank} that cannot be")
            next_start += count
            streams.append(Stream(rank, count, crc, paths[header.file_of(rank)]))
        if next_start != header.total_bytes:
            raise DamagedError(
                f"{self.path}: its streams have {next_start} bytes, its header says {header.total_bytes}"
            )
        return streams

    def _check_file(self, number: int) -> None:
        header, path = self._header, self._path_of(number)
        first, last = header.first(number), header.first(number + 1)
        if number:
            if not path.exists():
                raise UserError(
                    f"{path.name} is missing: streams {first} to {last - 1} of {self.path.name} lie in it", status=1
                )
            if not path.is_file():  # opening a pipe would wait for ever
                raise DamagedError(f"{path} is not a regular file")
            if path.resolve().parent != self.path.parent:
                raise DamagedError(f"{path} is a link out of the folder of {self.path.name}: put the file itself there")
            other = _read_header(path)
            if other.file != number or other.shape() != header.shape():
                raise DamagedError(f"{path} is not the file that belongs to {self.path}")
        end = max(self._end(stream, last - first) for stream in self.streams[first:last])
        size = path.stat().st_size
        if number == 0 and end > header.index_offset:
            raise DamagedError(f"{path}: its index overlaps the data of a stream")
        if number and end > size:
            raise DamagedError(f"{path} is cut off: it has {size} bytes, its streams need {end}")

    def _end(self, stream: Stream, group: int) -> int:
        """Where the last byte of STREAM ends in its file; 0 without any."""
        if stream.bytes == 0:
            return 0
        header = self._header
        chunk, within = divmod(stream.bytes - 1, header.chunk_bytes)
        place = stream.rank - header.first(header.file_of(stream.rank))
        return header.data_offset + (chunk * group + place) * header.chunk_bytes + within + 1


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", status=1) from None


def _read(file: BinaryIO, path: Path, count: int) -> bytes:
    try:
        return file.read(count)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", status=1) from None


def _read_header(path: Path) -> _Header:
    with _open(path) as file:
        head = _read(file, path, HEADER_BYTES)
    if len(head) < HEADER_BYTES or not head.startswith(MAGIC):
        raise DamagedError(f"{path}: it is no container of streams")
    if crc64(head[:CRC_AT]) != int.from_bytes(head[CRC_AT:], "little"):
        raise DamagedError(f"{path}: its header is damaged: the checksum is another")
    fields: list[Any] = list(HEADER.unpack_from(head))
    version, numbers, previous_files, stem_bytes = fields[1], fields[2:11], fields[12], fields[13]
    if version != VERSION:
        raise UserError(
            f"{path} is a container of version {version}, this penstock reads version {VERSION}: update it", 1
        )
    stem = head[STEM_AT : STEM_AT + min(stem_bytes, STEM_MOST)]
    header = _Header(*[*numbers, stem.decode("utf-8", "surrogateescape")])
    if stem_bytes > STEM_MOST or previous_files < 0 or not _plausible(header):
        raise DamagedError(f"{path}: its header has numbers or a name that cannot be")
    return header


def _plausible(h: _Header) -> bool:
    main = h.index_offset >= h.data_offset and h.stem != ""
    return (
        1 <= h.files <= h.streams <= MOST_STREAMS
        and 0 <= h.file < h.files
        and 1 <= h.chunk_bytes <= MOST_BYTES
        and HEADER_BYTES <= h.data_offset <= MOST_BYTES
        and 0 <= h.index_offset <= MOST_OFFSET
        and h.total_bytes >= 0
        and "/" not in h.stem
        and "\0" not in h.stem
        and (h.file != 0 or main)
    )
