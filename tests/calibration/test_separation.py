"""How far answers and noise lie apart: shares, AUC, and the threshold that follows."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olav_core.calibration.separation import FEWEST, LEAST_KEPT, MOST_INJECTED, Separation, Share

distances = st.floats(0, 4, allow_nan=False) | st.just(math.inf)


def separation(**values: Any) -> Separation:
    shape: dict[str, Any] = {"hits": (), "off_topic": (), "crossed": (), "threshold": 0.65}
    return Separation(category="fact", gate="distance", **shape | values)


def spread(low: float, high: float, n: int = 100) -> list[float]:
    return [low + (high - low) * i / (n - 1) for i in range(n)]


def test_a_clean_gap_gives_a_threshold_in_its_middle() -> None:
    found = separation(hits=spread(0.2, 0.5), off_topic=spread(0.9, 1.3))
    assert found.auc == 1.0
    assert found.gap == pytest.approx(0.435, abs=0.01)
    assert found.recommended == pytest.approx(0.7, abs=0.01)
    assert found.kept(0.7).value == 1.0
    assert found.injected(0.7).value == 0.0
    assert "keeps 100%" in found.advice


def test_overlap_within_bounds_gives_the_threshold_that_injects_five_in_a_hundred() -> None:
    found = separation(hits=spread(0.2, 0.8), off_topic=spread(0.7, 1.3))
    assert found.recommended is not None
    assert found.injected(found.recommended).value <= MOST_INJECTED
    assert found.kept(found.recommended).value > LEAST_KEPT


def test_no_clean_gap_is_told_and_no_threshold_is_given() -> None:
    found = separation(hits=spread(0.2, 1.2), off_topic=spread(0.3, 1.3))
    assert found.recommended is None
    assert "no clean gap" in found.advice


def test_a_handful_of_answers_is_too_few_to_say() -> None:
    found = separation(hits=[0.1] * (FEWEST - 1), off_topic=spread(0.9, 1.3))
    assert found.recommended is None
    assert "too few" in found.advice


def test_a_category_that_off_topic_questions_never_reach_is_left_alone() -> None:
    found = separation(hits=spread(0.2, 0.5), off_topic=[math.inf] * 100)
    assert found.recommended is None
    assert "leave the gate" in found.advice


@pytest.mark.parametrize(("hits", "n", "low", "high"), [(0, 10, 0.0, 0.278), (5, 10, 0.237, 0.763)])
def test_the_interval_is_wilsons(hits: int, n: int, low: float, high: float) -> None:
    share = Share.of(hits, n)  # Brown, Cai, DasGupta (2001), table of Wilson intervals
    assert (share.low, share.high) == (pytest.approx(low, abs=0.001), pytest.approx(high, abs=0.001))


@given(hits=st.lists(distances, max_size=60), off_topic=st.lists(distances, max_size=60))
def test_whatever_is_measured_the_advice_keeps_its_word(hits: list[float], off_topic: list[float]) -> None:
    found = separation(hits=hits, off_topic=off_topic, crossed=off_topic)
    assert 0 <= found.auc <= 1
    assert found.advice
    if found.recommended is not None:
        assert found.kept(found.recommended).value >= LEAST_KEPT
        assert found.injected(found.recommended).value <= MOST_INJECTED
    _, counts = found.histogram()
    assert sum(counts["hits"]) == sum(map(math.isfinite, hits))


@given(st.lists(distances, min_size=1, max_size=40), st.lists(distances, min_size=1, max_size=40))
def test_the_auc_of_swapped_sides_is_its_complement(near: list[float], far: list[float]) -> None:
    one, other = separation(hits=near, off_topic=far), separation(hits=far, off_topic=near)
    assert one.auc == pytest.approx(1 - other.auc)
