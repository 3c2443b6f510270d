"""drawn.py: the table of a record of `penstock bench` as a picture that scales."""

import io
import re
from pathlib import Path

from rich.console import Console
from rich.measure import Measurement

from penstock.base.errors import UserError
from penstock.measure.report.advice import advice
from penstock.measure.report.results import read_record
from penstock.measure.report.table import headline, table

WEB_FONT = re.compile(r"@font-face \{.*?\}", re.DOTALL)  # a picture asks nobody for anything


def draw_table(source: Path, target: Path) -> None:
    """Draws what `penstock bench` printed of the record in SOURCE as an SVG in TARGET."""
    if target.suffix != ".svg":
        raise UserError(f"{target}: a table is drawn as .svg")
    record = read_record(source)
    rows = table(record)
    console = Console(record=True, width=400, file=io.StringIO(), force_terminal=True)
    console.width = Measurement.get(console, console.options, rows).maximum
    console.print(headline(record), highlight=False, markup=False)
    console.print(rows)
    for sentence in advice(record):
        console.print(sentence, style="bold", highlight=False, markup=False)
    drawing = WEB_FONT.sub("", console.export_svg(title="penstock bench"))
    try:
        target.write_text(drawing, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{target}: {error.strerror}") from None
