from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olav_core import Candidate, CategorySpec
from olav_core.recall.select import QUOTAS_FROM, select

NAMES = ("guide", "event", "fact")


def category(name: str, quota: int = 0, cap: int | None = None) -> CategorySpec:
    return CategorySpec(id=name, title=name, purpose="a test", quota=quota, cap=cap)


def candidates(*scored: tuple[str, float]) -> list[Candidate]:
    made = [
        Candidate(row=row, id=f"{name}:{row}", category=name, score=score)
        for row, (name, score) in enumerate(scored)
    ]
    return sorted(made, key=lambda candidate: -candidate.score)


def chosen(*arguments: object) -> list[str]:
    return [candidate.id for candidate in select(*arguments).chosen]  # type: ignore[arg-type]


def test_one_slot_goes_to_the_most_relevant_whatever_the_quotas() -> None:
    kinds = {"guide": category("guide", 3, 3), "event": category("event", 0, 2)}
    pool = candidates(("event", 0.9), ("guide", 0.8), ("guide", 0.7))
    assert chosen(pool, 1, kinds) == ["event:0"]
    assert chosen(pool, 2, kinds) == ["event:0", "guide:1"]


def test_quotas_are_filled_in_rounds_in_the_order_of_each_best_candidate() -> None:
    kinds = {"guide": category("guide", 2), "event": category("event", 0), "fact": category("fact", 1)}
    pool = candidates(
        ("event", 0.9), ("event", 0.85), ("event", 0.8), ("fact", 0.5), ("guide", 0.4), ("guide", 0.3)
    )
    assert chosen(pool, 5, kinds) == ["event:0", "fact:3", "guide:4", "guide:5", "event:1"]


def test_a_quota_never_pads() -> None:
    kinds = {"guide": category("guide", 3), "event": category("event")}
    assert chosen(candidates(("event", 0.9)), 13, kinds) == ["event:0"]


def test_the_passed_over_say_why() -> None:
    class Twins:
        def penalty(self, candidate: Candidate, others: list[Candidate]) -> float:
            return math.inf if any(candidate.score == other.score for other in others) else 0.0

    kinds = {"guide": category("guide", cap=1), "fact": category("fact")}
    pool = candidates(("guide", 0.9), ("guide", 0.8), ("fact", 0.7), ("fact", 0.7))
    selection = select(pool, 13, kinds, [Twins()])
    assert [candidate.id for candidate in selection.chosen] == ["guide:0", "fact:2"]
    decisions = {row: decision for row, (decision, _) in selection.passed_over.items()}
    assert decisions == {1: "cap", 3: "duplicate"}


def test_a_finite_penalty_reorders() -> None:
    class Spread:
        def penalty(self, candidate: Candidate, others: list[Candidate]) -> float:
            return 0.5 * sum(other.category == candidate.category for other in others)

    kinds = {name: category(name) for name in NAMES}
    pool = candidates(("fact", 0.9), ("fact", 0.8), ("event", 0.4))
    assert chosen(pool, 3, kinds, [Spread()]) == ["fact:0", "event:2", "fact:1"]


SPECS = st.fixed_dictionaries(
    {name: st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(3, 5))) for name in NAMES}
)
SCORED = st.lists(st.tuples(st.sampled_from(NAMES), st.floats(-1, 2)), max_size=30)


@given(SPECS, SCORED, st.integers(1, 15))
def test_what_holds_for_every_selection(
    rules: dict[str, tuple[int, int | None]], scored: list[tuple[str, float]], limit: int
) -> None:
    kinds = {name: category(name, quota, cap) for name, (quota, cap) in rules.items()}
    pool = candidates(*scored)
    picked = select(pool, limit, kinds).chosen
    counts = Counter(candidate.category for candidate in picked)
    available = Counter(candidate.category for candidate in pool)
    assert len(picked) == len({candidate.row for candidate in picked}) <= limit
    for name, (_, cap) in rules.items():
        assert cap is None or counts[name] <= cap
    assert picked[:1] == pool[:1]
    reserved = {name: min(quota, available[name]) for name, (quota, _) in rules.items()}
    if limit >= QUOTAS_FROM and sum(reserved.values()) < limit:
        assert all(counts[name] >= reserved[name] for name in NAMES)
    room = sum(min(available[name], math.inf if cap is None else cap) for name, (_, cap) in rules.items())
    assert len(picked) == min(limit, room)
    for name in NAMES:  # within a category nobody is jumped
        own = [candidate.row for candidate in picked if candidate.category == name]
        assert own == [candidate.row for candidate in pool if candidate.category == name][: len(own)]


@pytest.mark.parametrize("limit", [1, 2])
@given(SCORED)
def test_below_three_slots_relevance_alone_decides(limit: int, scored: list[tuple[str, float]]) -> None:
    kinds = {name: category(name, 3) for name in NAMES}
    pool = candidates(*scored)
    assert select(pool, limit, kinds).chosen == pool[:limit]
