"""Metadata: strict against the category's class, plain JSON afterwards, every fault with its path."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Literal

import pytest
from attrs import evolve, field, frozen, validators
from hypothesis import given
from hypothesis import strategies as st

from olav_core import CategorySpec, RecordError
from olav_core.host.metadata import MAX_DEPTH, structure


class Level(str, Enum):  # noqa: UP042
    LOW = "low"
    HIGH = "high"


@frozen
class Step:
    do: str
    minutes: int = 5


@frozen
class Ticket:
    number: int
    state: Literal["open", "closed"] = "open"
    level: Level = Level.LOW
    tags: tuple[str, ...] = ()
    devices: frozenset[str] = frozenset()
    steps: list[Step] = field(factory=list)
    ratio: float = 0.5
    urgent: bool = False
    when: datetime | None = None
    counts: dict[str, int] = field(factory=dict)
    extra: Any = None
    tries: int = field(default=0, validator=validators.ge(0))


FREE = CategorySpec(id="note", title="Note", purpose="Anything")
TICKET = evolve(FREE, id="ticket", metadata=Ticket)


def test_defaults_are_filled_and_the_result_is_plain_json() -> None:
    given_when = datetime(2026, 4, 29, tzinfo=UTC)
    result = structure(
        TICKET,
        {"number": 7, "steps": [{"do": "x"}], "devices": ["b", "a"], "level": "high", "when": given_when},
    )
    assert result == {
        "number": 7,
        "state": "open",
        "level": "high",
        "tags": [],
        "devices": ["a", "b"],
        "steps": [{"do": "x", "minutes": 5}],
        "ratio": 0.5,
        "urgent": False,
        "when": "2026-04-29T00:00:00+00:00",
        "counts": {},
        "extra": None,
        "tries": 0,
    }
    assert structure(TICKET, result) == result, "what was stored structures to itself"
    assert structure(TICKET, json.loads(json.dumps(result))) == result


def test_an_instance_of_the_class_is_taken_and_its_types_are_checked() -> None:
    assert structure(TICKET, Ticket(number=1))["number"] == 1
    with pytest.raises(RecordError, match=r"metadata\.number: expected a whole number, got '1'"):
        structure(TICKET, Ticket(number="1"))  # type: ignore[arg-type]


def test_every_fault_is_told_at_once_with_its_path() -> None:
    with pytest.raises(RecordError) as caught:
        structure(
            TICKET,
            {
                "number": "7",
                "state": "opn",
                "level": "mid",
                "tags": "abc",
                "steps": [{"do": 1, "mintes": 2}, "x"],
                "ratio": math.nan,
                "urgent": "false",
                "when": "yesterday",
                "counts": {"a": True},
                "titel": 1,
            },
        )
    text = str(caught.value)
    for line in (
        "category 'ticket' has 12 fault(s)",
        "metadata.number: expected a whole number, got '7' (str)",
        "metadata.state: 'opn' (str) is unknown. Did you mean 'open'?",
        "metadata.level: 'mid' (str) is unknown. Known: high, low.",
        "metadata.tags: expected a list, got 'abc' (str)",
        "metadata.steps[0].do: expected a string, got 1 (int)",
        "metadata.steps[0].mintes: there is no such field. Did you mean 'minutes'?",
        "metadata.steps[1]: expected a mapping",
        "metadata.ratio: expected a finite number, got nan",
        "metadata.urgent: expected true or false, got 'false'",
        "metadata.when: expected a time",
        "metadata.counts.a: expected a whole number, got True",
        "metadata.titel: there is no such field.",
    ):
        assert line in text
    assert "test_metadata.Ticket" in text


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({}, "metadata.number: is required and missing"),
        ({"number": 1, "tries": -1}, "'tries' must be >= 0"),
        ({"number": 1, "extra": {"a": [1, math.inf]}}, "metadata.extra.a[1]: expected a finite number"),
        ({"number": 1, "extra": object()}, "metadata.extra: expected a JSON value"),
        ({"number": 1, "counts": [1]}, "metadata.counts: expected a mapping"),
        ([1], "metadata: expected a mapping, got a list of 1"),
        ("x", "metadata: expected a mapping, got 'x'"),
    ],
)
def test_single_faults(metadata: Any, words: str) -> None:
    with pytest.raises(RecordError) as caught:
        structure(TICKET, metadata)
    assert words in str(caught.value)


def test_a_long_value_is_not_shown_in_full() -> None:
    with pytest.raises(RecordError) as caught:
        structure(TICKET, {"number": "x" * 10_000})
    assert len(str(caught.value)) < 400


def test_without_a_class_any_json_object_will_do() -> None:
    assert structure(FREE, None) == {}
    assert structure(FREE, {"a": (1, "b"), "b": {"c": None}}) == {"a": [1, "b"], "b": {"c": None}}
    assert structure(FREE, {"a\x00": "b\ud800"}) == {"a": "b\ufffd"}


@pytest.mark.parametrize("value", [math.nan, math.inf, object(), {1: 2}, {"x"}, b"x", datetime.now(UTC)])
def test_without_a_class_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(RecordError, match=r"metadata\.a\.b\[0\]"):
        structure(FREE, {"a": {"b": [value]}})


def test_nesting_ends_in_an_error_not_in_a_crash() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(RecordError, match=f"deeper than {MAX_DEPTH} levels"):
        structure(FREE, {"a": endless})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_structuring_twice_changes_nothing_more(metadata: dict[str, Any]) -> None:
    once = structure(FREE, metadata)
    assert structure(FREE, once) == once
    assert json.loads(json.dumps(once, allow_nan=False)) == once
