"""Cases 39, 45 and 47: odd, huge, doubled and broken items of a batch."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from case_workspace import Make, texts_of

from olav_core import Draft, EmbedderError, Memory, OlavError, RecordError


def fact(text: Any, **rest: Any) -> Draft:
    return Draft(text=text, category="fact", **rest)


@pytest.mark.parametrize("copies", [2, 700])
def test_case_39_a_key_twice_in_one_batch_is_one_row(memory: Memory, copies: int) -> None:
    """700 copies spread over two write batches."""
    outcomes = memory.remember_many([fact("r1 is the border router"), *[fact("r2 is a switch")] * copies])
    assert [outcome.error for outcome in outcomes] == [None] * (copies + 1)
    assert len({outcome.id for outcome in outcomes}) == 2
    assert sum(outcome.created for outcome in outcomes) == 2
    assert len(memory.list()) == memory.index_coverage().rows == 2
    assert memory.list()[0].access_count == 0


def test_case_39_of_a_repeated_key_the_last_one_counts(memory: Memory) -> None:
    memory.remember_many([fact("r1 is up", tags=["old"]), fact("r1 is  up", tags=["new"])])
    (record,) = memory.list()
    assert record.tags == ("new",)


ITEMS: list[tuple[str, Any, str | None]] = [
    ("lone surrogate", "a \ud800 lone surrogate", "a \ufffd lone surrogate"),
    ("NUL", "a \x00NUL inside", "a NUL inside"),
    ("RTL override", "a \u202egnp.exe override", "a \u202egnp.exe override"),
    ("ZWJ emoji", "a family 👩‍👩‍👧‍👦 emoji", "a family 👩‍👩‍👧‍👦 emoji"),
    ("only emoji", "🔥", "🔥"),
    ("only punctuation", "?!", "?!"),
    ("a million characters", "word " * 199_999 + "end", "word " * 199_999 + "end"),
    ("empty", "", None),
    ("blank", " \n ", None),
    ("only control characters", "\x00\x01", None),
    ("ten million characters", "x" * 10_000_000, None),
    ("bytes", b"bytes", None),
    ("None", None, None),
]
WRONG: list[dict[str, Any]] = [
    {"metadata": "abc"},
    {"metadata": [1]},
    {"metadata": {"subject": 5}},
    {"metadata": {"unknown": "x"}},
    {"tags": "abc"},
    {"tags": {1, "a"}},
    {"tags": None},
    {"tags": [" "]},
    {"scope": 4},
    {"scope": ""},
    {"origin": ["user"]},
    {"origin": None},
    {"origin": "stranger"},
    {"confidence": float("nan")},
    {"confidence": 2},
    {"confidence": "high"},
    {"timestamp": "yesterday"},
    {"timestamp": 5},
    {"timestamp": "0001-01-01T00:00:00+14:00"},
    {"expires_at": "9999-12-31T23:59:59-14:00"},
]


def test_case_45_each_odd_text_is_decided_and_spoils_no_other(memory: Memory) -> None:
    outcomes = memory.remember_many([fact(text) for _, text, _ in ITEMS])
    for (name, _, kept), outcome in zip(ITEMS, outcomes, strict=True):
        if kept is None:
            assert isinstance(outcome.error, RecordError), name
            assert str(outcome.error)
        else:
            assert outcome.error is None, name
            assert memory.get(outcome.id).text == kept, name
    vectors = memory.store.vectors([outcome.id for outcome in outcomes if outcome.id])
    assert all(abs(float(vector @ vector) - 1) < 1e-3 for vector in vectors.values())
    for name, text, kept in ITEMS[:6]:
        assert kept in texts_of(memory.search(text, limit=50)), name
    block = memory.recall("a gnp override", tier="large").block
    assert "\u202e" not in block


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: next(iter(wrong)))
def test_case_45_a_wrong_field_is_that_drafts_error_alone(memory: Memory, wrong: dict[str, Any]) -> None:
    with pytest.raises(RecordError):
        memory.remember("text", **wrong)
    outcomes = memory.remember_many([fact("before"), fact("text", **wrong), fact("after")])
    assert [type(outcome.error).__name__ for outcome in outcomes] == ["NoneType", "RecordError", "NoneType"]
    assert {record.text for record in memory.list()} == {"before", "after"}


def test_case_45_a_life_beyond_the_calendar_has_no_end(memory: Memory) -> None:
    stored = memory.remember("never do this", category="reflection", timestamp="9999-12-31T00:00:00Z")
    assert memory.get(stored.id).expires_at is None
    assert texts_of(memory.recall("never do this")) == ["never do this"]
    memory.remember("written in the year one", timestamp="0001-01-01")
    assert "written in the year one" in texts_of(memory.recall("written in the year one"))
    memory.optimize()
    assert memory.list()[-1].timestamp == datetime(1, 1, 1, tzinfo=UTC)


PICKY = """
import numpy as np
from olav_core import EmbedderSpec, ModelIdentity, hookimpl

