"""counts.py: the record of `penstock bench --count-only` ("penstock.counts/1") as a table."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from penstock.base import words
from penstock.measure import records

COLUMNS = (
    "writers",
    "messages/rank",
    "most",
    "of plan",
    "of data",
    "to other nodes",
    "plan/rank",
    "plan at a writer",
    "moved/byte",
    "copied/byte",
    "shared stripes",
    "metadata calls",
)


@dataclass(frozen=True)
class Way:
    """What one way costs; messages and plans are means over the ranks unless they say otherwise."""

    writers: int
    messages: float
    most_messages: int
    plan_messages: float
    data_messages: float
    far_messages: float
    plan_bytes: float
    plan_received: int
    moved_per_byte: float
    copied_per_byte: float
    stripe_conflicts: int
    metadata_calls: int

    def cells(self) -> list[str]:
        messages = (self.plan_messages, self.data_messages, self.far_messages)
        return [
            str(self.writers),
            words.digits(self.messages),
            str(self.most_messages),
            *(words.digits(mean) for mean in messages),
            words.size(round(self.plan_bytes)),
            words.size(self.plan_received),
            f"{self.moved_per_byte:.2f}",
            f"{self.copied_per_byte:.2f}",
            str(self.stripe_conflicts),
            str(self.metadata_calls),
        ]


@dataclass(frozen=True)
class Counts:
    workload: str
    method: str
    tasks_per_node: int
    stripe_bytes: int
    rows: tuple[tuple[int, int, Way, Way], ...]  # ranks, bytes of the workload, ours, textbook


def read_counts(path: Path) -> Counts:
    """The record in PATH, or a UserError that says why it is none."""
    content = records.read(path, records.COUNTS)
    with records.taking_apart(path, records.COUNTS):
        return Counts(
            workload=str(content["workload"]),
            method=str(content["method"]),
            tasks_per_node=int(content["tasks_per_node"]),
            stripe_bytes=int(content["stripe_bytes"]),
            rows=tuple(
                (int(row["np"]), int(row["ours"]["bytes"]), _way(row["ours"]), _way(row["textbook"]))
                for row in content["counts"]
            ),
        )


def headline(counts: Counts) -> str:
    return (
        f"{counts.workload}, counted and not written: {counts.method} beside textbook two-phase writing; "
        f"{counts.tasks_per_node} ranks on a node, stripes of {words.size(counts.stripe_bytes)}"
    )


def table(counts: Counts) -> Table:
    """Two rows for each number of ranks."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("ranks", "bytes"):
        made.add_column(name, justify="right", no_wrap=True)
    made.add_column("", no_wrap=True)
    for name in COLUMNS:
        made.add_column(name, justify="right", no_wrap=True)
    for ranks, size, ours, textbook in counts.rows:
        made.add_row(str(ranks), words.size(size), "ours", *ours.cells())
        made.add_row("", "", "textbook", *textbook.cells(), style="dim")
    return made


REMARKS = (
    "The plan is told once: a later write of the same pieces by the same ranks has it cached and sends data alone.",
    "Neighbours of a writer reach it by shared memory: of ours, messages are plans, and data to other nodes, which",
    "couriers send for their whole node. The column 'of data' is what the ranks would send, each for itself.",
    "Moved: over the network and into the file. Copied: to a writer of the own node.",
    "Textbook: one aggregator on a node, the file cut evenly, 16 bytes told for each run, counts from all to all.",
)


def _way(content: dict[str, Any]) -> Way:
    return Way(
        writers=int(content["writers"]),
        messages=float(content["messages"]["mean"]),
        most_messages=int(content["messages"]["max"]),
        plan_messages=float(content["plan_messages"]["mean"]),
        data_messages=float(content["data_messages"]["mean"]),
        far_messages=float(content["far_messages"]["mean"]),
        plan_bytes=float(content["plan_bytes"]["mean"]),
        plan_received=int(content["plan_received"]),
        moved_per_byte=float(content["moved_per_byte"]),
        copied_per_byte=float(content["copied_per_byte"]),
        stripe_conflicts=int(content["stripe_conflicts"]),
        metadata_calls=int(content["metadata_calls"]["total"]),
    )
