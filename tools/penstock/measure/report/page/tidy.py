"""tidy.py: a row for each repetition of each operation, as CSV or Parquet, for whoever computes on."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock.base.errors import UserError
from penstock.measure.report.page.model import Source

PHASES = ("define", "pack", "exchange", "write", "read", "sync", "commit")
COLUMNS = (
    "source", "case", "workload", "type", "method", "operation", "regime", "np", "repetition", "seconds", "bytes",
    "bwMiB", "fastest_rank_seconds", "verified", "control", "competitors", "imported",
    *(f"{phase}_seconds" for phase in PHASES),
)  # fmt: skip


def rows(sources: Sequence[Source]) -> list[dict[str, Any]]:
    made = []
    for source in sources:
        for case, line in source.lines():
            for index, seconds in enumerate(line.seconds):
                ranks = line.rank_seconds[index] if index < len(line.rank_seconds) else []
                row = {
                    "source": source.path.name,
                    "case": case.name,
                    "workload": str(case.workload.get("name", "")),
                    "type": str(case.workload.get("type", "")),
                    "method": line.method,
                    "operation": line.operation,
                    "regime": case.regime,
                    "np": len(ranks) or case.np,
                    "repetition": index + 1,
                    "seconds": seconds,
                    "bytes": line.bytes,
                    "bwMiB": line.bytes / 2**20 / seconds if seconds > 0 and line.bytes else None,
                    "fastest_rank_seconds": min(ranks, default=None),
                    "verified": line.verified and not case.imported,
                    "control": line.control,
                    "competitors": int((case.competitors or {}).get("streams_per_node", 0)),
                    "imported": case.imported,
                }
                for phase in PHASES:
                    times = line.phases.get(phase, [])
                    row[f"{phase}_seconds"] = times[index] if index < len(times) else None
                made.append(row)
    return made


def write_csv(sources: Sequence[Source], target: Path) -> None:
    with target.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows(sources))


def write_parquet(sources: Sequence[Source], target: Path) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UserError(f"{target}: Parquet needs pyarrow, which is not there: pip install pyarrow") from None
    made = rows(sources)
    parquet.write_table(pyarrow.table({name: [row[name] for row in made] for name in COLUMNS}), target)
