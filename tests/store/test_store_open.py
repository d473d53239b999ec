import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from store_rows import DIMENSION, SPACE, fact, vectors

from olav_core.errors import EmbeddingDimMismatchError, EmbeddingSpaceMismatchError, StoreError
from olav_core.store import tables
from olav_core.store.schema import FINGERPRINT_KEY, memory_schema
from olav_core.store.store import Store


def test_a_missing_store_is_an_error_and_leaves_no_directory(tmp_path):
    with pytest.raises(StoreError, match="olav init"):
        Store.open(str(tmp_path / "none" / "memory.lance"))
    assert list(tmp_path.iterdir()) == []


def test_a_directory_without_a_table_is_an_error(tmp_path):
    with pytest.raises(StoreError, match="no memory table"):
        Store.open(str(tmp_path))


@pytest.mark.parametrize("part", ["_versions", "."])
def test_a_table_that_lists_but_does_not_open_is_an_error_and_never_emptied(store, uri, part):
    table = Path(uri) / "memory.lance"
    shutil.rmtree(table / part)
    table.mkdir(exist_ok=True)
    for act in (Store.open, lambda where: Store.create(where, SPACE)):
        with pytest.raises(StoreError, match="listed but cannot be read"):
            act(uri)


def test_create_refuses_where_a_store_exists(store, uri):
    store.upsert([fact("fact:1")], vectors(1))
    with pytest.raises(StoreError, match="already holds a store"):
        Store.create(uri, SPACE)
    assert Store.open(uri).count() == 1


def test_a_crash_before_the_memory_table_leaves_no_store_and_create_finishes_it(uri):
    from olav_core.store.recall_log import recall_log_schema

    tables.create(tables.connect(uri), tables.RECALL_LOG, recall_log_schema())
    with pytest.raises(StoreError, match="no memory table"):
        Store.open(uri)
    assert Store.create(uri, SPACE).count() == 0


def test_a_foreign_table_is_refused(uri):
    tables.connect(uri).create_table("memory", schema=pa.schema([pa.field("id", pa.string())]))
    with pytest.raises(StoreError, match="no embedding fingerprint"):
        Store.open(uri)


def test_a_newer_schema_is_refused(uri):
    layout = memory_schema(DIMENSION, SPACE)
    tables.create(
        tables.connect(uri), "memory", layout.with_metadata({**layout.metadata, b"olav:schema": b"99"})
    )
    with pytest.raises(StoreError, match="newer olav-core"):
        Store.open(uri)


def test_the_fingerprint_is_kept_word_for_word(uri):
    space = json.dumps({"dimension": DIMENSION, "name": "模型 'x'", "canaries": [0.25]}, ensure_ascii=False)
    Store.create(uri, space)
    opened = Store.open(uri)
    assert opened.fingerprint == space
    assert opened.dimension == DIMENSION
    assert opened.schema.metadata[FINGERPRINT_KEY].decode() == space


def test_a_fingerprint_without_a_dimension_is_refused(uri):
    with pytest.raises(StoreError, match="dimension"):
        Store.create(uri, "{}")


def test_destroying_the_rows_says_how_many_and_goes_on_in_another_space(store, uri):
    store.upsert([fact(f"fact:{n}") for n in range(3)], vectors(3))
    other = json.dumps({"dimension": 4, "name": "second"})
    fresh = Store.open(uri)
    destroyed = fresh.destroy_rows(other)
    assert (destroyed, fresh.count(), fresh.dimension, fresh.fingerprint) == (3, 0, 4, other)
    assert fresh.upsert([fact("fact:1")], vectors(1, dimension=4))[0].created


@pytest.mark.parametrize(
    ("dimension", "error"), [(DIMENSION, EmbeddingSpaceMismatchError), (4, EmbeddingDimMismatchError)]
)
def test_a_writer_notices_that_another_process_switched_the_space(store, uri, dimension, error):
    store.upsert([fact("fact:1")], vectors(1))
    Store.open(uri).destroy_rows(json.dumps({"dimension": dimension, "name": "second"}))
    with pytest.raises(error, match="Restart"):
        store.upsert([fact("fact:2")], vectors(1))
    assert Store.open(uri).count() == 0


def test_a_missing_side_table_is_created_and_counts_go_on(store, uri):
    store.upsert([fact("fact:1")], vectors(1))
    store.log_recall(["fact:1"], agent="a", query_hash="q", tier="small")
    for _ in range(3):
        store.fold_access_counts()
    store.close()
    shutil.rmtree(Path(uri) / "recall_log.lance")
    with Store.open(uri) as again:
        again.log_recall(["fact:1"], agent="a", query_hash="q", tier="small")
        again.fold_access_counts()
        again.refresh()
        assert again.get("fact:1").access_count == 2


def test_a_table_that_cannot_be_made_is_a_store_error(uri):
    Path(uri).mkdir(parents=True)
    (Path(uri) / "memory.lance").write_text("not a folder")
    with pytest.raises(StoreError):
        Store.create(uri, SPACE)
    with pytest.raises(StoreError, match="cannot be created"):
        tables.create(tables.connect(uri), "memory", memory_schema(DIMENSION, SPACE))
