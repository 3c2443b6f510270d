"""view.py: `penstock view` draws a slice or projection of a dataset, or of a snapshot at all its levels."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.errors import UserError


def register(app: typer.Typer) -> None:
    app.command()(view)


def view(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Any file that penstock reads.")],
    dataset: Annotated[
        str | None,
        typer.Argument(metavar="[DATASET]", help="Or a variable of an imported snapshot. Else one is chosen."),
    ] = None,
    cut: Annotated[
        list[str] | None,
        typer.Option("--slice", metavar="z=0.5|k=12", help="Where: a place or an index; the middle unless given."),
    ] = None,
    project: Annotated[str | None, typer.Option("--project", help="max, mean or sum along an axis.")] = None,
    axis: Annotated[str | None, typer.Option("--axis", help="That is cut or projected: x, y, z.")] = None,
    level: Annotated[int | None, typer.Option("--level", help="The finest level of a snapshot that is drawn.")] = None,
    log: Annotated[bool, typer.Option("--log", help="Colours by the logarithm.")] = False,
    limits: Annotated[str | None, typer.Option("--range", metavar="LOW:HIGH", help="Values of the colours.")] = None,
    cmap: Annotated[str, typer.Option("--cmap", help="Colours, by matplotlib's names.")] = "inferno",
    size: Annotated[int, typer.Option("--size", help="Pixels across.")] = 1000,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="By default FILE with .png.")] = None,
) -> None:
    """Draw a line, an image, or a slice or projection of what has more dimensions; the first index goes upwards."""
    import penstock
    from penstock.view import draw, plane, request, snapshot

    if project is not None and project not in request.PROJECTIONS:
        raise UserError(f"--project is max, mean or sum, not '{project}'")
    if not 100 <= size <= 20_000:
        raise UserError(f"--size must be from 100 to 20000 pixels, not {size}")
    wanted = request.Request(request.slices_of(cut or []), project, axis, level, size)
    numbers = request.limits_of(limits)
    target = output or Path(path.name).with_suffix(".png")
    try:
        with penstock.open(path) as file:
            levels = snapshot.variables(file)
            name = dataset or (levels[0] if levels else plane.choose(file, str(path)))
            if name in file:
                picture = plane.read(file, str(path), name, wanted)
            elif name in levels:
                picture = snapshot.read(file, str(path), name, wanted)
            else:
                there = [*levels, *([] if levels else list(file))]
                raise UserError(f"{path} has no dataset '{name}'; it has {', '.join(there[:12])}")
    except penstock.Error as error:
        raise UserError(str(error)) from None
    said = draw.draw(picture, f"{name} of {path.name}", target, log, numbers, cmap, size)
    for note in said:
        typer.echo(f"note: {note}")
    chosen = "" if dataset else " (name another after the file)"
    typer.echo(f"{name} of {path}{chosen} is drawn in {target}{': ' + picture.title if picture.title else ''}")
