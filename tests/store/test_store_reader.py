from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from store_rows import MOMENT, fact, vectors

from olav_core.errors import StoreError
from olav_core.store.reader import CHANGED
from olav_core.store.store import Store


def changed(store, version):
    return sorted(row["id"] for part in store.changed_since(version) for row in part.to_pylist())


def test_list_is_newest_first_and_pages_without_gaps(store):
    records = [fact(f"fact:{n}", timestamp=MOMENT + timedelta(minutes=n % 3)) for n in range(10)]
    store.upsert(records, vectors(10))
    whole = [record.id for record in store.list()]
    assert whole == [r.id for r in sorted(records, key=lambda r: (-r.timestamp.timestamp(), r.id))]
    pages = [[record.id for record in store.list(limit=3, offset=n)] for n in range(0, 10, 3)]
    assert [row_id for page in pages for row_id in page] == whole


def test_list_filters_by_category_scope_and_origin(store):
    store.upsert(
        [fact("a", category="x", scope="s"), fact("b", scope="s", origin="agent"), fact("c", origin="agent")],
        vectors(3),
    )
    assert [record.id for record in store.list(category="x")] == ["a"]
    assert [record.id for record in store.list(scopes=["s"], origin="agent")] == ["b"]
    assert store.list(scopes=[]) == []


def test_find_by_start_of_id_or_of_its_hash(store):
    store.upsert([fact("fact:abcd1"), fact("fact:abcd2"), fact("note:cdef")], vectors(3))
    assert [record.id for record in store.find("abcd")] == ["fact:abcd1", "fact:abcd2"]
    assert [record.id for record in store.find("note:cdef")] == ["note:cdef"]
    assert store.find("abc_1") == store.find("") == store.find("abc") == store.find("fact") == []
    assert len(store.find("fact:abcd", limit=1)) == 1


def test_take_keeps_the_order_asked_and_never_misaligns(store):
    store.upsert([fact(f"fact:{n}") for n in range(5)], vectors(5))
    rows = dict(
        zip(store.scan(["id"], row_ids=True)["id"].to_pylist(), store.row_ids().tolist(), strict=True)
    )
    wanted = [rows["fact:3"], rows["fact:0"], rows["fact:4"], rows["fact:3"]]
    assert [record.id for record in store.take(wanted)] == ["fact:3", "fact:0", "fact:4", "fact:3"]
    assert store.take([]) == []
    store.delete(["fact:0"])
    with pytest.raises(StoreError, match="deleted meanwhile"):
        store.take(wanted)
    assert set(store.take_present(wanted)) == {rows["fact:3"], rows["fact:4"]}


def test_changed_since_gives_writes_and_updates_with_what_the_index_needs(store):
    store.upsert([fact(f"fact:{n}") for n in range(4)], vectors(4))
    part = next(iter(store.changed_since(None)))
    assert set(part.schema.names) == {*CHANGED, "_rowid"}
    version = store.version
    assert changed(store, version) == []
    store.upsert([fact("fact:1", "new"), fact("fact:9"), fact("fact:0")], vectors(3))
    store.update_columns(["fact:2"], {"confidence": [0.5]})
    assert changed(store, version) == ["fact:1", "fact:2", "fact:9"]
    assert changed(store, None) == ["fact:0", "fact:1", "fact:2", "fact:3", "fact:9"]


def test_row_ids_survive_updates_and_compaction(store):
    store.upsert([fact(f"fact:{n}") for n in range(4)], vectors(4))
    before = set(store.row_ids().tolist())
    store.upsert([fact("fact:1", "new")], vectors(1))
    version = store.version
    store.upsert([fact("fact:2", "new")], vectors(1))
    store.optimize(older_than=timedelta(0))
    assert set(store.row_ids().tolist()) == before
    assert changed(store, version) == ["fact:2"]


def test_another_handle_sees_writes_after_refresh(store, uri):
    other = Store.open(uri)
    store.upsert([fact("fact:1")], vectors(1))
    version = other.refresh()
    assert (version, other.count()) == (store.version, 1)
    store.delete(["fact:1"])
    other.refresh()
    assert other.get("fact:1") is None


def test_a_reader_on_a_version_that_was_cleaned_up_recovers(store, uri):
    store.upsert([fact("fact:1")], vectors(1))
    other = Store.open(uri)
    for n in range(3):
        store.upsert([fact(f"fact:{n}", "new")], vectors(1))
    store.optimize(older_than=timedelta(0))
    assert {record.id for record in other.list()} <= {"fact:0", "fact:1", "fact:2"}
    assert np.isfinite(list(other.vectors(["fact:1"]).values())).all()


@pytest.mark.parametrize("damage", ["lost", "cut"])
def test_a_stream_over_a_damaged_file_is_a_store_error(store, uri, damage):
    store.upsert([fact("fact:1")], vectors(1))
    for file in (Path(uri) / "memory.lance" / "data").iterdir():
        file.unlink() if damage == "lost" else file.write_bytes(file.read_bytes()[:40])
    damaged = Store.open(uri)
    with pytest.raises(StoreError, match=r"reading .* failed"):
        list(damaged.changed_since(None))


def test_a_limit_or_offset_beyond_any_number_of_rows_is_no_error(store):
    store.upsert([fact("fact:1"), fact("fact:2")], vectors(2))
    assert len(store.list(limit=10**30)) == 2
    assert store.list(offset=10**30, limit=10**30) == []
