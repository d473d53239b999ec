"""The gate `evidence`: distance less what the words support."""

from __future__ import annotations

import pytest

from olav_core import Candidate, DistanceScale, Query, build_registry, canonical

SCALE = DistanceScale(hit=1.4, noise=1.6, pool=50, source="a test")


def decide(
    distance: float | None, share: float = 0.0, *, rows: int = 500, scale: DistanceScale | None = SCALE
):
    gate = build_registry().gate("evidence").factory({"max": 1.1})
    candidate = Candidate(row=0, id="fact:0", category="fact", distance=distance, leg_scores={"bm25": share})
    return gate.decide(Query(text="q", agent="a", now=0.0, scale=scale, rows=rows), candidate)


def at(bound: float) -> float:
    """The squared distance whose canonical distance is `bound`."""
    low, high = 0.0, 4.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if canonical(middle, SCALE) < bound else (low, middle)
    return low


def test_what_lies_within_the_bound_stays_and_beyond_it_goes() -> None:
    assert decide(at(1.1) - 1e-6).keep
    assert not decide(at(1.1) + 1e-3).keep
    assert "1.1" in decide(1.9).reason


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_words_support_like_a_higher_cosine(share: float) -> None:
    far = at(1.1) + 2 * share
    assert decide(far - 1e-3, share).keep
    assert not decide(far + 1e-3, share).keep


def test_it_keeps_what_it_cannot_judge() -> None:
    assert decide(None).keep
    assert decide(2.0, scale=None).keep
    assert decide(2.0, rows=49).keep
    assert not decide(2.0, rows=50).keep


def test_an_off_topic_query_injects_little_and_a_query_on_topic_its_answer(tmp_path) -> None:
    import olav_core
    from olav_core import Draft

    rooms = [f"Printer P{number} stands in room {number * 3} of the {place}" for number in range(20)
             for place in ("north building", "south building", "warehouse")]  # fmt: skip
    with olav_core.init(tmp_path, embedder="minilm") as memory:
        memory.remember_many([Draft(text=text, category="fact") for text in rooms])
        assert memory.recall("a recipe for sourdough bread with rye flour", tier="large").items == ()
        assert memory.recall("where is printer P7 in the warehouse?", tier="small").items[0].text == rooms[23]