class Picky:
    identity = ModelIdentity(name="picky", revision="1")
    def __init__(self, options): pass
    def embed_passages(self, texts):
        if any("poison" in text for text in texts):
            raise ValueError("cannot embed poison")
        vectors = np.array([[len(text), 1.0, text.count("e")] for text in texts], np.float32)
        for vector, text in zip(vectors, texts):
            if "zero" in text: vector[:] = 0
            if "endless" in text: vector[:] = np.inf
        return vectors
    embed_queries = embed_passages

@hookimpl
def olav_register_embedders():
    return [EmbedderSpec(id="picky", title="Picky", factory=Picky)]
"""


def test_case_45_item_three_of_ten_fails_and_a_retry_works(make: Make) -> None:
    """Case 21 as well: the result names it, the others are stored, no NULL or zero vector."""
    memory = make(embedder="picky", plugins={"olav_picky": PICKY})
    texts = [f"text number {number}" for number in range(10)]
    for bad in ("poison", "zero", "endless"):
        batch = [f"{text} of {bad}ed {bad if number == 2 else ''}" for number, text in enumerate(texts)]
        batch = [text if number == 2 else text.replace(bad, "a batch ") for number, text in enumerate(batch)]
        outcomes = memory.remember_many([fact(text) for text in batch])
        assert [number for number, outcome in enumerate(outcomes) if outcome.error] == [2]
        assert isinstance(outcomes[2].error, EmbedderError)
        with pytest.raises(EmbedderError):
            memory.remember(batch[2])
        again = memory.remember_many([fact(text) for text in [*batch[:2], "healed", *batch[3:]]])
        assert not [outcome.error for outcome in again if outcome.error]
    stored = {record.id for record in memory.list()}
    assert all(float(vector @ vector) > 0.9 for vector in memory.store.vectors(stored).values())
    assert len(memory.store.vectors(stored)) == len(stored)


@pytest.mark.parametrize("embedder", ["e5", "minilm"])
def test_case_47_a_fact_at_the_end_of_a_long_text_is_recalled(make: Make, embedder: str) -> None:
    memory = make(embedder=embedder)
    filler = "The meeting went through the open points of the quarter and nobody had an objection. "
    endings = (
        "The backup generator in hall B is refuelled by the company Nordwind.",
        "The spare optics lie in the grey cabinet beside the lift.",
        "Visitors park on level minus two.",
    )
    for ending in endings:
        memory.remember(filler * 70 + ending)
    questions = (
        "who refuels the generator of hall B?",
        "where are the spare optics?",
        "where do visitors park?",
    )
    for question, ending in zip(questions, endings, strict=True):
        recall = memory.search(question, limit=1)
        assert recall.items[0].text.endswith(ending)
        assert recall.items[0].text.startswith(filler)
    assert len(memory.list()) == 3


def test_expiry_in_the_past_and_the_future(memory: Memory) -> None:
    now = datetime.now(UTC)
    memory.remember("the lab is closed today", expires_at=now - timedelta(seconds=1))
    memory.remember("the lab is open tomorrow", expires_at=now + timedelta(days=1))
    assert texts_of(memory.recall("the lab is", tier="large")) == ["the lab is open tomorrow"]
    assert texts_of(memory.search("the lab is")) == ["the lab is open tomorrow"]
    assert "closed" not in memory.enrich([{"role": "user", "content": "the lab is"}])[0]["content"]
    assert len(memory.list()) == 2, "kept until the clean-up"
    memory.optimize()
    assert [record.text for record in memory.list()] == ["the lab is open tomorrow"]
    with pytest.raises(OlavError):
        memory.get("fact:0000")


def test_case_45_metadata_that_holds_itself_or_multiplies_is_refused(memory: Memory) -> None:
    ring: dict[str, object] = {}
    ring["again"] = ring
    doubling: list[object] = ["end"]
    for _ in range(30):
        doubling = [doubling, doubling]
    for value in (ring, doubling, [ring]):
        for metadata in ({"subject": value}, ring):
            with pytest.raises(RecordError, match=r"nested deeper|more than"):
                memory.remember("a fact", metadata=metadata)
    outcomes = memory.remember_many(
        [Draft(text="bad", category="fact", metadata=ring), None, Draft(text="good", category="fact")]
    )  # type: ignore[list-item]
    assert [outcome.error is None for outcome in outcomes] == [False, False, True]


@pytest.mark.parametrize("text", ["\u200b", " \u2060\ufeff ", "\u202e", "\u200e\n"])
def test_case_45_a_text_or_tag_that_nobody_can_see_is_blank(memory: Memory, text: str) -> None:
    with pytest.raises(RecordError, match="blank"):
        memory.remember(text)
    with pytest.raises(RecordError, match="tag"):
        memory.remember("a fact", tags=[text])
    with pytest.raises(RecordError, match="tag"):
        memory.remember("a fact", tags=["\x00\x01"])
