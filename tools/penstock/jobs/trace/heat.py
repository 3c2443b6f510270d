"""heat.py: bytes moved over time by each rank, in a few bins that widen as the run goes on."""

import numpy as np
import numpy.typing as npt

from penstock.jobs.job import Heat

_BINS = 200
_FIRST_WIDTH = 0.001  # seconds


class HeatMap:
    def __init__(self, ranks: int) -> None:
        self.width = _FIRST_WIDTH
        self.bytes = np.zeros((2, ranks, _BINS))  # read, written

    def add(
        self,
        rank: int,
        way: int,
        start: npt.NDArray[np.float64],
        end: npt.NDArray[np.float64],
        length: npt.NDArray[np.int64],
    ) -> None:
        """Each LENGTH spread evenly over its time."""
        if len(start) == 0:
            return
        start, end = np.maximum(start, 0), np.maximum(end, 0)
        self._reach(float(end.max()))
        row = self.bytes[way, rank]
        first = np.minimum((start / self.width).astype(np.int64), _BINS - 1)
        last = np.minimum((end / self.width).astype(np.int64), _BINS - 1)
        inside = first == last
        row += np.bincount(first[inside], weights=length[inside], minlength=_BINS)
        for i in np.flatnonzero(~inside):
            edges = np.clip(np.arange(first[i], last[i] + 2) * self.width, start[i], end[i])
            row[first[i] : last[i] + 1] += length[i] * np.diff(edges) / (end[i] - start[i])

    def _reach(self, time: float) -> None:
        while time >= self.width * _BINS:
            folded = self.bytes.reshape(2, -1, _BINS // 2, 2).sum(axis=3)
            self.bytes = np.concatenate([folded, np.zeros_like(folded)], axis=2)
            self.width *= 2

    def heat(self, seconds: float) -> Heat:
        """Up to SECONDS; sums over bins are the bytes moved, to rounding of each bin."""
        bins = max(1, min(_BINS, int(np.ceil(seconds / self.width)))) if seconds > 0 else 1
        bins = max(bins, int(np.flatnonzero(self.bytes.sum(axis=(0, 1))).max(initial=0)) + 1)
        exact = np.cumsum(self.bytes[:, :, :bins], axis=2).round().astype(np.int64)
        whole = np.diff(exact, axis=2, prepend=0)
        return Heat(self.width, whole[0], whole[1])
