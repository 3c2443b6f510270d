"""test_words.py: quantities as a person reads them, for any quantity."""

import re

from hypothesis import given
from hypothesis import strategies as st

from penstock.base import words

POSITIVE = st.floats(min_value=1e-6, max_value=1e6)


@given(POSITIVE)
def test_digits_keep_three_digits_and_the_value(value: float) -> None:
    text = words.digits(value)
    assert re.fullmatch(r"\d+(\.\d+)?", text)
    assert abs(float(text) - value) <= max(0.005 * value, 0.0005)


@given(POSITIVE)
def test_seconds_name_their_unit(value: float) -> None:
    number, unit = words.seconds(value).split()
    assert abs(float(number) * {"s": 1.0, "ms": 1e-3, "µs": 1e-6}[unit] - value) <= max(0.006 * value, 1e-9)


@given(st.floats(min_value=0, max_value=1e6))
def test_durations_are_whole(value: float) -> None:
    parts = re.findall(r"(\d+) (s|min|h)", words.duration(value))
    total = sum(int(number) * {"s": 1, "min": 60, "h": 3600}[unit] for number, unit in parts)
    assert abs(total - value) <= 60 if value >= 3600 else abs(total - value) <= 0.5


@given(st.integers(min_value=0, max_value=1 << 60))
def test_sizes_are_binary(count: int) -> None:
    number, unit = words.size(count).split()
    power = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"].index(unit)
    assert abs(float(number) * 1024**power - count) <= 0.006 * count


def test_an_interval_may_be_missing() -> None:
    assert words.interval(None, None) == "too few runs"
    assert words.interval(0.5, 1.5) == "0.500 to 1.50"
