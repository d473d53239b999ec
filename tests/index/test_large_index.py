"""Above `resident_rows`: int8 in memory, float32 in a file, and the same answers as below."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from index_rows import CATEGORIES, NOW, record, vector_of, write

from olav_core.index import packed_rows, quantised_matrix, quantised_rows, resident, scratch, stored_rows
from olav_core.index.index import RecallIndex
from olav_core.index.pool import best_of
from olav_core.index.shortlist import shortlist
from olav_core.store.store import Store

pytest.importorskip("numkong")

Make = Callable[[int], RecallIndex]
QUERIES = ("bgp lost on r3", "邻居 断开", "审批流程 guide", "something else entirely")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few hundred rows fill many blocks and groups."""
    monkeypatch.setattr(quantised_matrix, "BLOCK_ROWS", 64)
    monkeypatch.setattr(quantised_rows, "GROUP_ROWS", 16)


@pytest.fixture
def make(store: Store, tmp_path: Path) -> Iterator[Make]:
    """Make an index over the store that is large from so many rows on."""
    opened: list[Store] = []

    def index(resident_rows: int) -> RecallIndex:
        opened.append(Store.open(store.uri))
        return RecallIndex(opened[-1], None, categories=CATEGORIES, resident_rows=resident_rows)

    yield index
    for other in opened:
        other.close()


def text(i: int) -> str:
    return f"审批流程 邻居 断开 编号 {i}" if i % 3 == 0 else f"bgp lost on r{i % 7} case {i}"


def fill(store: Store, first: int, last: int, **rest: object) -> None:
    rows = [
        record(
            f"k{i}",
            text(i),
            category="guide" if i % 10 == 0 else "fact",
            scope=("global", "netops", f"team:{i % 40}")[i % 3],
            metadata={"keywords": ["guide", "审批流程"]} if i % 10 == 0 else {},
            **rest,  # type: ignore[arg-type]
        )
        for i in range(first, last)
    ]
    write(store, *rows)


def answers(index: RecallIndex, scopes: tuple[str, ...] | None, per_category: int = 5) -> list[list[object]]:
    """Per query the best rows by the sum of both legs, as the pipeline asks for them."""
    index.sync()
    found: list[list[object]] = []
    for query in QUERIES:
        pool = index.pool(scopes, now=NOW)
        vector = index.center_query(vector_of(query), "en")
        terms = query.split()
        if pool.approximate:
            pool = shortlist(pool, vector, terms, query, per_category)
        scores = pool.cosine(vector) + pool.lexical(terms)
        rows, strengths = pool.keyword_hits(query)
        scores[rows] += 0.25 * strengths
        found.append(
            [
                (c.id, c.scope, c.category, round(c.score, 5), c.record.text, pool.languages)
                for c in pool.top(scores, per_category)
            ]
        )
    return found


def is_large(index: RecallIndex) -> bool:
    index.sync()
    return index.pool(None, now=NOW).approximate


@pytest.mark.parametrize("scopes", [None, ("global",), ("netops", "team:7"), ("nobody",)])
def test_it_answers_as_the_flat_index_does(store: Store, make: Make, scopes: tuple[str, ...] | None) -> None:
    fill(store, 0, 500)
    large, flat = make(50), make(10_000)
    assert is_large(large)
    assert not is_large(flat)
    assert answers(large, scopes) == answers(flat, scopes)


def test_it_follows_updates_deletes_and_growth(store: Store, make: Make) -> None:
    fill(store, 0, 40)
    large, flat = make(50), make(10_000)
    assert not is_large(large)
    fill(store, 40, 300)
    assert is_large(large)
    for change in (
        lambda: write(
            store, *(record(f"k{i}", f"bgp lost on r3 新的 {i}", scope="netops") for i in range(5, 90))
        ),
        lambda: store.delete([record(f"k{i}", "").id for i in range(100, 180)]),
        lambda: fill(store, 300, 380),
        lambda: store.optimize(),
        lambda: fill(store, 100, 130),
    ):
        change()
        for scopes in (None, ("netops", "global")):
            # The means of both moved alike, but each is centred anew when its own have moved far enough.
            mine, theirs = answers(large, scopes), answers(make(10_000), scopes)
            for one, other in zip(mine, theirs, strict=True):
                assert {row[0] for row in one} == {row[0] for row in other}  # type: ignore[index]
        assert answers(make(50), None) == answers(make(10_000), None)
    assert large.coverage().rows == flat.coverage().rows or flat.sync()


def test_expired_rows_are_not_there(store: Store, make: Make) -> None:
    fill(store, 0, 100)
    fill(store, 100, 200, expires_at=datetime.fromtimestamp(NOW, UTC) - timedelta(seconds=1))
    fill(store, 200, 300, expires_at=datetime.fromtimestamp(NOW, UTC) + timedelta(seconds=1))
    assert answers(make(50), None) == answers(make(10_000), None)
    pool = make(50).pool(None, now=NOW)
    assert int(pool.eligible.sum()) == 200


