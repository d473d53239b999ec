from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olav_core import DistanceScale
from olav_core.embedding.distance import HIT, NOISE, canonical, squared

SCALE = DistanceScale(hit=1.2, noise=1.6, pool=50, source="a test")


def test_the_anchors_are_those_of_the_description() -> None:
    assert canonical(1.2, SCALE) == pytest.approx(HIT)
    assert canonical(1.6, SCALE) == pytest.approx(NOISE)
    assert canonical(0.0, SCALE) == 0.0


@given(st.floats(0, 4), st.floats(0, 4))
def test_a_larger_distance_stays_larger(a: float, b: float) -> None:
    if a + 1e-9 < b:
        assert canonical(a, SCALE) < canonical(b, SCALE)


@given(st.floats(0, 4))
def test_a_canonical_distance_leads_back(distance: float) -> None:
    assert squared(canonical(distance, SCALE), SCALE) == pytest.approx(distance)
