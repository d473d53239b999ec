import threading
import time

from store_rows import fact, vectors

from olav_core.errors import StoreError
from olav_core.store.recall_log import FLUSH_HITS, query_hash
from olav_core.store.store import Store


def show(store, *ids, agent="ops"):
    store.log_recall(ids, agent=agent, query_hash=query_hash("q"), tier="medium")


def logged(store):
    table = store.recall_log_table()
    table.checkout_latest()
    return table.to_arrow().to_pylist()


def test_hits_are_logged_with_their_rank(store):
    store.log_recall(["fact:1", "fact:2"], agent="ops", query_hash="h", tier="small", ts=1.5)
    assert store.flush() == 2
    rows = logged(store)
    assert [
        (row["memory_id"], row["rank"], row["agent"], row["query_hash"], row["tier"]) for row in rows
    ] == [
        ("fact:1", 1, "ops", "h", "small"),
        ("fact:2", 2, "ops", "h", "small"),
    ]
    assert rows[0]["ts"].timestamp() == 1.5
    assert store.flush() == 0


def test_counts_are_exact_under_forty_concurrent_recalls(store):
    store.upsert([fact("fact:1"), fact("fact:2")], vectors(2))

    def recalls() -> None:
        for _ in range(25):
            show(store, "fact:1", "fact:2", "fact:1")

    threads = [threading.Thread(target=recalls) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.fold_access_counts() == 2
    assert (store.get("fact:1").access_count, store.get("fact:2").access_count) == (2000, 1000)


def test_a_fold_run_again_or_from_a_stale_handle_changes_nothing(store, uri):
    store.upsert([fact("fact:1")], vectors(1))
    other = Store.open(uri)
    show(store, "fact:1", "gone")
    assert store.fold_access_counts() == 1
    assert store.fold_access_counts() == 0
    assert other.fold_access_counts() == 0
    show(other, "fact:1")
    other.flush()
    assert store.fold_access_counts() == 1
    assert store.get("fact:1").access_count == 2


def test_two_folds_at_once_count_once(store, uri):
    store.upsert([fact(f"fact:{n}") for n in range(20)], vectors(20))
    for _ in range(3):
        show(store, *(f"fact:{n}" for n in range(20)))
    store.flush()
    others = [Store.open(uri) for _ in range(4)]
    threads = [threading.Thread(target=other.fold_access_counts) for other in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.refresh()
    assert {record.access_count for record in store.list()} == {3}


def test_a_fold_is_no_news_to_the_index_but_hides_no_change(store):
    store.upsert([fact("fact:1"), fact("fact:2")], vectors(2))
    before = store.version
    store.upsert([fact("fact:1", "new")], vectors(1))
    after = store.version
    show(store, "fact:1", "fact:2")
    store.fold_access_counts()

    def changed(version):
        return [row["id"] for part in store.changed_since(version) for row in part.to_pylist()]

    assert changed(after) == []
    assert changed(before) == ["fact:1"]
    folded = store.version
    store.update_columns(["fact:2"], {"confidence": [0.1]})
    assert changed(folded) == ["fact:2"]


def test_the_background_writer_flushes_by_itself_and_ends(store):
    show(store, *(f"fact:{n}" for n in range(FLUSH_HITS + 1)))
    deadline = time.monotonic() + 30
    while (len(logged(store)) < FLUSH_HITS + 1 or store.recall_log._writer) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(logged(store)) == FLUSH_HITS + 1
    assert store.recall_log._writer is None


def test_close_flushes(store, uri):
    with Store.open(uri) as other:
        show(other, "fact:1")
    assert len(logged(store)) == 1


def test_a_close_that_cannot_write_drops_and_tells(store, monkeypatch, caplog):
    def refuse():
        raise StoreError("the folder may only be read")

    monkeypatch.setattr(store.recall_log, "_table", refuse)
    show(store, "fact:1", "fact:2")
    store.close()
    assert store.recall_log.dropped == 2
    assert "2 hits of the recall log are lost: the folder may only be read" in caplog.text
