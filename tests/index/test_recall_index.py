"""The index follows the table: writes of any process, scopes, expiry, categories, keywords."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from index_rows import CATEGORIES, DIMENSION, NOW, found, record, vector_of, write

from olav_core import CategorySpec, query_terms
from olav_core.index.index import RecallIndex
from olav_core.store.store import Store

Reopen = Callable[..., RecallIndex]


def test_an_empty_store_answers_with_nothing(index: RecallIndex) -> None:
    index.sync()
    pool = index.pool(["global"], now=NOW)
    assert pool.size == 0
    assert pool.cosine(np.ones(DIMENSION, np.float32)).shape == (0,)
    assert pool.lexical(["bgp"]).shape == (0,)
    assert pool.top(np.zeros(0, np.float32), 5) == []
    assert pool.vectors([]).shape == (0, 0)


def test_another_writers_rows_are_seen_by_the_next_sync(store: Store, index: RecallIndex) -> None:
    write(store, record("a", "bgp neighbor lost"))
    assert set(found(index, ["bgp"])) == {"bgp neighbor lost"}
    other = Store.open(store.uri)
    write(other, record("b", "bgp flap on r2"))
    assert set(found(index, ["bgp"])) == {"bgp neighbor lost", "bgp flap on r2"}
    other.delete([record("a", "").id])
    assert set(found(index, ["bgp"])) == {"bgp flap on r2"}
    write(other, record("b", "ospf adjacency on r2"))
    assert found(index, ["bgp"]) == {}
    assert set(found(index, ["ospf"])) == {"ospf adjacency on r2"}


def test_a_sync_reports_what_changed_and_the_next_one_nothing(store: Store, index: RecallIndex) -> None:
    write(store, record("a", "one"), record("b", "two"))
    report = index.sync()
    assert (report.changed, report.removed, report.rebuilt) == (2, 0, "")
    store.delete([record("a", "").id])
    assert index.sync().removed == 1
    again = index.sync()
    assert (again.changed, again.removed) == (0, 0)


def test_an_insert_and_a_delete_in_one_step_are_both_seen(store: Store, index: RecallIndex) -> None:
    write(store, record("a", "alpha"), record("b", "beta"))
    index.sync()
    store.delete([record("a", "").id])
    write(store, record("c", "gamma"))
    report = index.sync()
    assert (report.changed, report.removed) == (1, 1)
    assert index.coverage().rows == 2


def test_folding_access_counts_changes_nothing_here(store: Store, index: RecallIndex) -> None:
    write(store, record("a", "alpha"), record("b", "beta"))
    index.sync()
    store.log_recall([record("a", "").id], agent="x", query_hash="q", tier="small")
    assert store.fold_access_counts() == 1
    report = index.sync()
    assert (report.changed, report.removed) == (0, 0)


def test_a_confirmed_row_moves_its_time_and_nothing_else(store: Store, index: RecallIndex) -> None:
    early = datetime(2026, 1, 1, tzinfo=UTC)
    write(store, record("a", "alpha", timestamp=early))
    index.sync()
    write(store, record("a", "alpha", timestamp=early + timedelta(days=1)))
    assert index.sync().changed == 0
    pool = index.pool(None, now=NOW)
    assert pool.timestamps[pool.eligible].tolist() == [(early + timedelta(days=1)).timestamp()]
    assert pool.top(pool.cosine(pool.vector(0)), 1)[0].record.timestamp == early + timedelta(days=1)


@pytest.mark.parametrize(
    ("mine", "other"), [("user_1", "userA1"), ("tenant/acme", "tenant/acme-corp"), ("a'b", "a''b")]
)
def test_scopes_are_exact(store: Store, index: RecallIndex, mine: str, other: str) -> None:
    write(store, record("a", "marker one", scope=mine), record("b", "marker two", scope=other))
    assert set(found(index, ["marker"], [mine])) == {"marker one"}
    assert set(found(index, ["marker"], [other])) == {"marker two"}
    assert found(index, ["marker"], []) == {}
    assert len(found(index, ["marker"], None)) == 2


def test_a_row_that_changes_scope_leaves_the_old_one(store: Store, index: RecallIndex) -> None:
    write(store, record("a", "marker", scope="netops"))
    index.sync()
    index.flush()
    write(store, record("a", "marker", scope="core"))
    assert found(index, ["marker"], ["netops"]) == {}
    assert set(found(index, ["marker"], ["core"])) == {"marker"}
    index.flush()
    assert found(index, ["marker"], ["netops"]) == {}


def test_one_far_row_in_scope_is_found_among_many_outside(store: Store, index: RecallIndex) -> None:
    write(store, *(record(f"o{i}", f"bgp bgp bgp {i}", scope="elsewhere") for i in range(3_000)))
    write(store, record("mine", "a long text that says bgp only once among many other words", scope="here"))
    index.sync()
    pool = index.pool(["here"], now=NOW)
    for scores in (pool.lexical(["bgp"]), pool.cosine(vector_of("nothing of the kind"))):
        (only,) = pool.top(scores, 10)
        assert only.record.scope == "here"
        assert only.scope == "here"
    assert pool.lexical(["bgp"])[only.row] > 0


def test_every_category_gives_its_best_whatever_the_others_score(store: Store, index: RecallIndex) -> None:
    write(store, *(record(f"f{i}", f"bgp {i}") for i in range(60)))
    write(store, *(record(f"g{i}", f"other text {i}", category="guide") for i in range(5)))
    index.sync()
    pool = index.pool(None, now=NOW)
    scores = pool.lexical(["bgp"])
    top = pool.top(scores, 3)
    assert [c.category for c in top].count("fact") == 3
    assert [c.category for c in top].count("guide") == 3
    assert [c.score for c in top] == sorted((c.score for c in top), reverse=True)
    assert {c.category for c in pool.top(scores, {"guide": 2})} == {"guide"}
    assert len(pool.top(np.full(pool.size, np.nan, np.float32), 4)) == 8


def test_the_best_of_a_category_are_its_best(store: Store, index: RecallIndex) -> None:
    write(store, *(record(f"f{i}", f"text {i}") for i in range(200)))
    index.sync()
    pool = index.pool(None, now=NOW)
    scores = np.random.default_rng(1).random(pool.size).astype(np.float32)
    assert [c.row for c in pool.top(scores, 7)] == np.argsort(-scores)[:7].tolist()


def test_an_expired_row_is_not_eligible_before_any_clean_up(store: Store, index: RecallIndex) -> None:
    ends = datetime.fromtimestamp(NOW, UTC)
    write(store, record("a", "alpha bgp", expires_at=ends), record("b", "beta bgp"))
    index.sync()

    def texts(now: float) -> set[str]:
        pool = index.pool(None, now=now)
        return {c.record.text for c in pool.top(pool.lexical(["bgp"]), 5)}

    assert texts(NOW - 1) == {"alpha bgp", "beta bgp"}
    assert texts(NOW) == {"beta bgp"}
    assert texts(NOW + 1) == {"beta bgp"}


def test_rows_that_may_not_be_recalled_come_only_by_name(store: Store, index: RecallIndex) -> None:
    write(store, record("a", "alpha bgp", category="audit"), record("b", "beta bgp", category="gone_plugin"))
    write(store, record("c", "gamma bgp"))
    assert set(found(index, ["bgp"])) == {"gamma bgp"}
    for category, expected in (("audit", ["alpha bgp"]), ("gone_plugin", []), ("unheard_of", [])):
        pool = index.pool(None, now=NOW, category=category)
        assert [c.record.text for c in pool.top(pool.lexical(["bgp"]), 5)] == expected
    assert index.coverage().rows == 3


def test_a_pool_in_use_is_untouched_by_a_sync(store: Store, index: RecallIndex) -> None:
    write(store, *(record(f"r{i}", f"text bgp {i}") for i in range(30)))
    index.sync()
    pool = index.pool(None, now=NOW)
    before = pool.cosine(pool.vector(3)), pool.lexical(["bgp"]), pool.eligible.copy()
    write(store, record("r3", "changed ospf"), *(record(f"n{i}", f"new text {i}") for i in range(200)))
    store.delete([record("r7", "").id])
    index.sync()
    index.flush()
    assert np.allclose(pool.cosine(pool.vector(3)), before[0])
    assert (pool.eligible == before[2]).all()
    assert np.count_nonzero(pool.lexical(["bgp"])) == 28  # all but the changed and the deleted row
    gone = pool.top(before[1], 30)
    assert len(pool.load(gone)) == 29


def test_many_dead_rows_are_packed_away(store: Store, index: RecallIndex) -> None:
    write(
        store,
        *(
            record(f"r{i}", f"text {i}", category="guide", metadata={"keywords": [f"key{i}"]})
            for i in range(1_500)
        ),
    )
    index.sync()
    old = index.pool(None, now=NOW)
    store.delete([record(f"r{i}", "", category="guide").id for i in range(1_400)])
    index.sync()
    write(store, record("r1450", "text again", category="guide", metadata={"keywords": ["key1450"]}))
    index.sync()
    pool = index.pool(None, now=NOW)
    assert pool.size < 300
    assert int(pool.eligible.sum()) == 100
    rows, _ = pool.keyword_hits("what about key1450")
    assert [record_.text for record_ in pool.records(rows.tolist())] == ["text again"]
    assert pool.keyword_hits("key3")[0].size == 0
    assert old.size == 1_500
    (row,) = old.keyword_hits("key1499")[0]
    assert old.records([row])[0].text == "text 1499"


def test_keywords_are_found_in_the_query(store: Store, index: RecallIndex) -> None:
    words = {"a": ["审批流程"], "b": ["restart router", "take_snapshot"], "c": ["restart"], "d": ["restart"]}
    write(
        store,
        *(record(k, f"guide {k}", category="guide", metadata={"keywords": w}) for k, w in words.items()),
    )
    index.sync()
    pool = index.pool(None, now=NOW)

    def hits(text: str) -> dict[str, float]:
        rows, strengths = pool.keyword_hits(text)
        return dict(zip((r.text[-1] for r in pool.records(rows.tolist())), strengths.tolist(), strict=True))

    assert set(hits("变更要走审批流程吗")) == {"a"}
    assert set(hits("before you take_snapshot, wait")) == {"b"}
    assert hits("take snapshots") == {}
    strengths = hits("Restarting routers today")
    assert set(strengths) == {"b", "c", "d"}
    assert 0 < strengths["c"] < strengths["b"] <= 1


def test_a_category_whose_keywords_fail_keeps_its_rows(store: Store) -> None:
    def broken(_: object) -> list[str]:
        raise RuntimeError("plug-in")

    categories = {"fact": CategorySpec(id="fact", title="F", purpose="f", keywords=broken)}
    write(store, record("a", "alpha bgp"))
    assert set(found(RecallIndex(store, None, categories=categories), ["bgp"])) == {"alpha bgp"}


@pytest.mark.parametrize(
    ("stored", "query"),
    [
        (
            "key order:550e8400-e29b-41d4-a716-446655440000:eu",
            "order:550e8400-e29b-41d4-a716-446655440000:eu",
        ),
        ("see https://h.example/" + "long/" * 60 + "end", "https://h.example/" + "long/" * 60 + "end"),
        ("变更必须走审批流程，不能跳过", "审批流程"),
        ("在核心设备上查看接口状态", "接口状态"),
        ('the "old man" rule', '"old man"'),
    ],
)
def test_the_lexical_leg_alone_finds_it(store: Store, index: RecallIndex, stored: str, query: str) -> None:
    write(
        store, record("a", stored), *(record(f"x{i}", f"filler text number {i} 别的内容") for i in range(80))
    )
    assert next(iter(found(index, query_terms(query)))) == stored


def test_an_exact_text_as_query_is_its_own_nearest(store: Store, index: RecallIndex) -> None:
    for size in (1, 10, 500):
        write(store, *(record(f"r{i}", f"text number {i}") for i in range(size)))
        index.sync()
        pool = index.pool(None, now=NOW)
        query = index.center_query(vector_of("text number 0"), "en")
        best = pool.top(pool.cosine(query), 1)[0]
        assert best.record.text == "text number 0"
        assert best.score == pytest.approx(1.0, abs=1e-4)


def test_a_re_embedded_store_is_taken_in_whole(store: Store, index: RecallIndex) -> None:
    write(store, record("a", "alpha bgp"))
    index.sync()
    wide = store.table.to_arrow()
    import pyarrow as pa

    vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.ones(24, np.float32) / 24**0.5), 24)
    position = wide.schema.get_field_index("vector")
    field = pa.field("vector", vectors.type)
    fresh = wide.set_column(position, field, vectors).replace_schema_metadata(wide.schema.metadata)
    store.table.add(fresh, mode="overwrite")
    assert set(found(index, ["bgp"])) == {"alpha bgp"}
    assert index.pool(None, now=NOW).dimension == 24


def test_threads_sync_and_search_at_once(store: Store, index: RecallIndex) -> None:
    write(store, *(record(f"r{i}", f"bgp {i}") for i in range(50)))
    index.sync()
    errors: list[BaseException] = []
    done = threading.Event()

    def search() -> None:
        try:
            while not done.is_set():
                index.sync()
                pool = index.pool(None, now=NOW)
                hits = pool.top(pool.lexical(["bgp"]), 200)
                assert sum(hit.score > 0 for hit in hits) >= 50
                pool.load(hits[:5])
                time.sleep(0.002)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(15):
        write(store, *(record(f"n{i}.{j}", f"bgp new {i} {j}") for j in range(10)))
    done.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(found(index, ["bgp"])) == 200


def test_unknown_categories_do_not_shadow_known_ones(reopen: Reopen, store: Store) -> None:
    write(store, *(record(f"x{i}", "bgp bgp", category="gone_plugin") for i in range(2_100)))
    write(store, record("a", "a long row that says bgp once and then goes on about other things"))
    index = reopen()
    assert len(found(index, ["bgp"])) == 1
    assert set(CATEGORIES) == {"fact", "guide", "audit"}
