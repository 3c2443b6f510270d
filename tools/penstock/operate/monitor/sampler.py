"""sampler.py: one sample after the other, each of the interval since the one before."""

from pathlib import Path
from types import TracebackType

from penstock.operate.monitor.members import Members
from penstock.operate.monitor.outputs import Outputs
from penstock.operate.monitor.queries import COMMAND, Queries
from penstock.operate.monitor.reading import read_node
from penstock.operate.monitor.sample import Sample, between


class Sampler:
    """Its first reading is made at once; ROOT is where /proc and /sys are."""

    def __init__(self, root: Path = Path("/"), worker: tuple[str, ...] = COMMAND) -> None:
        self._root = root
        self._queries = Queries(worker)
        self._members, self._outputs = Members(), Outputs()
        self._last = read_node(root, self._queries, self._members)

    def __enter__(self) -> "Sampler":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._queries.close()

    def next(self) -> Sample:
        """Since the last one, or the beginning."""
        now = read_node(self._root, self._queries, self._members)
        before, self._last = self._last, now
        return between(before, now, self._outputs)
