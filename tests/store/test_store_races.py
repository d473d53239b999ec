import json
import threading

import pytest
from lancedb.index import BTree
from store_rows import fact, vectors

from olav_core.store import upsert
from olav_core.store.store import Store

PROCESSES = 6


def test_six_processes_write_the_same_keys_once(store, uri, spawn):
    """5 shared keys, 5 own keys each, and 10 updates and 10 hits each on one hot row."""
    store.upsert([fact("fact:shared")], vectors(1))
    store.table.create_index("id", config=BTree())  # somebody's index; merges that used it would double rows
    children = [spawn("race", uri, name) for name in "abcdef"]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    reports = [json.loads(child.communicate(timeout=120)[0]) for child in children]
    store.fold_access_counts()
    store.refresh()
    ids = store.scan(["id"])["id"].to_pylist()
    assert len(ids) == len(set(ids)) == 1 + 5 + 5 * PROCESSES
    assert sum(report["created"] for report in reports) == 5 + 5 * PROCESSES
    shared = store.get("fact:shared")
    assert shared.access_count == 10 * PROCESSES
    assert shared.text.endswith(" 9")


def test_threads_of_one_store_write_once_and_lose_nothing(store):
    created: list[bool] = []

    def work(name: int) -> None:
        for n in range(4):
            created.extend(
                item.created for item in store.upsert([fact(f"fact:{n}"), fact(f"{name}-{n}")], vectors(2))
            )

    threads = [threading.Thread(target=work, args=(name,)) for name in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.count() == 4 + 20
    assert sum(created) == 24


def test_a_killed_writer_loses_nothing_it_acknowledged(store, uri, spawn):
    for point in (2, 9, 20):
        child = spawn("write", uri)
        acknowledged = -1
        while acknowledged < point:
            acknowledged = int(child.stdout.readline())
        child.kill()
        rest = child.communicate()[0].split()
        acknowledged = int(rest[-1]) if rest else acknowledged
        with Store.open(uri) as opened:
            ids = opened.scan(["id"])["id"].to_pylist()
            assert len(ids) == len(set(ids))
            assert {f"fact:{n}" for n in range(acknowledged + 1)} <= set(ids)
            assert opened.optimize().failures == ()
            assert opened.upsert([fact("fact:after", f"after {point}")], vectors(1))[0].changed


@pytest.fixture
def between(monkeypatch):
    """Run an action once, after a write has read its rows and before it commits."""

    def arm(action):
        commit, pending = upsert.merge, [action]

        def merge(*args, **options):
            if pending:
                pending.pop()()
            return commit(*args, **options)

        monkeypatch.setattr(upsert, "merge", merge)

    return arm


def test_a_change_by_another_between_read_and_commit_is_not_undone(store, uri, between):
    store.upsert([fact("fact:1", "first")], vectors(1))
    other = Store.open(uri)
    between(lambda: other.update_columns(["fact:1"], {"text": ["theirs"]}))
    assert store.update_columns(["fact:1"], {"metadata": [{"state": "mine"}]}) == 1
    assert (store.get("fact:1").text, store.get("fact:1").metadata) == ("theirs", {"state": "mine"})


def test_an_insert_by_another_between_read_and_commit_is_theirs(store, uri, between):
    other = Store.open(uri)
    between(lambda: other.upsert([fact("fact:1", "same"), fact("fact:2", "theirs")], vectors(2)))
    written = store.upsert([fact("fact:1", "same"), fact("fact:2", "mine"), fact("fact:3")], vectors(3))
    assert [(item.created, item.changed) for item in written] == [(False, False), (False, True), (True, True)]
    assert (store.count(), store.get("fact:2").text) == (3, "mine")


def test_a_delete_by_another_between_read_and_commit_is_written_again(store, uri, between):
    store.upsert([fact("fact:1")], vectors(1))
    other = Store.open(uri)
    between(lambda: other.delete(["fact:1"]))
    assert store.upsert([fact("fact:1", "new")], vectors(1))[0].created
    between(lambda: other.delete(["fact:1"]))
    assert store.update_columns(["fact:1"], {"text": ["newer"]}) == 0
    assert store.count() == 0


def test_a_fold_between_read_and_commit_keeps_its_count(store, uri, between):
    store.upsert([fact("fact:1", "first")], vectors(1))
    other = Store.open(uri)
    other.log_recall(["fact:1", "fact:1"], agent="a", query_hash="q", tier="small")
    between(other.fold_access_counts)
    assert store.upsert([fact("fact:1", "second")], vectors(1))[0].changed
    assert (store.get("fact:1").text, store.get("fact:1").access_count) == ("second", 2)


def test_a_further_fold_between_read_and_commit_wins(store, uri, between):
    store.upsert([fact("fact:1")], vectors(1))
    other = Store.open(uri)
    store.log_recall(["fact:1"], agent="a", query_hash="q", tier="small")

    def fold_further():
        other.log_recall(["fact:1"], agent="b", query_hash="q", tier="small")
        other.fold_access_counts()

    between(fold_further)
    store.fold_access_counts()
    store.refresh()
    assert store.get("fact:1").access_count == 2
    assert store.fold_access_counts() == 0


def test_a_change_between_read_and_commit_of_a_fold_stays_and_is_news(store, uri, between):
    store.upsert([fact("fact:1", "first")], vectors(1))
    other, version = Store.open(uri), store.version
    store.log_recall(["fact:1"], agent="a", query_hash="q", tier="small")
    between(lambda: other.upsert([fact("fact:1", "second")], vectors(1)))
    assert store.fold_access_counts() == 1
    assert (store.get("fact:1").text, store.get("fact:1").access_count) == ("second", 1)
    assert [row["id"] for part in store.changed_since(version) for row in part.to_pylist()] == ["fact:1"]
