"""report.py: `penstock report` makes one HTML page, or a table for other programs, from records of the bench."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.base.errors import UserError
from penstock.base.links import followed


def register(app: typer.Typer) -> None:
    app.command()(report)


def report(
    records: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", help="What penstock bench --json wrote; also IOR's JSON summary or h5bench's CSV."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Write this file: .html page, .svg table, .csv or .parquet rows of repetitions, .json of IOR.",
        ),
    ] = Path("report.html"),
) -> None:
    """Make a page, a table or a drawing of what was measured.

    The page begins with the verdict. Further records of penstock bench are compared with the first.
    """
    if output.suffix == ".svg":
        if len(records) != 1:
            raise UserError(f"{output}: the table of one record is drawn, not of {len(records)}")
        from penstock.measure.report.drawn import draw_table

        draw_table(records[0], output)
        typer.echo(f"The table of {records[0]} is drawn in {output}")
        return
    from penstock.measure.report.page import (  # what draws takes a second that others need not wait
        build,
        ior_json,
        tidy,
    )
    from penstock.measure.report.page.imported import read_source

    sources = [read_source(path) for path in records]
    if followed(output) in map(followed, records):
        raise UserError(f"{output} is one of the records: name another file with -o")
    writers = {".csv": tidy.write_csv, ".parquet": tidy.write_parquet, ".json": ior_json.write}
    try:
        if output.suffix in (".html", ".htm"):
            output.write_text(build.page(sources), encoding="utf-8")
        elif output.suffix in writers:
            writers[output.suffix](sources, output)
        else:
            raise UserError(f"{output}: its ending says what to make: .html, .svg, .csv, .parquet or .json")
    except OSError as error:
        raise UserError(f"{output}: {error.strerror}") from None
    typer.echo(f"The report is in {output}")
