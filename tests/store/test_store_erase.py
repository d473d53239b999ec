from pathlib import Path

import pytest
from store_rows import fact, vectors

from olav_core.errors import StoreError
from olav_core.store.store import Store
from olav_core.store.tombstones import text_hash

MARKER = "q7Zk3vXw9TbLmN2pRs8Yd4Fh6Gj1Ca5E"


def on_disk(uri: str) -> bool:
    return any(MARKER.encode() in path.read_bytes() for path in Path(uri).rglob("*") if path.is_file())


def test_an_erased_text_leaves_a_tombstone_for_every_process(store, uri):
    store.upsert([fact("fact:1", "Restart  R1\nnow"), fact("fact:2")], vectors(2))
    other = Store.open(uri)
    assert store.erase(["fact:1", "fact:none"]) == 1
    assert (store.count(), store.get("fact:1")) == (1, None)
    hashes = {text_hash("restart r1 now"), text_hash("other")}
    assert other.erased(hashes) == {text_hash("restart r1 now")}
    assert other.tombstones.lift(hashes) == 1
    assert store.erased(hashes) == set()
    assert store.erase(["fact:none"]) == 0


def test_a_plain_erase_keeps_old_versions_and_a_purge_does_not(store, uri):
    store.upsert([fact(f"fact:{n}") for n in range(50)] + [fact("fact:secret", MARKER)], vectors(51))
    store.upsert([fact("fact:1", "new")], vectors(1))
    store.erase(["fact:secret"])
    assert on_disk(uri)
    store.erase([], purge=True)
    assert not on_disk(uri)
    assert (store.count(), len(store.table.list_versions())) == (50, 1)


def test_a_purge_of_the_only_row_leaves_an_empty_store(store, uri):
    store.upsert([fact("fact:secret", MARKER)], vectors(1))
    assert store.erase(["fact:secret"], purge=True) == 1
    assert not on_disk(uri)
    assert Store.open(uri).count() == 0


def test_a_purge_refuses_while_a_tag_holds_an_old_version(store, uri):
    store.upsert([fact("fact:secret", MARKER)], vectors(1))
    store.table.tags.create("kept", store.version)
    with pytest.raises(StoreError, match="tagged"):
        store.erase(["fact:secret"], purge=True)
    assert store.get("fact:secret") is None
