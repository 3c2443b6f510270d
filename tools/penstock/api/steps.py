"""steps.py: series: output over time, one file for each step; written step by step, read as a sequence of steps."""

from __future__ import annotations

import bisect
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, SupportsFloat, SupportsIndex, overload

import numpy as np

from penstock.api import native
from penstock.api.exceptions import Invalid, NotFound
from penstock.api.file import File
from penstock.api.selection import Array
from penstock.base.nearest import named_arguments
from penstock.base.printable import printable

if TYPE_CHECKING:
    from mpi4py import MPI

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]


@dataclass(frozen=True)
class Step:
    """One step of a series: its iteration, the time of the simulation, and the path of its file."""

    iteration: int
    time: float
    path: str
    _series: Series = field(repr=False, compare=False)

    def open(self, plan: str | None = None) -> File:
        """Collective over the ranks of the series. To read this step; PLAN as of penstock.open."""
        return self._series._open_step(self.iteration, plan)


class Series(Sequence[Step]):
    """Steps in the order of iterations: those that existed when the series was opened, and those written since."""

    def __init__(self, library: Any, opened: Any, ranks: Any, pattern: str) -> None:
        self._library, self._open, self._ranks, self._pattern = library, opened, ranks, pattern
        if ranks.rank == 0:
            for text in self.warnings:
                warnings.warn(printable(text), UserWarning, stacklevel=4)

    # --- writing

    def due(self, iteration: SupportsIndex, time: SupportsFloat) -> bool:
        """Collective, with the same arguments on all ranks. Whether a step is to be written now, on all of them."""
        return bool(self._at_moment(self._open.due, iteration, time))

    def step(self, iteration: SupportsIndex, time: SupportsFloat) -> File:
        """Collective. A new file to put into, for `with`: its end publishes it, and removes what is no longer kept."""
        opened = self._at_moment(self._open.step, iteration, time)
        file = File(self._library, opened, self._ranks, True)
        file._attributes[""] = {"iteration": np.int64(iteration), "time": np.float64(time)}
        return file

    def _at_moment(self, call: Any, iteration: Any, time: Any) -> Any:
        """CALL for a moment; one that cannot be is -1 for the library, which goes on with the other ranks."""
        try:
            moment = (native.whole(iteration, "iteration"), _number(time, "time"))
        except (TypeError, ValueError) as wrong:
            if self._ranks.size == 1:
                raise
            return native.told(wrong, call, -1, 0.0)
        return call(*moment)

    # --- reading

    def _steps(self) -> list[Step]:
        return [Step(iteration, time, path, self) for iteration, time, path in self._open.steps()]

    def _open_step(self, iteration: int, plan: str | None) -> File:
        count = self._open.count
        index = bisect.bisect_left(range(count), iteration, key=lambda i: self._open.at(i)[0])
        words, wrong = native.words(plan=plan)
        if index == count or self._open.at(index)[0] != iteration:
            wrong = NotFound(
                f"step {iteration} of series '{self._pattern}' is no longer there: newer ones took its place"
            )
        if wrong is not None and self._ranks.size == 1:
            raise wrong
        opened = native.told(wrong, self._open.open_step, index if wrong is None else -1, *words)
        return File(self._library, opened, self._ranks, False)

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> list[Step]: ...
    def __getitem__(self, index: int | slice) -> Step | list[Step]:
        """Local. Steps by position, not by iteration: the last is -1."""
        if isinstance(index, slice):
            return self._steps()[index]
        count = len(self)
        try:
            iteration, time, path = self._open.at(range(count)[index])
        except IndexError:
            raise IndexError(f"step {index}: series '{self._pattern}' has {count} steps, from 0") from None
        return Step(iteration, time, path, self)

    def __len__(self) -> int:
        return int(self._open.count)

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps())

    def __reversed__(self) -> Iterator[Step]:
        return reversed(self._steps())

    @property
    def iterations(self) -> Array:
        return np.array([step.iteration for step in self._steps()], dtype="i8")

    @property
    def times(self) -> Array:
        return np.array([step.time for step in self._steps()], dtype="f8")

    @property
    def warnings(self) -> list[str]:
        """Files that match and are no steps, or cannot be read; rank 0 warns of them at once."""
        return list(self._open.warnings)

    # --- closing

    def close(self) -> None:
        """Local. Nothing is pending; files of its steps stay open. A second call does nothing."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if not self._open.is_open:
            return f"<closed penstock series '{self._pattern}'>"
        return f"<penstock series '{self._pattern}', {len(self)} steps>"


def _number(time: Any, what: str) -> float:
    try:
        if not isinstance(time, (str, bytes)):
            return float(time)
    except (TypeError, OverflowError):
        pass
    raise TypeError(f"{what} is of type {type(time).__name__}: it must be a number")


def _option(name: str, value: Any) -> str:
    if name in ("steps", "keep_last", "keep_every"):
        return str(native.whole(value, name))
    if name == "xdmf":
        return "true" if value else "false"
    if name == "io_budget" and isinstance(value, str):
        if "," in value or not value:
            raise Invalid(f"io_budget={value!r}: a share of the run time is needed, as '10%' or 0.1")
        return value
    if name == "at":
        moments = [repr(_number(each, name)) for each in value]
        if not moments:
            raise Invalid("at has no times: name some, or leave it out")
        return ":".join(moments)
    return repr(_number(value, name))


@named_arguments
def series(
    pattern: Path,
    comm: MPI.Comm | None = None,
    plan: str | None = None,
    *,
    steps: SupportsIndex | None = None,
    times: SupportsFloat | None = None,
    at: Iterable[SupportsFloat] | None = None,
    seconds: SupportsFloat | None = None,
    io_budget: SupportsFloat | str | None = None,
    keep_last: SupportsIndex | None = None,
    keep_every: SupportsIndex | None = None,
    xdmf: bool = False,
) -> Series:
    """Collective. Writes ``run/out-*.h5``: run/out-00000100.h5 at iteration 100. Continues an existing series.

    A step is due at multiples of STEPS iterations and of TIMES (simulation time), AT the given times, and SECONDS after
    the last step, but not if writing would take more than IO_BUDGET (0.1 or "10%") of the run time. Without these, each
    step is due. KEEP_LAST is the number of newest steps to keep; KEEP_EVERY additionally keeps every Nth step. XDMF
    writes a file for ParaView and VisIt beside the index.
    """
    given = {
        "steps": steps,
        "times": times,
        "at": at,
        "seconds": seconds,
        "io_budget": io_budget,
        "keep_last": keep_last,
        "keep_every": keep_every,
        "xdmf": xdmf or None,
    }

    def options() -> str:
        return ",".join(f"{name}={_option(name, value)}" for name, value in given.items() if value is not None)

    library, ranks, opened = native.collective(comm, "series", pattern=pattern, plan=plan, options=options)
    return Series(library, opened, ranks, os.fsdecode(pattern))


@named_arguments
def open_series(pattern: Path, comm: MPI.Comm | None = None) -> Series:
    """Collective. To read; NotFound where there is no step."""
    library, ranks, opened = native.collective(comm, "open_series", pattern=pattern)
    return Series(library, opened, ranks, os.fsdecode(pattern))
