"""Intervals and tests: what must hold for any sample."""

from __future__ import annotations

import olav_bench.statistics as statistics
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

VALUES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=60)
PAIRS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=60
)


@settings(max_examples=40, deadline=None)
@given(VALUES)
def test_an_interval_holds_its_mean_and_repeats(sample: list[float]) -> None:
    found = statistics.interval(sample)
    assert found["low"] - 1e-4 <= found["mean"] <= found["high"] + 1e-4
    assert min(sample) - 1e-4 <= found["low"]
    assert found["high"] <= max(sample) + 1e-4
    assert statistics.interval(sample) == found


@settings(max_examples=40, deadline=None)
@given(PAIRS)
def test_a_comparison_turned_round_is_the_opposite(pairs: list[tuple[float, float]]) -> None:
    before, after = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    there, back = statistics.paired(before, after), statistics.paired(after, before)
    assert there["difference"] == pytest.approx(-back["difference"])
    assert there["p"] == back["p"]
    assert 0 < there["p"] <= 1


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_never_lowers_p_and_keeps_the_order(values: list[float]) -> None:
    adjusted = statistics.holm(values)
    assert all(after >= round(before, 4) - 1e-9 for before, after in zip(values, adjusted, strict=True))
    ordered = [adjusted[place] for place in sorted(range(len(values)), key=values.__getitem__)]
    assert ordered == sorted(ordered)


def test_a_clear_difference_is_significant_and_none_is_not() -> None:
    assert statistics.paired([0.0] * 40, [1.0] * 40)["p"] < 0.01
    assert statistics.paired([0.0, 1.0] * 20, [0.0, 1.0] * 20)["p"] == 1.0
    assert statistics.holm([0.01, 0.04, 0.03]) == [0.03, 0.06, 0.06]
