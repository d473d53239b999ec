"""A refresh that need not ask the engine, and never misses a commit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from store_rows import fact, vectors

from olav_core.store.store import Store


def settle(uri: str) -> None:
    """Make the last commit an hour old."""
    versions = Path(uri) / "memory.lance" / "_versions"
    hour_ago = versions.stat().st_mtime - 3600
    os.utime(versions, (hour_ago, hour_ago))


def test_every_commit_of_another_is_seen_at_once(store, uri):
    other = Store.open(uri)
    for n in range(20):
        other.upsert([fact(f"fact:{n}")], vectors(1))
        assert store.refresh() == other.version
        assert store.count() == n + 1


def test_a_settled_table_is_not_asked_again_until_something_is_committed(store, uri, monkeypatch):
    store.upsert([fact("fact:1")], vectors(1))
    settle(uri)
    version = store.refresh()
    with monkeypatch.context() as patch:
        patch.setattr(store.table, "checkout_latest", lambda: pytest.fail("the engine was asked"))
        assert store.refresh() == version
    Store.open(uri).delete(["fact:1"])
    assert store.refresh() > version
    assert store.count() == 0


def test_a_table_that_was_put_in_its_place_is_noticed(store, uri):
    settle(uri)
    store.refresh()
    versions = Path(uri) / "memory.lance" / "_versions"
    moment = versions.stat().st_mtime_ns
    versions.rename(versions.with_name("old"))
    versions.mkdir()
    os.utime(versions, ns=(moment, moment))
    assert store._versions.stamp() is not None
    assert not store._versions.unchanged(store._versions.stamp())
