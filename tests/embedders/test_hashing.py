from __future__ import annotations

import numpy as np
import olav_hashing
import pytest
from hypothesis import given
from hypothesis import strategies as st

from olav_core import ConfigError


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=5))
def test_any_text_has_a_unit_vector(texts: list[str]) -> None:
    vectors = olav_hashing.make({}).embed_passages(texts)
    assert vectors.shape == (len(texts), 256)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)


def test_shared_words_and_shared_han_bigrams_bring_texts_closer() -> None:
    embedder = olav_hashing.make({})
    vectors = embedder.embed_passages(
        [
            "Take a SNAPSHOT first",
            "snapshot the host",
            "noodles for lunch",
            "变更审批流程",
            "请走审批流程",
            "午饭吃面条",
        ]
    )
    close = vectors @ vectors.T
    assert close[0, 1] > close[0, 2] + 0.1
    assert close[3, 4] > close[3, 5] + 0.1


@pytest.mark.parametrize("dimension", [0, 7, 10_000, "256", 3.5])
def test_a_dimension_out_of_range_is_refused(dimension: object) -> None:
    with pytest.raises(ConfigError, match="dimension"):
        olav_hashing.make({"dimension": dimension})
