"""convert.py: `penstock convert` makes another format, other chunks or a VTKHDF image of a file."""

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from penstock.campaign import launch
from penstock.cli import ranks
from penstock.errors import UserError

PROGRAM = "penstock-convert"
FILTERS = {"gzip": "deflate", "deflate": "deflate", "zstd": "zstd", "blosc": "blosc"}
OTHER_FORMATS = (".nc", ".nc4", ".cdf", ".raw", ".json")


class Kind(StrEnum):
    """What a file is for, where its format does not say it."""

    vtkhdf = "vtkhdf"


def register(app: typer.Typer) -> None:
    app.command()(convert)


def convert(
    source: Annotated[Path, typer.Argument(metavar="FROM", help="Any file or set that penstock reads.")],
    target: Annotated[Path, typer.Argument(metavar="TO", help="The new file; its extension says the format.")],
    plan: Annotated[str, typer.Option("--plan", help="How the new file is written: format, placement, engine.")] = "",
    chunks: Annotated[str, typer.Option("--chunks", help="Extents of HDF5 chunks, 64x64x64, or their size.")] = "",
    compress: Annotated[str, typer.Option("--compress", help="gzip:4, zstd:3 or blosc:5; HDF5 only.")] = "",
    only: Annotated[list[str] | None, typer.Option("--only", help="This dataset or group; may be repeated.")] = None,
    to: Annotated[Kind | None, typer.Option("--to", help="vtkhdf: fields that ParaView reads by itself.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is at TO.")] = False,
    np: Annotated[int, typer.Option("--np", help="Ranks.")] = 2,
    mpi: Annotated[launch.Mpi, typer.Option("--mpi", help="The MPI library to run under.")] = launch.Mpi.openmpi,
) -> None:
    """Convert a file or set into another: hdf5, netcdf or raw, one file or many, any chunks, with all attributes.

    It runs on ranks, in memory that does not grow with the file, and leaves TO complete or as it was. What the new
    format cannot hold is an error before anything is written. --chunks applies to datasets of as many dimensions; the
    others have chunks of about 1 MiB.
    """
    if (chunks or compress) and plan:
        raise UserError("--chunks and --compress make a plan: say the rest there too, instead of --plan beside them")
    if (chunks or compress) and target.suffix in OTHER_FORMATS:
        raise UserError(f"--chunks and --compress are for HDF5 files: '{target}' would be none; end its name in .h5")
    chosen = _chunked(chunks, compress) if chunks or compress else plan
    words = [str(source), str(target), *(["--plan", chosen] if chosen else [])]
    for name in only or []:
        words += ["--only", name]
    words += ["--force"] if force else []
    words += ["--vtkhdf"] if to is Kind.vtkhdf else []
    note = ranks.run(PROGRAM, words, np, mpi)
    what = " and ".join(only) if only else "the fields" if to else "all"
    typer.echo(f"{target} holds {what} of {source}")
    if note:
        typer.echo(note)


def _chunked(chunks: str, compress: str) -> str:
    """The plan that makes HDF5 chunks."""
    if not re.fullmatch(r"|[1-9]\d*(x[1-9]\d*)*|[1-9]\d*[KM]iB", chunks):
        raise UserError(f"--chunks {chunks}: say extents such as 64x64x64, or a size such as 1MiB")
    plan = f"phdf5:collective=true,chunked=true,chunk={chunks or '1MiB'}"
    if not compress:
        return plan
    name, _, level = compress.partition(":")
    if name not in FILTERS or not re.fullmatch(r"|\d{1,2}", level):
        raise UserError(f"--compress {compress}: say gzip, zstd or blosc, and a level: gzip:4")
    return f"{plan},filter={FILTERS[name]}" + (f",level={int(level)}" if level else "")
