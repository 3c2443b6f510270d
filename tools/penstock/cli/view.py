"""view.py: `penstock view` draws a slice or projection of a dataset, or of a snapshot at all its levels."""

import contextlib
import difflib
from pathlib import Path
from typing import Annotated

import typer

from penstock.base.errors import UserError, must_be_there
from penstock.base.printable import printable


def register(app: typer.Typer) -> None:
    app.command()(view)
    app.command(hidden=True)(picture)


def view(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Any file that penstock reads.")],
    dataset: Annotated[
        str | None,
        typer.Argument(
            metavar="DATASET", help="A dataset, or a variable of an imported snapshot; without it, one is chosen."
        ),
    ] = None,
    cut: Annotated[
        list[str] | None,
        typer.Option(
            "--slice", metavar="z=0.5|k=12", help="Cut at this place or index; the middle otherwise. Repeatable."
        ),
    ] = None,
    project: Annotated[str | None, typer.Option("--project", help="Draw the max, mean or sum along an axis.")] = None,
    axis: Annotated[str | None, typer.Option("--axis", help="Cut or project along this axis: x, y, z.")] = None,
    level: Annotated[int | None, typer.Option("--level", help="Draw a snapshot down to this level.")] = None,
    log: Annotated[bool, typer.Option("--log", help="Scale the colours by the logarithm.")] = False,
    limits: Annotated[
        str | None, typer.Option("--range", metavar="LOW:HIGH", help="Let the colours span these values.")
    ] = None,
    cmap: Annotated[str, typer.Option("--cmap", help="Use the colours that matplotlib calls so.")] = "inferno",
    size: Annotated[int, typer.Option("--size", help="Make the picture so many pixels wide.")] = 1000,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write this file [FILE with .png, here].")
    ] = None,
) -> None:
    """Draw a line, an image, a slice or a projection.

    A dataset of one dimension becomes a line, one of two an image, in which the first index goes upwards. Of more
    dimensions the middle is cut, unless --slice or --project says otherwise.
    """
    import penstock
    from penstock.files.view import draw, plane, request, snapshot

    must_be_there(path)
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
            name = (dataset or "").strip("/") or (levels[0] if levels else plane.choose(file, str(path)))
            if levels and name in file:
                name, wanted = snapshot.at_level(str(path), levels, name, wanted)
            if name in file:
                picture = plane.read(file, str(path), name, wanted)
            elif name in levels:
                picture = snapshot.read(file, str(path), name, wanted)
            else:
                with contextlib.suppress(KeyError):
                    file[name]  # the file may have it, and say why it is not read
                there = [*levels, *([] if levels else list(file))]
                near = difflib.get_close_matches(name, there, 3) or there[:12]
                raise UserError(f"{path} has no dataset '{name}'; it has {', '.join(near)}")
    except penstock.Error as error:
        raise UserError(str(error)) from None
    notes = draw.draw(picture, f"{name} of {path.name}", target, log, numbers, cmap, size)
    for note in notes:
        typer.echo(f"note: {printable(note)}")
    chosen = "" if dataset else " (name another after the file)"
    drawn = f"{name} of {path}{chosen} is drawn in {target}{': ' + picture.title if picture.title else ''}"
    typer.echo(printable(drawn))


def picture(
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    dataset: Annotated[str | None, typer.Argument(metavar="DATASET")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o")] = None,
) -> None:
    """The same as `penstock view`, with the picture beside FILE, or as `penstock report` with .svg."""
    must_be_there(file)
    if _is_record(file):
        from penstock.measure.report.drawn import draw_table

        target = output or file.with_suffix(".svg")
        draw_table(file, target)
        typer.echo(printable(f"The table of {file} is drawn in {target}"))
        return
    view(file, dataset or _first_plane(file), output=output or file.with_suffix(".png"))


def _is_record(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            return stream.read(64).lstrip().startswith(b"{")
    except OSError:
        return False  # the code that draws it reports the error


def _first_plane(path: Path) -> str | None:
    import penstock
    from penstock.files.view import snapshot

    try:
        with penstock.open(path) as file:
            if snapshot.variables(file):
                return None
            return next((name for name in file if file[name].ndim == 2 and file[name].dtype.kind in "biuf"), None)
    except penstock.Error as error:
        raise UserError(str(error)) from None
