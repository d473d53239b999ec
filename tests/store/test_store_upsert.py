from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_rows import DIMENSION, MOMENT, fact, vectors

from olav_core.errors import EmbedderError, EmbeddingDimMismatchError, RecordError
from olav_core.records import MemoryRecord
from olav_core.store.upsert import Written

EVIL = [
    "x' OR 1=1 --",
    "'; DELETE FROM memory; --",
    "a\\b",
    'say "hi"',
    "line\nbreak",
    "半角；全角",
    "😀",
    "%",
    "_",
    "''",
    "\\'",
]


def test_a_record_comes_back_as_it_was_written(store):
    record = fact(
        "fact:1",
        "shown",
        search_text="searched",
        scope="team:a",
        metadata={"b": [1, 2.5, None, {"ü": "值"}], "a": True},
        origin="agent",
        confidence=0.25,
        tags=("x", "y"),
        created_at=MOMENT - timedelta(days=1),
        access_count=7,
        expires_at=MOMENT + timedelta(days=30),
    )
    assert store.upsert([record], vectors(1)) == [Written("fact:1", created=True, changed=True)]
    assert store.get("fact:1") == record
    assert np.array_equal(store.vectors(["fact:1"])["fact:1"], vectors(1)[0])


def test_a_time_without_a_zone_is_utc(store):
    store.upsert([fact("fact:1", timestamp=datetime(2026, 1, 1))], vectors(1))
    assert store.get("fact:1").timestamp == datetime(2026, 1, 1, tzinfo=UTC)


def test_the_same_content_is_not_written_again(store):
    records = [fact(f"fact:{n}") for n in range(3)]
    store.upsert(records, vectors(3))
    before = store.version
    assert store.upsert(records, vectors(3, seed=9)) == [
        Written(record.id, created=False, changed=False) for record in records
    ]
    assert store.refresh() == before


def test_a_change_keeps_created_at_and_access_count(store):
    store.upsert([fact("fact:1", created_at=MOMENT, access_count=3)], vectors(1))
    changed = fact("fact:1", "new", created_at=MOMENT + timedelta(days=1), access_count=0)
    assert store.upsert([changed], vectors(1, seed=1)) == [Written("fact:1", created=False, changed=True)]
    assert store.get("fact:1") == evolve(changed, created_at=MOMENT, access_count=3)
    assert np.array_equal(store.vectors(["fact:1"])["fact:1"], vectors(1, seed=1)[0])


def test_a_confirmation_moves_the_time_only_and_only_forward(store):
    store.upsert([fact("fact:1", expires_at=MOMENT)], vectors(1))
    later = fact("fact:1", timestamp=MOMENT + timedelta(hours=1), expires_at=MOMENT + timedelta(hours=1))
    assert store.upsert([later], vectors(1, seed=5)) == [
        Written("fact:1", created=False, changed=False, confirmed=True)
    ]
    earlier = fact("fact:1", timestamp=MOMENT - timedelta(hours=1))
    assert store.upsert([earlier], vectors(1, seed=5)) == [Written("fact:1", created=False, changed=False)]
    assert store.get("fact:1").timestamp == store.get("fact:1").expires_at == later.timestamp
    assert np.array_equal(store.vectors(["fact:1"])["fact:1"], vectors(1)[0])


def test_a_key_that_repeats_in_a_batch_is_one_row_and_the_last_one_counts(store):
    batch = [fact("fact:1", "a"), fact("fact:2"), fact("fact:1", "b")]
    assert [item.id for item in store.upsert(batch, vectors(3))] == ["fact:1", "fact:2"]
    assert store.count() == 2
    assert store.get("fact:1").text == "b"
    store.upsert([fact("fact:1", "c"), fact("fact:1", "d")], vectors(2))
    assert (store.count(), store.get("fact:1").text) == (2, "d")


def test_new_changed_and_unchanged_rows_go_in_one_commit(store):
    store.upsert([fact("fact:1"), fact("fact:2")], vectors(2))
    before = store.version
    written = store.upsert([fact("fact:1"), fact("fact:2", "new"), fact("fact:3")], vectors(3))
    assert [(item.created, item.changed) for item in written] == [(False, False), (False, True), (True, True)]
    assert store.version == before + 1


def test_an_empty_batch_is_no_write(store):
    before = store.version
    assert store.upsert([], np.empty((0, DIMENSION))) == []
    assert store.refresh() == before


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf, 0.0])
def test_a_vector_that_search_would_never_find_is_refused_whole(store, poison):
    bad = vectors(2)
    bad[1] = poison
    with pytest.raises(EmbedderError, match="fact:2"):
        store.upsert([fact("fact:1"), fact("fact:2")], bad)
    assert store.count() == 0


def test_vectors_of_another_shape_are_refused(store):
    with pytest.raises(EmbeddingDimMismatchError, match="4 dimensions"):
        store.upsert([fact("fact:1")], vectors(1, dimension=4))
    for shape in ((2, DIMENSION), (DIMENSION,), (1, 1, DIMENSION)):
        with pytest.raises(EmbedderError, match="shape"):
            store.upsert([fact("fact:1")], np.ones(shape))
    assert store.count() == 0


