"""convert.py: `penstock convert` makes another format, other chunks, one file, a set or a VTKHDF image of a file."""

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from penstock.base import launch
from penstock.base.errors import UserError, must_be_there
from penstock.base.printable import printable
from penstock.cli import options, ranks

PROGRAM = "penstock-convert"
FILTERS = {"gzip": "deflate", "deflate": "deflate", "zstd": "zstd", "blosc": "blosc"}
OTHER_FORMATS = (".nc", ".cdf", ".raw", ".json")

Parts = Annotated[
    int | None, typer.Option("--parts", metavar="M", help="Split into M files, each a slab of every dataset.")
]
PerRank = Annotated[
    int | None, typer.Option("--per-rank", metavar="N", help="Split into N files, as N processes would write them.")
]


class Kind(StrEnum):
    """What a file is for, where its format does not say it."""

    vtkhdf = "vtkhdf"


def register(app: typer.Typer) -> None:
    app.command()(convert)
    app.command(hidden=True)(join)
    app.command(hidden=True)(split)


def convert(
    source: Annotated[Path, typer.Argument(metavar="FROM", help="Any file or set that penstock reads.")],
    target: Annotated[
        Path,
        typer.Argument(metavar="TO", help="The new file, or the master of a new set; its extension names the format."),
    ],
    plan: options.Plan = "",
    parts: Parts = None,
    per_rank: PerRank = None,
    chunks: Annotated[
        str, typer.Option("--chunks", help="Store HDF5 chunks of these extents, 64x64x64, or of this size, 1MiB.")
    ] = "",
    compress: Annotated[
        str, typer.Option("--compress", help="Compress with gzip:4, zstd:3 or blosc:5; HDF5 only.")
    ] = "",
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="NAME", help="Take only this dataset or group. Repeatable.")
    ] = None,
    to: Annotated[Kind | None, typer.Option("--to", help="vtkhdf: make a file that ParaView reads by itself.")] = None,
    force: options.Force = False,
    np: Annotated[int, typer.Option("--np", help="Use so many ranks; --per-rank has its own number.")] = options.RANKS,
    mpi: options.Mpi = launch.HERE,
) -> None:
    """Convert to another format or chunks; join or split sets.

    FROM and TO are HDF5, classic netCDF or raw binary, one file or a set of files: a set becomes one file unless
    --parts, --per-rank or --plan says otherwise. All attributes go along.

    The work is done in parallel, in memory that does not grow with the file, and leaves TO complete or as it was. What
    the new format cannot hold is an error before anything is written. --chunks applies to datasets of as many
    dimensions; the others get chunks of about 1 MiB. Readers of a split set open TO, which knows the parts beside it.
    """
    must_be_there(source)
    if (chunks or compress) and plan:
        raise UserError("--chunks and --compress make a plan: say the rest there too, instead of --plan beside them")
    if (chunks or compress) and target.suffix in OTHER_FORMATS:
        raise UserError(f"--chunks and --compress are for HDF5 files: '{target}' would be none; end its name in .h5")
    if parts is not None or per_rank is not None:
        if plan or chunks or compress or to:
            raise UserError(
                "--parts and --per-rank make a plan: --plan, --chunks, --compress and --to cannot stand beside it"
            )
        plan, np = _splitting(parts, per_rank, np, mpi)
    chosen = _chunked(chunks, compress) if chunks or compress else plan
    words = [str(source), str(target), *(["--plan", chosen] if chosen else [])]
    for name in only or []:
        words += ["--only", name]
    words += ["--force"] if force else []
    words += ["--vtkhdf"] if to is Kind.vtkhdf else []
    note = ranks.run(PROGRAM, words, np, mpi)
    what = " and ".join(only) if only else "the fields" if to else "all"
    typer.echo(printable(f"{target} holds {what} of {source}"))
    if note:
        typer.echo(printable(note))


def join(
    source: Annotated[Path, typer.Argument(metavar="FROM")],
    target: Annotated[Path, typer.Argument(metavar="TO")],
    plan: options.Plan = "",
    force: options.Force = False,
    np: options.Ranks = options.RANKS,
    mpi: options.Mpi = launch.HERE,
) -> None:
    """The same as `penstock convert FROM TO`."""
    convert(source, target, plan, force=force, np=np, mpi=mpi)


def split(
    source: Annotated[Path, typer.Argument(metavar="FILE")],
    target: Annotated[Path, typer.Argument(metavar="TO")],
    parts: Parts = None,
    per_rank: PerRank = None,
    force: options.Force = False,
    np: options.Ranks = options.RANKS,
    mpi: options.Mpi = launch.HERE,
) -> None:
    """The same as `penstock convert FILE TO --parts M`, or with --per-rank N."""
    if parts is None and per_rank is None:
        raise UserError("say either --parts M or --per-rank N")
    convert(source, target, parts=parts, per_rank=per_rank, force=force, np=np, mpi=mpi)


def _splitting(parts: int | None, per_rank: int | None, np: int, mpi: launch.Mpi) -> tuple[str, int]:
    """The plan that makes a set, and the ranks that write it."""
    if parts is not None and per_rank is not None:
        raise UserError("say either --parts M or --per-rank N")
    count = parts if parts is not None else per_rank
    if count is None or count < 1:
        raise UserError(f"--{'parts' if parts is not None else 'per-rank'} must be at least 1, not {count}")
    if parts is not None:
        return f"subfiles:parts={parts}", np
    if mpi is launch.Mpi.serial and count != 1:
        raise UserError(f"--per-rank {count} needs as many ranks, and a serial build has one: use --parts, or MPI")
    return "per_process", count


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
