"""picture.py: `penstock picture` draws a 2-D dataset of an HDF5 file."""

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command()(picture)


def picture(
    file: Annotated[Path, typer.Argument(help="An HDF5 file, whoever wrote it.")],
    dataset: Annotated[str | None, typer.Argument(help="By default the first with two dimensions.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="By default FILE with .png.")] = None,
) -> None:
    """Draw a 2-D dataset as a PNG picture."""
    from penstock.report.picture import draw  # matplotlib takes a second that the other subcommands need not wait

    target = output or file.with_suffix(".png")
    name = draw(file, dataset, target)
    typer.echo(f"{name} of {file} is drawn in {target}")
