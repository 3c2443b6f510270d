"""schedule.py: samples one after the other, at equal distances, up to a number or a time; and into a record."""

import time

from penstock.operate.monitor.record import Record
from penstock.operate.monitor.sample import Sample
from penstock.operate.monitor.sampler import Sampler

EARLY_SECONDS = 0.05  # by which an interval may end after the time is over


class Schedule:
    """When samples are due. COUNT and SECONDS: None for no end."""

    def __init__(
        self, sampler: Sampler, record: Record | None, interval: float, count: int | None, seconds: float | None
    ) -> None:
        self._sampler, self._record, self._interval, self._count = sampler, record, interval, count
        self._due = time.monotonic() + interval
        self._until = None if seconds is None else max(self._due, time.monotonic() + seconds + EARLY_SECONDS)

    def ended(self) -> bool:
        """Whether no more samples are due."""
        return self._count == 0 or (self._until is not None and self._due > self._until)

    def left(self) -> float:
        """Seconds until the next is due."""
        return self._due - time.monotonic()

    def next_sample(self) -> Sample:
        """Returns a sample of now and records it. If it took longer than an interval, the next is due at once."""
        sample = self._sampler.next()
        self._due = max(self._due + self._interval, time.monotonic())
        if self._count is not None:
            self._count -= 1
        if self._record is not None:
            self._record.add(sample)
            sample.troubles += [self._record.trouble] if self._record.trouble else []
        return sample