def test_rows_that_died_are_packed_away(store: Store, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident, "DEAD_ROWS", 20)
    fill(store, 0, 400)
    large, flat = make(50), make(10_000)
    assert answers(large, None) == answers(flat, None)
    store.delete([record(f"k{i}", "").id for i in range(1, 400, 2)])
    assert answers(large, None) == answers(flat, None)
    assert large.pool(None, now=NOW).size == 200


def test_a_pool_stays_as_it_was(store: Store, make: Make) -> None:
    fill(store, 0, 300)
    large = make(50)
    large.sync()
    pool = large.pool(None, now=NOW)
    vector = large.center_query(vector_of("bgp"), "en")
    before, exact = pool.cosine(vector).copy(), pool.vectors(np.arange(300)).copy()
    write(store, *(record(f"k{i}", f"other {i}") for i in range(0, 300, 2)))
    fill(store, 300, 420)
    large.sync()
    assert (pool.cosine(vector.copy()) == before).all()
    assert (pool.vectors(np.arange(300)) == exact).all()


def test_cosines_are_near_and_the_shortlists_exact(store: Store, make: Make) -> None:
    fill(store, 0, 400)
    large = make(50)
    large.sync()
    pool = large.pool(None, now=NOW)
    vector = large.center_query(vector_of("bgp"), "en")
    exact = pool.vectors(np.arange(pool.size)) @ vector
    assert np.abs(pool.cosine(vector) - exact).max() < 0.02  # 16 dimensions are coarser than 384
    few = shortlist(pool, vector, ["bgp"], "bgp", 5)
    assert few.size < pool.size
    rows = [
        int(np.flatnonzero([pool.id_of(r) == few.id_of(s) for r in range(pool.size)])[0]) for s in range(5)
    ]
    assert np.allclose(few.cosine(vector)[:5], exact[rows], atol=1e-6)


def test_without_the_library_vectors_stay_float32(
    store: Store, make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(resident, "kernel", lambda: None)
    fill(store, 0, 200)
    index = make(50)
    with caplog.at_level(logging.WARNING, "olav.index"):
        assert not is_large(index)
    assert "olav-core[large]" in caplog.text
    assert answers(index, None) == answers(make(10_000), None)


def test_a_full_disk_leaves_vectors_float32(
    store: Store, make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    wrote = os.pwrite
    left = [3]

    def pwrite(*args: object) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        return wrote(*args)  # type: ignore[arg-type]

    fill(store, 0, 400)
    index = make(50)
    monkeypatch.setattr(stored_rows.os, "pwrite", pwrite)
    with caplog.at_level(logging.WARNING, "olav.index"):
        assert not is_large(index)
    assert "No space left" in caplog.text
    assert answers(index, None) == answers(make(10_000), None)


def test_nothing_is_left_in_the_folder(store: Store, tmp_path: Path) -> None:
    fill(store, 0, 200)
    folder = tmp_path / "index"
    index = RecallIndex(store, folder / "bm25", categories=CATEGORIES, resident_rows=50)
    assert is_large(index)
    assert sorted(path.name for path in folder.iterdir()) == [".bm25.lock", "bm25"]


def test_packed_records_go_on_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_rows, "BLOCK_BYTES", 4_096)
    monkeypatch.setattr(packed_rows, "MAX_ROW_BYTES", 1_000)
    rows = packed_rows.PackedRows(10_000, tmp_path)
    for i in range(200):
        assert rows.put(i, (str(i) * 50, None, i))
    assert all(rows.get(i) == (str(i) * 50, None, i) for i in range(200))
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(scratch.tempfile, "TemporaryFile", lambda **_: (_ for _ in ()).throw(OSError("full")))
    few = packed_rows.PackedRows(10_000, tmp_path)
    kept = [few.put(i, (str(i) * 50, None, i)) for i in range(200)]
    assert not kept[-1]
    assert few.get(0) == ("0" * 50, None, 0)


@pytest.mark.parametrize("size", [1, 10, 4_001, 50_000])
def test_the_best_are_the_best(size: int) -> None:
    random = np.random.default_rng(size)
    for values in (random.standard_normal(size), np.zeros(size), np.arange(size), -np.arange(size)):
        values = values.astype(np.float32)
        values[random.integers(0, size, size // 20)] = np.nan
        count = min(24, size)
        wanted = np.sort(np.nan_to_num(values, nan=-np.inf))[-count:]
        found = np.sort(np.nan_to_num(values[best_of(values, count)], nan=-np.inf))
        assert (found == wanted).all()
