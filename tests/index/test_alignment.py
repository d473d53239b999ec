"""Alignment: axes taken out of every vector, a map per language, and the index that works in that space."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from index_rows import CATEGORIES, DIMENSION, NOW, record, vector_of, write

from olav_core.index.alignment import Alignment
from olav_core.index.index import RecallIndex
from olav_core.store.store import Store


def rotation(seed: int) -> np.ndarray:
    turned = np.linalg.qr(np.random.default_rng(seed).normal(size=(DIMENSION, DIMENSION)))[0]
    return turned.astype(np.float32)


def axes(seed: int, count: int = 2) -> np.ndarray:
    return rotation(seed)[:count]


def rows(seed: int, count: int = 12) -> np.ndarray:
    raw = np.random.default_rng(seed).normal(size=(count, DIMENSION))
    return (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)


def cosine(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return (left @ right.T) / np.outer(np.linalg.norm(left, axis=1), np.linalg.norm(right, axis=1))


@given(
    seed=st.integers(0, 1_000),
    languages=st.lists(st.sampled_from(["zh", "en", "ja"]), min_size=12, max_size=12),
)
def test_nothing_is_left_along_the_axes_and_no_vector_grows(seed: int, languages: list[str]) -> None:
    out = axes(seed)
    alignment = Alignment(DIMENSION, {"axes": out})
    raw = rows(seed + 1)
    kept = raw.copy()
    aligned = alignment.rows(raw, languages)
    assert np.abs(aligned @ out.T).max() < 1e-5
    assert (np.linalg.norm(aligned, axis=1) <= 1 + 1e-5).all()
    assert np.allclose(alignment.rows(aligned, languages), aligned, atol=1e-5)
    assert (raw == kept).all()


@given(seed=st.integers(0, 1_000))
def test_a_rotation_keeps_lengths_and_the_order_within_its_language(seed: int) -> None:
    raw = rows(seed)
    plain, turned = Alignment(DIMENSION, {}), Alignment(DIMENSION, {"zh": rotation(seed)})
    before, after = plain.rows(raw, ["zh"] * len(raw)), turned.rows(raw, ["zh"] * len(raw))
    assert np.allclose(np.linalg.norm(after, axis=1), 1, atol=1e-5)
    assert np.allclose(cosine(after, after), cosine(before, before), atol=1e-5)
    assert (turned.rows(raw, ["en"] * len(raw)) == raw).all()


@given(seed=st.integers(0, 1_000), share=st.floats(0, 1))
def test_it_is_linear_so_that_means_may_go_through_it(seed: int, share: float) -> None:
    alignment = Alignment(DIMENSION, {"axes": axes(seed), "zh": rotation(seed)})
    left, right = rows(seed + 1, 2)
    mixed = alignment.vector(np.float32(share) * left + np.float32(1 - share) * right, "zh")
    parts = share * alignment.vector(left, "zh") + (1 - share) * alignment.vector(right, "zh")
    assert np.allclose(mixed, parts, atol=1e-5)


def test_each_row_gets_the_map_of_its_language() -> None:
    alignment = Alignment(DIMENSION, {"axes": axes(0), "zh": rotation(1), "en": rotation(2)})
    raw, languages = rows(3, 4), ["zh", "en", "ja", "zh"]
    together = alignment.rows(raw, languages)
    for vector, language, aligned in zip(raw, languages, together, strict=True):
        assert np.allclose(alignment.vector(vector, language), aligned, atol=1e-6)


@pytest.mark.parametrize(
    "tables",
    [
        {},
        None,
        {"axes": np.ones((2, 3))},
        {"axes": np.ones(DIMENSION)},
        {"zh": np.eye(3)},
        {"zh": np.ones(DIMENSION)},
    ],
)
def test_tables_of_another_shape_are_not_used(tables: dict[str, np.ndarray] | None) -> None:
    raw = rows(0, 3)
    assert (Alignment(DIMENSION, tables).rows(raw, ["zh", "en", "zh"]) == raw).all()


def test_a_turned_language_finds_its_translation_and_keeps_its_own(store: Store) -> None:
    # Every Chinese vector is an English one, turned: a stand-in for a model whose languages lie apart.
    turn = rotation(5)
    texts = {"交换机端口": "switch port", "数据库备份": "database backup", "发票报销": "expense invoice"}
    english = np.stack([vector_of(text) for text in texts.values()])
    written = [record(f"r{i}", text) for i, text in enumerate([*texts.values(), *texts])]
    store.upsert(written, np.concatenate([english, english @ turn]))
    for tables, together in (({"zh": turn.T}, True), ({}, False)):
        index = RecallIndex(store, None, categories=CATEGORIES, alignment=tables)
        index.sync()
        pool = index.pool(None, now=NOW)
        told = {row.text: place for row, place in zip(pool.records(range(6)), range(6), strict=True)}
        for zh, en in texts.items():
            scores = pool.cosine(index.center_query(vector_of(en) @ turn, "zh"))
            assert scores[told[zh]] > 0.99
            assert bool(scores[told[en]] > 0.9) is together


def test_a_row_that_is_written_again_is_not_taken_for_another(store: Store) -> None:
    index = RecallIndex(store, None, categories=CATEGORIES, alignment={"axes": axes(0), "zh": rotation(1)})
    write(store, record("a", "plain words"), record("b", "中文的文本"))
    assert index.sync().changed == 2
    write(store, record("a", "plain words", confidence=0.5), record("b", "中文的文本", confidence=0.5))
    assert index.sync().changed == 0
    write(store, record("b", "中文的文本,换了"))
    assert index.sync().changed == 1
    assert index.coverage().languages == {"en": 1, "zh": 1}
