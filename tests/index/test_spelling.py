"""A mistyped word of a query finds what is meant; a known word and an identifier are never guessed at."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from index_rows import NOW, record, write

from olav_core.index.index import RecallIndex
from olav_core.index.spelling import CREDIT, GUESSES, may_be_mistyped, nearest, slips
from olav_core.records import memory_id
from olav_core.store.store import Store
from olav_core.text.analyzer import query_terms

word = st.text(string.ascii_lowercase, min_size=1, max_size=12)


@given(word, st.integers(0, 20), st.sampled_from(string.ascii_lowercase))
def test_one_edit_is_one_slip_in_both_directions(term: str, place: int, letter: str) -> None:
    place %= len(term)
    for edited in (
        term[:place] + term[place + 1 :],
        term[:place] + letter + term[place:],
        term[:place] + letter + term[place + 1 :],
        term[:place] + term[place : place + 2][::-1] + term[place + 2 :],
    ):
        assert slips(term, edited, 2) == slips(edited, term, 2) == (edited != term)


@given(word, word)
def test_slips_are_symmetric_and_bounded(one: str, other: str) -> None:
    assert slips(one, other, 2) == slips(other, one, 2) <= 3
    assert (slips(one, other, 2) == 0) == (one == other)
    assert slips(one, other, 20) >= abs(len(one) - len(other))


def test_the_nearest_and_commonest_are_meant() -> None:
    words = {"migration": 3, "migrating": 9, "mitigation": 1, "count": 4, "court": 5}
    assert nearest("migratoin", words) == ("migration",)
    assert nearest("cuont", words) == ("count",)
    assert nearest("couunt", words) == ("count",)
    assert nearest("counrt", words) == ("court", "count")
    assert nearest("xigration", words) == ()
    assert nearest("comunt", {f"comu{letter}t": 1 for letter in "abcde"}) == ("comuat", "comubt", "comuct")
    assert len(nearest("comunt", {f"comu{letter}t": 1 for letter in "abcde"})) == GUESSES
    assert nearest("declair", {"declare": 1}) == ()  # two slips in fewer than eight letters


@pytest.mark.parametrize(
    "term", ["r1", "10.0.0.1", "edge-1", "9f86d081", "核心", "tiem", "überall", "sha256sum"]
)
def test_identifiers_short_words_and_other_scripts_are_not_guessed_at(term: str) -> None:
    assert not may_be_mistyped(term)


def id_of(key: str) -> str:
    return memory_id("fact", None, key)


def fill(store: Store, index: RecallIndex, folded: bool) -> None:
    write(
        store,
        record("a", "the migration of the ledger runs on Sunday"),
        record("b", "计费 migration 在周日"),
        record("c", "visitors park behind the canteen"),
        record("d", "gateway of the lab"),
    )
    index.sync()
    if folded:
        index.flush()


@pytest.mark.parametrize("folded", [False, True])
def test_a_slip_is_found_for_less_than_the_word(store: Store, index: RecallIndex, folded: bool) -> None:
    fill(store, index, folded)
    pool = index.pool(None, now=NOW)
    right = pool.lexical(query_terms("migration"))
    wrong = pool.lexical(query_terms("migratoin"))
    assert (
        {pool.id_of(row) for row in wrong.nonzero()[0]}
        == {*map(id_of, "ab")}
        == {pool.id_of(row) for row in right.nonzero()[0]}
    )
    assert 0 < wrong.max() <= CREDIT * right.max() + 1e-6
    assert pool.lexical(query_terms("周日的 migratoin")).argmax() == next(
        row for row in range(pool.size) if pool.id_of(row) == id_of("b")
    )


@pytest.mark.parametrize("folded", [False, True])
def test_a_known_word_and_another_form_of_one_are_as_they_were(
    store: Store, index: RecallIndex, folded: bool
) -> None:
    fill(store, index, folded)
    write(store, record("e", "gatewax"))
    index.sync()
    pool = index.pool(None, now=NOW)
    near = {pool.id_of(row) for row in pool.lexical(["gatewax"]).nonzero()[0]}
    assert near == {id_of("e")}  # known, so the other is not meant
    assert not pool.lexical(["zebra", "r2d2x", "10.1.2.3"]).any()
    both = pool.lexical(["gateways", "gateway"])  # `gateways` is no slip of `gateway`
    alone = pool.lexical(["gateway"])
    assert both.max() < alone.max()