@pytest.mark.parametrize(
    "bad", [{"metadata": {"x": float("nan")}}, {"metadata": {"x": {1}}}, {"tags": ("\ud800",)}]
)
def test_what_the_engine_cannot_hold_is_a_record_error(store, bad):
    with pytest.raises(RecordError, match="fact:1"):
        store.upsert([fact("fact:1", **bad)], vectors(1))


@pytest.mark.parametrize("evil", EVIL)
def test_injection_in_any_field_touches_nothing_else(store, evil):
    store.upsert([fact("fact:1"), fact("fact:2")], vectors(2))
    assert store.get(evil) is None
    assert store.delete([evil]) == 0
    assert store.update_columns([evil], {"scope": ["x"]}) == 0
    assert store.list(category=evil) == store.list(scopes=[evil]) == store.list(origin=evil) == []
    assert store.count(scope=evil) == store.count(category=evil) == 0
    assert store.find(evil) in ([], store.find("fact"))
    assert store.erased([evil]) == set()
    record = fact(evil, evil, scope=evil, category=evil, tags=(evil,), metadata={evil: evil}, origin=evil)
    store.upsert([record], vectors(1))
    assert store.get(evil) == evolve(record, created_at=store.get(evil).created_at)
    assert store.list(scopes=[evil]) == store.list(category=evil) == [store.get(evil)]
    assert store.update_columns([evil], {"text": [evil + "!"]}) == 1
    assert store.erase([evil]) == 1
    assert store.count() == 2


printable = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=20
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(printable, printable, printable), min_size=1, max_size=5, unique_by=lambda item: item[0]
    )
)
def test_any_id_scope_and_tag_round_trip(store, items):
    records = [fact(row_id, scope=scope, tags=(tag,), created_at=MOMENT) for row_id, scope, tag in items]
    store.upsert(records, vectors(len(records)))
    assert store.existing([record.id for record in records]) == {record.id: record for record in records}
    for record in records:
        assert record in store.list(scopes=[record.scope])
    assert store.delete([record.id for record in records]) == len(records)
    assert store.count() == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [("user_1", "userA1"), ("tenant/acme", "tenant/acme-corp"), ("a%", "ab"), ("Team", "team"), ("x", "x ")],
)
def test_scopes_are_exact(store, one, other):
    store.upsert([fact("fact:1", scope=one), fact("fact:2", scope=other)], vectors(2))
    assert [record.id for record in store.list(scopes=[one])] == ["fact:1"]
    assert [record.id for record in store.list(scopes=[other])] == ["fact:2"]
    assert store.count(scope=one) == store.count(scope=other) == 1
    assert store.counts() == {("fact", one): 1, ("fact", other): 1}


def test_update_columns_changes_only_those(store):
    store.upsert([fact("fact:1", access_count=2), fact("fact:2")], vectors(2))
    before = store.get("fact:1")
    assert store.update_columns(["fact:1", "fact:9"], {"metadata": [{"state": "resolved"}, {}]}) == 1
    assert store.get("fact:1") == evolve(before, metadata={"state": "resolved"})
    assert np.array_equal(store.vectors(["fact:1"])["fact:1"], vectors(2)[0])
    version = store.version
    assert store.update_columns(["fact:1"], {"metadata": [{"state": "resolved"}]}) == 0
    assert store.refresh() == version


def test_update_columns_refuses_what_it_may_not_touch(store):
    for name in ("id", "vector", "created_at", "access_count", "category", "revision"):
        with pytest.raises(RecordError, match="cannot be updated"):
            store.update_columns(["fact:1"], {name: [1]})
    with pytest.raises(RecordError, match="vectors"):
        store.update_columns(["fact:1"], {"search_text": ["x"]})
    with pytest.raises(RecordError, match="one per id"):
        store.update_columns(["fact:1"], {"text": ["x", "y"]})


def test_update_of_search_text_takes_its_vector(store):
    store.upsert([fact("fact:1")], vectors(1))
    assert store.update_columns(["fact:1"], {"search_text": ["new"]}, vectors(1, seed=3)) == 1
    assert np.array_equal(store.vectors(["fact:1"])["fact:1"], vectors(1, seed=3)[0])


def test_more_ids_than_one_filter_holds(store):
    records = [fact(f"fact:{n:05}") for n in range(2500)]
    assert sum(item.created for item in store.upsert(records, vectors(2500))) == 2500
    assert len(store.existing([record.id for record in records] + ["fact:none"])) == 2500
    assert not any(item.created or item.changed for item in store.upsert(records, vectors(2500)))
    assert store.delete([record.id for record in records]) == 2500


def test_a_record_type_is_the_only_input(store):
    assert isinstance(store.upsert([MemoryRecord(id="x", text="x", category="fact")], vectors(1))[0], Written)
