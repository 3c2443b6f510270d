"""rows.py: the records of a module as columns: a log may have a hundred thousand."""

from collections.abc import Sequence
from typing import overload

import numpy as np
import numpy.typing as npt

from penstock.jobs.job import Module, Record

Column = npt.NDArray[np.float64]


class Rows(Sequence[Record]):
    """COUNTERS and TIMES are indexed by [record, name]."""

    def __init__(
        self,
        paths: Sequence[str],
        ranks: npt.NDArray[np.int64],
        counter_names: Sequence[str],
        counters: npt.NDArray[np.int64],
        time_names: Sequence[str],
        times: npt.NDArray[np.float64],
    ) -> None:
        self.paths = paths
        self.ranks = ranks
        self._counter_names = counter_names
        self._counters = counters
        self._time_names = time_names
        self._times = times
        self._columns: dict[str, Column] = {}

    @classmethod
    def of(cls, records: Sequence[Record]) -> "Rows":
        if isinstance(records, Rows):
            return records
        counter_names = list(dict.fromkeys(name for one in records for name in one.counters))
        time_names = list(dict.fromkeys(name for one in records for name in one.times))
        counters = np.array([[one.counters.get(name, 0) for name in counter_names] for one in records], np.int64)
        times = np.array([[one.times.get(name, 0.0) for name in time_names] for one in records], np.float64)
        return cls(
            [one.path for one in records],
            np.array([one.rank for one in records], np.int64),
            counter_names,
            counters.reshape(len(records), len(counter_names)),
            time_names,
            times.reshape(len(records), len(time_names)),
        )

    def __len__(self) -> int:
        return len(self.paths)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | Sequence[Record]:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        return Record(
            self.paths[index],
            int(self.ranks[index]),
            dict(zip(self._counter_names, self._counters[index].tolist(), strict=True)),
            dict(zip(self._time_names, self._times[index].tolist(), strict=True)),
        )

    def column(self, name: str) -> Column:
        """NAME of every record; zeros where records have no such number. Negative ones mean "unknown" and are zero."""
        if name not in self._columns:
            self._columns[name] = np.maximum(self._raw(name), 0.0)
        return self._columns[name]

    def negative(self, suffixes: tuple[str, ...]) -> int:
        """How many of the numbers whose names end so are negative: clocks that went back, counters that were lost."""
        chosen = [i for i, name in enumerate(self._time_names) if name.endswith(suffixes)]
        return int((self._times[:, chosen] < 0).sum())

    def _raw(self, name: str) -> Column:
        if name in self._counter_names:
            return self._counters[:, self._counter_names.index(name)].astype(np.float64)
        if name in self._time_names:
            return np.nan_to_num(self._times[:, self._time_names.index(name)])
        return np.zeros(len(self))


def rows(module: Module | None) -> Rows:
    return Rows.of(module.records if module is not None else ())
