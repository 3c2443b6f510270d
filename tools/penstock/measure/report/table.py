"""table.py: the record of a bench run as a table."""

from rich import box
from rich.table import Table
from rich.text import Text

from penstock.base import words
from penstock.measure.report.results import Line, Record


def headline(record: Record) -> str:
    """What was measured, in one line."""
    repetitions = f"{record.repetitions} repetition{'' if record.repetitions == 1 else 's'}"
    data = "" if record.data == "numbers" else f" of data {record.data}"
    return (
        f"{record.workload}, {words.size(record.total_bytes)}{data}, written on {_ranks(record.np)}, "
        f"read back on {_ranks(record.readers)}; {record.regime}; {repetitions}"
        + {"time limit": " until the time limit", "half-width": ", all intervals as narrow as asked for"}.get(
            record.stopped or "", ""
        )
    )


def table(record: Record) -> Table:
    """One row for each operation of each method; the fastest method of each operation stands out."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    made.add_column("method", no_wrap=True)
    made.add_column("operation", no_wrap=True)
    numbers = ["median", "95 % interval", "MiB/s", *(["stored", "ratio"] if record.compresses else [])]
    for name in (*numbers, f"time ÷ {record.baseline}"):
        made.add_column(name, justify="right", no_wrap=True)
    made.add_column("verified", no_wrap=True)
    for operation in record.operations():
        lines = record.of(operation)
        fastest = min((line.median for line in lines if line.usable and line.median is not None), default=None)
        for line in lines:
            made.add_row(*_cells(line, record.compresses), style=_style(line, fastest))
        made.add_section()
    return made


def remarks(record: Record) -> list[str]:
    """What one must know to read the table: the device, the smallest difference that counts, warnings."""
    sentences = []
    if record.ceiling:
        rates = [f"{operation}s {words.digits(rate)} MiB/s" for operation, rate in record.ceiling.items()]
        sentences.append(f"The device itself {' and '.join(rates)} at best.")
    if record.compresses:
        sentences.append(
            "Stored is the size of the files; the ratio is of the data's bytes to it, MiB/s are of the data."
        )
    if any(line.cached for line in record.lines):
        sentences.append("Rates marked * are those of the page cache, not of the device.")
    if record.smallest_claimable:
        spreads = [f"{words.digits(100 * s)} % ({operation})" for operation, s in record.smallest_claimable.items()]
        sentences.append(f"The same method run twice (A/A) differs by up to {', '.join(spreads)}: less is not claimed.")
    for line in record.lines:
        if line.visible_to_copy is not None and not line.control:
            sentences.append(
                f"{line.method}: writing in the background adds {line.visible_to_copy:.2f} times "
                "the time of copying the data once."
            )
    sentences += [*record.notes, *record.errors(), *record.choices(), *record.costs()]
    return sentences + [f"Warning: {warning}." for warning in record.warnings]


def _ranks(count: int) -> str:
    return "1 rank" if count == 1 else f"{count} ranks"


def _cells(line: Line, compresses: bool) -> list[Text]:
    """COMPRESSES: whether there are columns for what is stored."""
    verified = "yes" if line.verified else "NO"
    stored = ["", ""] if line.stored is None else [line.stored.text, words.digits(line.stored.ratio)]
    stored = stored if compresses else []
    if line.median is None or line.mib_per_second is None:
        cells = [line.method, line.operation, "failed" if line.error else "-", "", "", *stored, "", verified]
    else:
        cells = [
            line.method,
            line.operation,
            words.seconds(line.median),
            words.seconds_interval(line.median, line.low, line.high),
            f"{line.mib_per_second:.0f}{'*' if line.cached else ''}",
            *stored,
            _ratio(line),
            verified,
        ]
    return [Text(cell) for cell in cells]


def _ratio(line: Line) -> str:
    if line.ratio is None:
        return "1"
    return f"{words.digits(line.ratio.median)} ({words.interval(line.ratio.low, line.ratio.high)})"


def _style(line: Line, fastest: float | None) -> str:
    if line.error is not None or not line.verified:
        return "red"
    if line.control:
        return "dim"
    return "bold" if line.median == fastest else ""
