"""Language means: shrinkage, drift, and centring anew from what is resident."""

from __future__ import annotations

import numpy as np
import pytest
from index_rows import CATEGORIES, DIMENSION, NOW, record, vector_of, write

from olav_core.index.index import RecallIndex
from olav_core.index.matrix import BLOCK_ROWS, CentredMatrix
from olav_core.index.means import DRIFT, SHRINKAGE_ROWS, LanguageMeans
from olav_core.store.store import Store


def unit(rng: np.random.Generator, rows: int, offset: float = 1.0) -> np.ndarray:
    raw = rng.normal(size=(rows, DIMENSION)) + offset
    return (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)


def test_few_rows_lean_on_the_generic_mean_and_many_do_not() -> None:
    rng = np.random.default_rng(0)
    generic = {"en": unit(rng, 1, -1.0)[0]}
    means = LanguageMeans(DIMENSION, generic)
    code = means.code("en")
    assert np.allclose(means.current()[code], generic["en"])
    rows = unit(rng, SHRINKAGE_ROWS)
    means.add(rows, [code] * len(rows))
    assert np.allclose(means.current()[code], (rows.mean(axis=0) + generic["en"]) / 2, atol=1e-6)
    many = unit(rng, 100 * SHRINKAGE_ROWS)
    means.add(many, [code] * len(many))
    assert np.linalg.norm(means.current()[code] - many.mean(axis=0)) < 0.03


def test_removed_rows_leave_no_trace() -> None:
    rng = np.random.default_rng(0)
    means = LanguageMeans(DIMENSION)
    code = means.code("zh")
    kept, gone = unit(rng, 5), unit(rng, 7)
    means.add(kept, [code] * 5)
    expected = means.current().copy()
    means.add(gone, [code] * 7)
    means.add(gone, [code] * 7, sign=-1)
    assert np.allclose(means.current(), expected, atol=1e-6)
    assert means.counts() == {"zh": 5}


def test_a_language_without_rows_uses_its_generic_mean_or_the_stores() -> None:
    rng = np.random.default_rng(0)
    generic = {"en": unit(rng, 1)[0], "zh": unit(rng, 1)[0]}
    means = LanguageMeans(DIMENSION, generic)
    assert np.allclose(means.mean_of("zh"), generic["zh"])
    assert np.allclose(means.mean_of("ru"), (generic["en"] + generic["zh"]) / 2)
    plain = LanguageMeans(DIMENSION)
    assert np.allclose(plain.mean_of("en"), 0)
    code = plain.code("en")
    plain.add(unit(rng, 20), [code] * 20)
    plain.applied = plain.current()
    assert np.allclose(plain.mean_of("ru"), plain.mean_of("en"))


def test_means_of_another_dimension_are_not_used() -> None:
    means = LanguageMeans(DIMENSION, {"en": np.ones(3, np.float32)})
    assert np.allclose(means.mean_of("en"), np.zeros(DIMENSION))


def test_centring_anew_equals_centring_at_once() -> None:
    rng = np.random.default_rng(0)
    raw = unit(rng, BLOCK_ROWS + 40)
    codes = rng.integers(0, 2, len(raw))
    old, new = unit(rng, 2) * 0.1, unit(rng, 2)
    moved, direct = CentredMatrix(DIMENSION), CentredMatrix(DIMENSION)
    moved.append(raw[:30], old[codes[:30]])
    moved.append(raw[30:], old[codes[30:]])
    everyone = np.arange(len(raw))
    before = moved.snapshot(old, codes)
    first = before.vectors(everyone[:1]).copy()
    moved.recentre(old, new, codes)
    direct.append(raw, new[codes])
    expected = direct.snapshot(new, codes).vectors(everyone)
    assert np.allclose(moved.snapshot(new, codes).vectors(everyone), expected, atol=1e-5)
    assert (before.vectors(everyone[:1]) == first).all()
    slots = np.array([0, 5, BLOCK_ROWS + 1])
    assert np.allclose(moved.raw(slots, new[codes[slots]]), raw[slots], atol=1e-5)
    kept = moved.keep(slots, new, codes).snapshot(new, codes[slots])
    assert np.allclose(kept.vectors(np.arange(3)), expected[slots], atol=1e-5)


def test_a_row_that_equals_its_mean_is_zero_and_comes_back_whole() -> None:
    mean = unit(np.random.default_rng(0), 1)
    matrix = CentredMatrix(DIMENSION)
    matrix.append(mean, mean)
    assert not matrix.snapshot(mean, np.zeros(1, np.int8)).vectors(np.array([0])).any()
    assert np.allclose(matrix.raw(np.array([0]), mean), mean)


def test_the_matrix_never_drifts_further_than_it_may(store: Store, index: RecallIndex) -> None:
    for start in range(0, 300, 30):
        write(store, *(record(f"r{i}", f"text number {i}") for i in range(start, start + 30)))
        index.sync()
        means = index._resident.means
        assert means is not None
        assert not means.drifted()
    rows = np.stack([vector_of(f"text number {i}") for i in range(300)])
    mean = rows.sum(axis=0) / (300 + SHRINKAGE_ROWS)
    pool = index.pool(None, now=NOW)
    expected = rows - mean
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    texts = [int(r.text.split()[-1]) for r in pool.records(range(300))]
    for row, number in enumerate(texts):
        assert np.linalg.norm(pool.vector(row) - expected[number]) < 4 * DRIFT


def test_each_language_is_centred_with_its_own_mean(store: Store) -> None:
    generic = {"en": vector_of("en mean"), "zh": vector_of("zh mean")}
    index = RecallIndex(store, None, categories=CATEGORIES, generic_means=generic)
    write(store, record("a", "plain words"), record("b", "中文的文本"))
    index.sync()
    assert index.coverage().languages == {"en": 1, "zh": 1}
    for language, text in (("en", "plain words"), ("zh", "中文的文本")):
        raw = vector_of(text)
        mean = (raw + SHRINKAGE_ROWS * generic[language]) / (1 + SHRINKAGE_ROWS)
        expected = (raw - mean) / np.linalg.norm(raw - mean)
        assert index.center_query(raw, language) == pytest.approx(expected, abs=3 * DRIFT)
