"""streams.py: `penstock streams` lists, verifies and extracts the streams of a container."""

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from penstock.base import words
from penstock.base.errors import UserError
from penstock.base.links import followed
from penstock.base.printable import printable
from penstock.files.container import Container, DamagedError, Stream
from penstock.operate.leftovers import names


def register(app: typer.Typer) -> None:
    app.command()(streams)


def streams(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The container that penstock_stream_create made.")],
    extract: Annotated[
        int | None, typer.Option("--extract", metavar="RANK", help="Copy the stream of this rank to --output.")
    ] = None,
    join: Annotated[bool, typer.Option("--join", help="Copy all streams, in the order of ranks, to --output.")] = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="PATH", help="Write to this file; - for stdout.")
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Read every stream and compare its checksum.")] = False,
) -> None:
    """List, check or copy out the byte streams of each rank.

    Without options the streams of the container are listed. What is copied is checked on the way.
    """
    if (extract is not None) + join + verify > 1:
        raise UserError("--extract, --join and --verify: one at a time")
    if output is None and (join or extract is not None):
        raise UserError("--output PATH is needed; - is the standard output")
    if output is not None and not join and extract is None:
        raise UserError("--output needs --extract RANK or --join")
    container = Container(file)
    if extract is not None and not 0 <= extract < len(container.streams):
        raise UserError(f"there is no stream {extract} in {file}: it has 0 to {len(container.streams) - 1}")
    if output is not None:
        chosen = container.streams if extract is None else [container.streams[extract]]
        _copy(container, chosen, output)
    elif verify:
        _verify(container)
    else:
        _list(container)


def _summary(container: Container) -> str:
    count = len(container.streams)
    what = f"{count} stream{'' if count == 1 else 's'}, {words.size(container.total_bytes)}"
    return f"{printable(container.path.name)}: {what}"


def _list(container: Container) -> None:
    files = container.files()
    where = "in this file" if len(files) == 1 else f"in {len(files)} files"
    typer.echo(f"{_summary(container)} {where}, in chunks of {words.size(container.chunk_bytes)}")
    width = max(len("bytes"), *(len(str(stream.bytes)) for stream in container.streams))
    typer.echo(f"{'rank':>8}  {'bytes':>{width}}  part")
    for stream in container.streams:
        typer.echo(f"{stream.rank:>8}  {stream.bytes:>{width}}  {printable(stream.path.name)}")


def _verify(container: Container) -> None:
    damaged = 0
    for stream in container.streams:
        try:
            for _ in container.read(stream):
                pass
        except DamagedError as error:
            typer.echo(f"penstock: {printable(str(error))}", err=True)
            damaged += 1
    if damaged:
        raise UserError(f"{_summary(container)}: {damaged} damaged", status=1)
    typer.echo(f"{_summary(container)}: every checksum is right")


def _copy(container: Container, chosen: Iterable[Stream], output: str) -> None:
    with _target(container, output) as target:
        for stream in chosen:
            for piece in container.read(stream):
                target.write(piece)


@contextlib.contextmanager
def _target(container: Container, output: str) -> Iterator[BinaryIO]:
    """The standard output, or a new file that gets its name only when it is complete."""
    if output == "-":
        try:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        except BrokenPipeError:  # whoever reads has had enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    path = followed(Path(output))
    if path.is_dir():
        raise UserError(f"--output {output}: it is a folder")
    if path in container.files():
        raise UserError(f"--output {output}: it is a file of the container itself")
    try:
        if path.exists() and not path.is_file():  # a device or a pipe
            with path.open("wb") as file:
                yield file
        else:
            with _new_file(path) as file:
                yield file
    except OSError as error:
        raise UserError(f"--output {output}: {error.strerror}", status=1) from None


@contextlib.contextmanager
def _new_file(path: Path) -> Iterator[BinaryIO]:
    partial = names.partial_path(path)
    try:
        with partial.open("xb") as file:
            yield file
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
