"""picture.py: `penstock picture` draws a 2-D dataset of an HDF5 file, or the table of a record of the bench."""

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command()(picture)


def picture(
    file: Annotated[Path, typer.Argument(help="An HDF5 file, whoever wrote it, or what penstock bench --json kept.")],
    dataset: Annotated[str | None, typer.Argument(help="By default the first with two dimensions.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="By default FILE with .png, of a record with .svg.")
    ] = None,
) -> None:
    """Draw a 2-D dataset as a PNG picture, or the table of a record of penstock bench as SVG."""
    if _is_record(file):
        from penstock.report.drawn import draw_table

        target = output or file.with_suffix(".svg")
        draw_table(file, target)
        typer.echo(f"The table of {file} is drawn in {target}")
        return
    from penstock.report.picture import draw  # matplotlib takes a second that the other subcommands need not wait

    target = output or file.with_suffix(".png")
    name = draw(file, dataset, target)
    typer.echo(f"{name} of {file} is drawn in {target}")


def _is_record(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            return stream.read(64).lstrip().startswith(b"{")
    except OSError:
        return False  # what draws it says why
