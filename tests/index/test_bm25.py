"""Scores in memory and scores of tantivy are the same numbers."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_rows import NOW, found, record, write

from olav_core.index.index import RecallIndex
from olav_core.index.lexical import LexicalIndex
from olav_core.index.pending import Asked, LexicalRow, PendingRows, stored_length
from olav_core.store.store import Store
from olav_core.text.analyzer import analyze
from olav_core.text.lexicon import Concept

words = st.sampled_from(["bgp", "ospf", "isis", "vlan", "core", "r1"])


def rows_of(documents: list[list[str]], first: int = 0) -> list[LexicalRow]:
    return [LexicalRow(first + i, tuple(terms), "global", "fact", i) for i, terms in enumerate(documents)]


def partly_pending(old: list[list[str]], new: list[list[str]]) -> tuple[LexicalIndex, PendingRows]:
    """Return an index of the old rows, and the new ones that are not in it yet."""
    index = LexicalIndex(None, "table")
    if old:
        index.apply(rows_of(old), [], version=1)
    pending = PendingRows()
    for row in rows_of(new, first=len(old)):
        pending.put(row)
    return index, pending


def committed_scores(index: LexicalIndex, terms: Counter[str]) -> dict[int, float]:
    snapshot = index.snapshot
    ids, scores = snapshot.search(terms, frequencies=snapshot.frequencies(terms))
    return dict(zip(ids.tolist(), scores.tolist(), strict=True))


@settings(max_examples=40, deadline=None)
@given(
    old=st.lists(st.lists(words, min_size=1, max_size=90), max_size=12),
    new=st.lists(st.lists(words, min_size=1, max_size=90), min_size=1, max_size=12),
    query=st.lists(words, min_size=1, max_size=5),
)
def test_a_pending_row_scores_as_it_will_when_folded(
    old: list[list[str]], new: list[list[str]], query: list[str]
) -> None:
    terms = Counter([*query, "unknown"])
    index, pending = partly_pending(old, new)
    snapshot = index.snapshot
    ids, scores = pending.scores(terms, snapshot.stats, snapshot.frequencies(terms))
    before = dict(zip(ids.tolist(), scores.tolist(), strict=True))
    index.apply(list(pending.rows.values()), [], version=2)
    after = {row: score for row, score in committed_scores(index, terms).items() if row >= len(old)}
    assert before.keys() == after.keys()
    for row, score in before.items():
        assert score == pytest.approx(after[row], rel=2e-3)
        assert 0 < score <= 1


def test_the_length_that_is_kept_is_tantivys() -> None:
    for length in (1, 39, 40, 41, 42, 55, 56, 59, 87, 88, 1_000, 5_000, 123_456):
        index = LexicalIndex(None, "table")
        index.apply(rows_of([["x"] * length]), [], version=1)
        from tantivy import Query

        searcher, schema = index.snapshot.searcher, index.snapshot.schema
        query = Query.term_query(schema, "body", "x", index_option="freq")
        (hit,) = searcher.search(query, 1, count=False).hits
        assert f'"value": {stored_length(length)}.0,\n          "description": "dl,' in query.explain(
            searcher, hit[1]
        ).to_json().replace("              ", "          ")


def test_dropping_and_replacing_pending_rows_leaves_no_trace() -> None:
    pending = PendingRows()
    one, two = rows_of([["a", "b", "b"], ["b", "c"]])
    for row in (one, two, one):
        pending.put(row)
    pending.drop(one.rowid)
    pending.drop(99)
    fresh = PendingRows()
    fresh.put(two)
    assert pending.rows == fresh.rows
    assert pending._postings == fresh._postings
    assert pending._lengths == fresh._lengths


def test_a_query_the_store_knows_little_of_scores_low(store: Store, index: RecallIndex) -> None:
    write(store, record("a", "bgp neighbor"), *(record(f"x{i}", f"other words {i}") for i in range(20)))
    index.sync()
    pool = index.pool(None, now=NOW)
    known = pool.lexical(["bgp", "neighbor"]).max()
    diluted = pool.lexical(["bgp", "neighbor", "quantum", "banana", "teapot", "sonnet"]).max()
    assert 0 < diluted < known / 2 < 0.5 < known + 0.5
    assert pool.lexical(["quantum"]).max() == 0


def test_scores_stay_between_0_and_1(store: Store, index: RecallIndex) -> None:
    write(store, record("a", "bgp " * 500), record("b", "bgp"), record("c", "bgp ospf"))
    for _ in range(2):
        index.sync()
        scores = index.pool(None, now=NOW).lexical(["bgp", "bgp", "ospf"])
        assert np.all((scores >= 0) & (scores <= 1))
        index.flush()


@settings(max_examples=20, deadline=None)
@given(
    old=st.lists(st.text("核心交换机内a ", min_size=1, max_size=8), max_size=6),
    new=st.lists(st.text("核心交换机内a ", min_size=1, max_size=8), min_size=1, max_size=6),
    query=st.sets(st.sampled_from("核心内"), min_size=1),
)
def test_a_single_character_is_found_within_pairs_before_and_after_a_fold(
    old: list[str], new: list[str], query: set[str]
) -> None:
    terms = Counter(query)
    index = LexicalIndex(None, "table")
    if old:
        index.apply(rows_of([analyze(text) for text in old]), [], version=1)
    pending = PendingRows()
    for row in rows_of([analyze(text) for text in new], first=len(old)):
        pending.put(row)
    snapshot = index.snapshot
    ids, scores = pending.scores(terms, snapshot.stats, snapshot.frequencies(terms))
    before = dict(zip(ids.tolist(), scores.tolist(), strict=True))
    index.apply(list(pending.rows.values()), [], version=2)
    after = committed_scores(index, terms)
    texts = [*old, *new]
    assert after.keys() == {row for row, text in enumerate(texts) if query & set(text)}
    assert before.keys() == {row for row in after if row >= len(old)}
    for row, score in before.items():
        assert score == pytest.approx(after[row], rel=2e-3)


def test_a_single_character_beside_other_words_stays_a_word_of_its_own(
    index: RecallIndex, store: Store
) -> None:
    write(store, record("a", "核心交换机"), record("b", "R1 核"), record("c", "r1 core"))
    assert set(found(index, ["核"])) == {"核心交换机", "R1 核"}
    assert set(found(index, ["核", "r1"])) == {"R1 核", "r1 core"}


phrases = st.lists(words, min_size=1, max_size=2).map(tuple)
questions = st.lists(
    st.tuples(st.lists(phrases, min_size=1, max_size=3).map(tuple), st.just(()) | phrases),
    min_size=1,
    max_size=3,
)


@settings(max_examples=40, deadline=None)
@given(
    old=st.lists(st.lists(words, min_size=1, max_size=60), max_size=12),
    new=st.lists(st.lists(words, min_size=1, max_size=60), min_size=1, max_size=12),
    asked=questions,
)
def test_a_pending_row_scores_on_concepts_as_it_will_when_folded(
    old: list[list[str]],
    new: list[list[str]],
    asked: list[tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]],
) -> None:
    concepts = [Asked(ways, own) for ways, own in asked]
    terms = {term for concept in concepts for term in concept.terms}
    index, pending = partly_pending(old, new)
    snapshot = index.snapshot
    ids, scores = pending.concept_scores(concepts, snapshot.stats, snapshot.frequencies(terms))
    before = dict(zip(ids.tolist(), scores.tolist(), strict=True))
    index.apply(list(pending.rows.values()), [], version=2)
    snapshot = index.snapshot
    ids, scores = snapshot.search_concepts(concepts, frequencies=snapshot.frequencies(terms))
    after = {row: score for row, score in zip(ids.tolist(), scores.tolist(), strict=True) if row >= len(old)}
    assert before.keys() == after.keys()
    for row, score in before.items():
        assert score == pytest.approx(after[row], rel=2e-3)
        assert 0 < score <= 1 + 1e-6
        held = set(new[row - len(old)])
        assert any(held.issuperset(alternative) for ways, _ in asked for alternative in ways)


def test_more_names_of_one_concept_take_nothing_from_the_others(store: Store, index: RecallIndex) -> None:
    write(
        store,
        record("a", "the port of the router"),
        *(record(f"x{i}", f"other words {i}") for i in range(20)),
    )
    index.sync()
    pool = index.pool(None, now=NOW)
    port = Concept("接 口", ("port",), (("port",),))
    both = Concept("接 口", ("port", "interface"), (("port",), ("interfac",)))
    router = Concept("路 由 器", ("router",), (("router",),))
    assert pool.concepts([port, router]).max() == pytest.approx(pool.concepts([both, router]).max())
    assert pool.concepts([router, both]).max() > pool.concepts([router, Concept("x", (), (("y",),))]).max()
    assert not pool.concepts([]).any()
