"""test_events.py: whatever a program prints on standard output, events are read and the rest is skipped."""

import json

from hypothesis import given
from hypothesis import strategies as st

from penstock.measure.campaign.events import Failed, Finished, Run, Started, parse_event

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.text())
def test_text_is_no_event(text: str) -> None:
    assert parse_event(text) is None or text.strip().startswith("{")


@given(st.fixed_dictionaries({"event": st.sampled_from(["start", "run", "failed", "done", "x"])}), JSON)
def test_a_broken_event_is_none_or_an_event(fields: dict[str, object], rest: object) -> None:
    event = parse_event(json.dumps(fields | (rest if isinstance(rest, dict) else {})))
    assert event is None or isinstance(event, Started | Run | Failed | Finished)


@given(st.text(), st.integers(0, 99), st.floats(0, 1e6), st.integers(0, 999))
def test_a_run_is_read_as_written(method: str, repetition: int, seconds: float, done: int) -> None:
    fields = {
        "method": method,
        "operation": "read",
        "repetition": repetition,
        "seconds": seconds,
        "done": done,
        "of": 999,
    }
    assert parse_event(json.dumps({"event": "run", **fields})) == Run(method, "read", repetition, seconds, done, 999)
