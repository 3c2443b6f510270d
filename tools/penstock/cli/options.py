"""options.py: the options that several commands have, each declared once."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.base import launch

RANKS = 2  # unless --np says otherwise

Mpi = Annotated[launch.Mpi, typer.Option("--mpi", help="Run under this MPI library.")]
BuildOf = Annotated[launch.Mpi, typer.Option("--mpi", help="Use the build of the library for this MPI.")]
Ranks = Annotated[int, typer.Option("--np", help="Use so many ranks.")]
Plan = Annotated[str, typer.Option("--plan", help="Write the new file by this plan: format, placement, engine.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JsonLines = Annotated[bool, typer.Option("--json", help="Print one line of JSON for each file.")]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Write this file.")]
Directory = Annotated[Path, typer.Option("--dir", metavar="DIR", help="Measure the file system of this folder.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would run, for how long and what it needs; run nothing.")
]
Only = Annotated[
    list[str] | None, typer.Option("--only", metavar="NAME", help="Compare only this dataset. Repeatable.")
]
Processes = Annotated[int | None, typer.Option("--processes", min=1, help="Read so many logs at once.")]
