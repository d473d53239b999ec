"""The token store: what was put comes back, bounded, shared by processes, and never in the way."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from olav_core.index import token_store
from olav_core.index.token_store import TokenStore, key_of, quantised


def cells(seed: int = 0, tokens: int = 4, dimension: int = 8, language: str = "en"):
    return quantised(
        language, np.random.default_rng(seed).normal(size=(tokens, dimension)).astype(np.float32)
    )


def put_in_another_process(path: Path, seed: int) -> None:
    store = TokenStore(path, "model")
    store.put([(seed, cells(seed))])
    store.close()


@settings(deadline=None, max_examples=40)
@given(
    arrays.arrays(np.float32, st.tuples(st.integers(0, 6), st.just(5)), elements=st.floats(-1, 1, width=32))
)
def test_what_is_lost_is_below_half_a_step(vectors: np.ndarray) -> None:
    kept = quantised("en", vectors)
    again = kept.values.astype(np.float32) * kept.scales[:, None]
    assert again.shape == vectors.shape
    if len(vectors):
        assert (np.abs(again - vectors) <= np.abs(vectors).max(axis=1, keepdims=True) / 250 + 1e-6).all()


def test_what_was_put_comes_back_in_any_process(tmp_path: Path) -> None:
    store = TokenStore(tmp_path / "tokens.sqlite", "model")
    store.put([(key_of("路由器"), cells(1, language="zh")), (key_of("empty"), cells(2, tokens=0))])
    context = get_context("spawn")
    writers = [
        context.Process(target=put_in_another_process, args=(tmp_path / "tokens.sqlite", n)) for n in (7, 8)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    found = store.get([key_of("路由器"), key_of("empty"), 7, 8, 9])
    assert set(found) == {key_of("路由器"), key_of("empty"), 7, 8}
    assert found[key_of("路由器")].language == "zh"
    assert (found[7].values == cells(7).values).all()
    assert store.missing([7, 9]) == {9}
    assert store.count() == 4
    assert sorted(each.language for each in store.sample(10)) == sorted(["en", "en", "en", "zh"])
    assert len(store.sample(2)) == 2
    store.close()


def test_another_model_begins_anew(tmp_path: Path) -> None:
    first = TokenStore(tmp_path / "t.sqlite", "one")
    first.put([(1, cells())])
    first.close()
    second = TokenStore(tmp_path / "t.sqlite", "two")
    assert second.count() == 0
    second.close()


def test_it_stays_within_its_bytes(tmp_path: Path) -> None:
    store = TokenStore(tmp_path / "t.sqlite", "model", max_bytes=400_000)
    for start in range(0, 400, 20):
        store.put([(n, cells(n, tokens=20, dimension=128)) for n in range(start, start + 20)])
    assert 50 < store.count() < 200
    assert 399 in store.get([399])  # the oldest go first
    assert store.missing([0]) == {0}
    store.close()


def test_what_is_erased_leaves_no_bytes(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    store = TokenStore(path, "model")
    mark = quantised("en", np.tile(np.arange(1, 65, dtype=np.float32), (4, 1)))
    store.put([(1, mark), (2, cells())])
    assert store.keep_only([2]) == 1
    assert store.get([1]) == {}
    store.close()
    raw = b"".join(each.read_bytes() for each in path.parent.glob("t.sqlite*"))
    assert mark.values.tobytes() not in raw


@pytest.mark.parametrize("content", [b"", b"x" * 10_000, b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_damaged_file_is_begun_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.sqlite").write_bytes(content)
    store = TokenStore(tmp_path / "t.sqlite", "model")
    store.put([(1, cells())])
    assert 1 in store.get([1])
    store.close()
    with sqlite3.connect(tmp_path / "t.sqlite") as database:
        assert database.execute("SELECT COUNT(*) FROM tokens").fetchone() == (1,)
    database.close()


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = TokenStore(tmp_path / "file" / "t.sqlite", "model")
    store.put([(1, cells())])
    assert 1 in store.get([1])
    store.close()


def test_another_processs_lock_is_not_waited_for_long(tmp_path: Path) -> None:
    store = TokenStore(tmp_path / "t.sqlite", "model")
    store.put([(1, cells())])
    other = sqlite3.connect(tmp_path / "t.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert set(store.get([1])) <= {1}  # readers go on, or do without
    other.execute("ROLLBACK")
    other.close()
    store.close()


def test_a_reader_does_not_wait_for_a_writer_that_waits_for_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_store, "WRITE_WAIT", 60.0)  # longer than any reader below could take
    store = TokenStore(tmp_path / "t.sqlite", "model")
    store.put([(1, cells())])
    with closing(sqlite3.connect(tmp_path / "t.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        writer = Thread(target=store.put, args=([(2, cells())],))
        writer.start()
        while store._writer.lock.acquire(blocking=False):  # until the writer has it
            store._writer.lock.release()
        answers = [store.get([1, 3]), store.missing([1, 3]), store.count(), len(store.sample(9))]
        waiting = writer.is_alive()
        other.execute("ROLLBACK")
    writer.join()
    assert waiting
    assert (set(answers[0]), *answers[1:]) == ({1}, {3}, 1, 1)
    assert store.count() == 2
    store.close()


def test_a_reader_takes_nothing_of_another_models_file(tmp_path: Path) -> None:
    first = TokenStore(tmp_path / "t.sqlite", "one")
    first.put([(1, cells())])
    second = TokenStore(tmp_path / "t.sqlite", "two")
    assert second.get([1]) == {}
    assert second.missing([1]) == {1}
    second.put([(2, cells())])
    assert set(second.get([1, 2])) == {2}
    first.close()
    second.close()


def test_what_was_erased_while_it_was_read_is_not_kept(tmp_path: Path) -> None:
    class Slow(TokenStore):
        def _select(self, query, keys):
            rows = super()._select(query, keys)
            self.keep_only([])  # as another thread may do just now
            return rows

    TokenStore(tmp_path / "t.sqlite", "model").put([(1, cells())])
    store = Slow(tmp_path / "t.sqlite", "model")
    assert 1 in store.get([1])
    assert store.get([1]) == {}
    store.close()
