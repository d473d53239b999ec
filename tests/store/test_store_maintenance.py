from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from store_rows import MOMENT, fact, vectors

from olav_core.store import maintenance, schema, upsert
from olav_core.store.reader import BATCH_ROWS
from olav_core.store.store import Store


def size(uri: str) -> int:
    return sum(path.stat().st_size for path in Path(uri).rglob("*") if path.is_file())


def test_versions_and_bytes_stay_bounded(store, uri):
    for n in range(60):
        store.upsert([fact(f"fact:{n}", "some words " * 20)], vectors(1))
        store.log_recall([f"fact:{n}"], agent="a", query_hash="q", tier="small")
    before = size(uri)
    report = store.optimize(older_than=timedelta(0))
    assert (report.failures, report.versions, report.fragments, report.folded) == ((), 1, 1, 60)
    assert size(uri) < before / 10
    assert store.count() == 60
    assert {record.access_count for record in Store.open(uri).list()} == {1}


def test_a_version_that_somebody_streams_is_kept_until_the_stream_ends(store, uri, monkeypatch):
    monkeypatch.setattr(maintenance, "PATIENCE", 0)
    for n in range(4):
        store.upsert([fact(f"{n}:{row}") for row in range(BATCH_ROWS)], vectors(BATCH_ROWS))
    stream = Store.open(uri).batches(["id"])
    seen = next(stream).num_rows
    store.upsert([fact("later")], vectors(1))
    assert store.optimize().versions > 3
    assert seen + sum(part.num_rows for part in stream) == 4 * BATCH_ROWS
    assert store.optimize().versions == 1


def test_a_short_read_of_a_version_that_was_cleaned_up_comes_again(store, uri):
    store.upsert([fact("fact:1")], vectors(1))
    reader = Store.open(uri)
    version = reader.version
    store.upsert([fact("fact:1", "new")], vectors(1))
    assert store.optimize().versions == 1
    assert reader.get("fact:1").text == "new"
    assert [row["id"] for part in reader.changed_since(version) for row in part.to_pylist()] == ["fact:1"]


def test_no_version_is_cleaned_up_under_a_writer_that_began_before_it(store, uri):
    """The engine sees conflicts only in versions that lie there: this writer would double the row."""
    store.upsert([fact("fact:1")], vectors(1))
    writer, cleaner = Store.open(uri), Store.open(uri)
    with ThreadPoolExecutor(1) as pool, writer.lock.shared():
        (before,) = upsert.read(writer, {"fact:1": None}).values()
        store.upsert([fact("fact:1", "somebody was faster")], vectors(1))
        cleaned = pool.submit(cleaner.optimize)
        with pytest.raises(TimeoutError):
            cleaned.result(1.0)
        cells = before | {"text": "second", "revision": schema.new_revision()}
        columns = {name: [cells[name]] for name in (*schema.SHOWN, *schema.HIDDEN)}
        rows = schema.to_table(columns, vectors(1), writer.schema)
        assert upsert.merge(writer, rows, expected=[before["revision"]]) == 0
    assert cleaned.result(30).failures == ()
    store.refresh()
    assert [record.text for record in store.list()] == ["somebody was faster"]


def test_expired_rows_go_and_others_stay(store):
    now = datetime.now(UTC)
    store.upsert(
        [
            fact("old", expires_at=now - timedelta(seconds=1)),
            fact("young", expires_at=now + timedelta(days=1)),
            fact("ever"),
        ],
        vectors(3),
    )
    assert store.optimize().expired == 1
    assert {record.id for record in store.list()} == {"young", "ever"}


def test_old_log_rows_go_once_counted_and_counts_stay(store):
    store.upsert([fact("fact:1")], vectors(1))
    store.log_recall(["fact:1"], agent="a", query_hash="q", tier="small", ts=MOMENT.timestamp() - 86400 * 400)
    store.log_recall(["fact:1"], agent="a", query_hash="q", tier="small")
    report = store.optimize(older_than=timedelta(0))
    assert (report.failures, report.log_rows_deleted) == ((), 1)
    store.log_recall(["fact:1"], agent="a", query_hash="q", tier="small")
    assert store.optimize(older_than=timedelta(0)).folded == 1
    assert Store.open(store.uri).get("fact:1").access_count == 3


def test_a_tagged_version_is_kept_and_stays_readable(store):
    store.upsert([fact("fact:1", "first")], vectors(1))
    store.table.tags.create("mine", store.version)
    for n in range(5):
        store.upsert([fact("fact:1", f"later {n}")], vectors(1))
    assert store.optimize(older_than=timedelta(0)).failures == ()
    store.table.checkout("mine")
    assert store.get("fact:1").text == "first"
    store.table.checkout_latest()
    assert store.get("fact:1").text == "later 4"


def test_a_failed_step_is_reported_and_the_others_run(store, monkeypatch):
    def fail(*_args):
        raise OSError("disk full")

    store.upsert([fact("old", expires_at=MOMENT)], vectors(1))
    monkeypatch.setattr(maintenance, "_compact", fail)
    report = store.optimize()
    assert report.expired == 1
    assert [line.split(":")[0] for line in report.failures] == [
        f"compact table {name}" for name in ("memory", "recall_log", "tombstone")
    ]
    assert "disk full" in report.failures[0]


def test_a_rewrite_keeps_every_row_and_reports_all_as_changed(store):
    store.upsert([fact(f"fact:{n}") for n in range(10)], vectors(10))
    store.log_recall(["fact:1"], agent="a", query_hash="q", tier="small")
    store.fold_access_counts()
    before, version = store.list(), store.version
    maintenance.rewrite(store)
    assert store.list() == before
    assert sum(part.num_rows for part in store.changed_since(version)) == 10
    assert store.upsert([fact("fact:1")], vectors(1))[0].created is False
