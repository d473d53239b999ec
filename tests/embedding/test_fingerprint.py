from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from olav_core.embedding.fingerprint import Fingerprint, check
from olav_core.errors import EmbeddingDimMismatchError, EmbeddingSpaceMismatchError, StoreError


def fingerprint(dimension: int = 8, **changes: object) -> Fingerprint:
    canaries = np.random.default_rng(1).normal(size=(4, dimension)).astype(np.float32)
    canaries /= np.linalg.norm(canaries, axis=1, keepdims=True)
    values = {
        "embedder": "house",
        "name": "house-small",
        "revision": "ab12",
        "pooling": "mean",
        "normalize": True,
        "query_prefix": "query: ",
        "passage_prefix": "文章：",
        "dimension": dimension,
        "canaries": canaries,
    }
    return Fingerprint(**{**values, **changes})  # type: ignore[arg-type]


@given(text=st.text(max_size=20), dimension=st.integers(1, 40))
def test_json_keeps_everything(text: str, dimension: int) -> None:
    text = text.encode("utf-8", "replace").decode()
    before = fingerprint(dimension, query_prefix=text, revision=text)
    after = Fingerprint.from_json(before.to_json())
    np.testing.assert_array_equal(after.canaries, before.canaries)
    assert (after.query_prefix, after.revision, after.dimension) == (text, text, dimension)
    check(before, after, store="here")


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"format": 1}', '{"format": 1, "canaries": "x"}'])
def test_a_damaged_fingerprint_is_a_store_error(text: str) -> None:
    with pytest.raises(StoreError, match="olav kb reembed"):
        Fingerprint.from_json(text)


def test_a_newer_format_asks_for_an_upgrade() -> None:
    with pytest.raises(StoreError, match="Upgrade olav-core"):
        Fingerprint.from_json(fingerprint().to_json().replace('"format": 1', '"format": 9'))


def test_another_dimension_names_both_sides_the_store_and_three_ways_out() -> None:
    """CASES 42."""
    with pytest.raises(EmbeddingDimMismatchError) as caught:
        check(fingerprint(8), fingerprint(16, embedder="other", name="other-big"), store="/w/memory.lance")
    message = str(caught.value)
    for part in (
        "/w/memory.lance",
        "8 dimensions",
        "'house'",
        "'other'",
        "gives 16",
        "{id: house}",
        "olav kb reembed --to other",
        "OLAV_ALLOW_DESTRUCTIVE_DIM_MIGRATION=1",
    ):
        assert part in message


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("embedder", "other"),
        ("name", "house-large"),
        ("revision", "cd34"),
        ("pooling", "cls"),
        ("normalize", False),
        ("query_prefix", ""),
        ("passage_prefix", "passage: "),
    ],
)
def test_the_same_dimension_in_another_space_is_refused(field: str, value: object) -> None:
    """CASES 43."""
    with pytest.raises(EmbeddingSpaceMismatchError, match=field) as caught:
        check(fingerprint(), fingerprint(**{field: value}), store="here")
    assert not isinstance(caught.value, EmbeddingDimMismatchError)
    assert "olav kb reembed" in str(caught.value)


def test_canaries_tell_a_model_that_changed_under_the_same_name() -> None:
    stored = fingerprint()
    noise = np.random.default_rng(2).normal(size=stored.canaries.shape).astype(np.float32)

    def drifted(amount: float) -> Fingerprint:
        moved = stored.canaries + amount * noise
        return evolve(
            stored, canaries=(moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)
        )

    check(stored, drifted(0.002), store="here")
    with pytest.raises(EmbeddingSpaceMismatchError, match="cosine"):
        check(stored, drifted(0.2), store="here")
    with pytest.raises(EmbeddingSpaceMismatchError, match="cosine"):
        check(stored, evolve(stored, canaries=stored.canaries * np.float32("nan")), store="here")
