import json
import shutil
import threading
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from store_child import embed
from store_rows import DIMENSION, SPACE, fact, vectors

from olav_core.errors import EmbedderError, EmbeddingDimMismatchError, StoreError
from olav_core.store import reembed as module
from olav_core.store.lock import WriteLock
from olav_core.store.reembed import kept, purge, reembed
from olav_core.store.store import Store

TARGET = json.dumps({"dimension": 16, "name": "second"})
ROWS = 120


@pytest.fixture
def filled(store):
    store.upsert([fact(f"fact:{n}", access_count=n) for n in range(ROWS)], vectors(ROWS))
    return store


def expected(store):
    records = store.list()
    return dict(zip([r.id for r in records], embed([r.search_text for r in records]), strict=True))


def same_vectors(store):
    wanted = expected(store)
    have = store.vectors(wanted)
    return have.keys() == wanted.keys() and all(np.array_equal(have[key], wanted[key]) for key in wanted)


def test_every_row_moves_and_nothing_else_changes(filled, uri):
    before, version = filled.list(), filled.version
    report = reembed(filled, embed, TARGET, batch=50)
    assert (report.rows, report.embedded, report.reused) == (ROWS, ROWS, 0)
    assert (filled.fingerprint, filled.dimension) == (TARGET, 16)
    assert filled.list() == before
    assert same_vectors(filled)
    assert sum(part.num_rows for part in filled.changed_since(version)) == ROWS
    # stable row ids and the primary key are still on
    version = filled.version
    written = filled.upsert([fact("fact:1", "new"), fact("fact:new")], np.ones((2, 16)))
    assert [item.created for item in written] == [False, True]
    assert sum(part.num_rows for part in filled.changed_since(version)) == 2
    assert Store.open(uri).schema.field("id").metadata


def test_a_second_run_has_nothing_to_do(filled):
    reembed(filled, embed, TARGET)
    report = reembed(filled, embed, TARGET)
    assert (report.rows, report.embedded, report.kept) == (ROWS, 0, None)


def test_the_way_back_embeds_only_what_changed_since(filled):
    reembed(filled, embed, TARGET)
    filled.upsert([fact("fact:1", "new")], np.ones((1, 16)))
    filled.delete(["fact:2"])
    asked: list[str] = []

    def first(texts):
        asked.extend(texts)
        return np.ones((len(texts), DIMENSION))

    report = reembed(filled, first, SPACE)
    assert asked == ["new"]
    assert (report.rows, report.embedded, report.reused) == (ROWS - 1, 1, ROWS - 2)
    assert np.array_equal(filled.vectors(["fact:3"])["fact:3"], vectors(ROWS)[3])


def test_purge_drops_what_was_kept(filled):
    reembed(filled, embed, TARGET)
    names = kept(filled)
    assert len(names) == 1
    assert purge(filled) == names
    assert kept(filled) == []
    assert filled.count() == ROWS


def test_erasing_reaches_the_kept_vectors(filled):
    reembed(filled, embed, TARGET)
    filled.erase(["fact:1"])
    table = filled.database.open_table(kept(filled)[0])
    assert (table.count_rows(), table.count_rows("id = 'fact:1'")) == (ROWS - 1, 0)


def test_purging_an_erased_row_rewrites_the_kept_vectors(filled, uri):
    reembed(filled, embed, TARGET)
    (name,) = kept(filled)
    filled.erase(["fact:1"], purge=True)
    folder = Path(uri) / f"{name}.lance"
    assert not list((folder / "_deletions").glob("*"))
    assert filled.database.open_table(name).count_rows() == ROWS - 1
    assert len(list((folder / "data").iterdir())) == 1


@pytest.fixture(params=["_versions", "data"])
def cut_off(filled, uri, request):
    """A table of vectors whose deletion was killed: its folder is there, some of its files are gone."""
    reembed(filled, embed, TARGET)
    (name,) = kept(filled)
    shutil.rmtree(Path(uri) / f"{name}.lance" / request.param)
    return name


def test_the_rest_of_a_killed_deletion_is_in_nobodys_way(filled, cut_off):
    assert kept(filled) == [cut_off]
    assert filled.erase(["fact:1"]) == 1
    assert reembed(filled, lambda texts: np.ones((len(texts), DIMENSION)), SPACE).rows == ROWS - 1


def test_maintenance_finishes_a_killed_deletion(filled, cut_off):
    assert filled.optimize().failures == ()
    assert kept(filled) == []


def test_a_move_waits_for_the_maintenance_of_kept_vectors(filled, uri):
    reembed(filled, embed, TARGET)
    with WriteLock.beside(uri, "reembed").exclusive():
        thread = threading.Thread(
            target=lambda: reembed(Store.open(uri), lambda texts: vectors(len(texts)), SPACE)
        )
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
    thread.join()
    filled.refresh()
    assert filled.fingerprint == SPACE


def test_maintenance_leaves_the_tables_of_a_running_reembed_alone(filled, uri):
    def meanwhile(texts):
        assert Store.open(uri).optimize().failures == ()
        return embed(texts)

    assert reembed(filled, meanwhile, TARGET, batch=30).rows == ROWS
    assert same_vectors(filled)


def test_rows_written_and_deleted_meanwhile_are_caught_up(filled, uri):
    other = Store.open(uri)
    rounds = iter(range(100))

    def meanwhile(texts):
        n = next(rounds)
        if n < 4:
            other.upsert([fact(f"late:{n}"), fact("fact:5", f"changed {n}")], vectors(2))
            other.delete([f"fact:{n}"])
        return embed(texts)

    report = reembed(filled, meanwhile, TARGET, batch=50)
    assert report.rows == ROWS == filled.count()
    assert filled.get("fact:5").text == "changed 3"
    assert {f"late:{n}" for n in range(4)} <= set(expected(filled))
    assert same_vectors(filled)


def test_readers_see_the_old_store_whole_until_the_switch_and_old_writers_are_refused(filled, uri):
    reader = Store.open(uri)
    seen = set()

    def watching(texts):
        reader.refresh()
        seen.add((reader.count(), reader.dimension, len(reader.vectors(["fact:1", "fact:100"]))))
        return embed(texts)

    reembed(filled, watching, TARGET, batch=30)
    assert seen == {(ROWS, DIMENSION, 2)}
    with pytest.raises(EmbeddingDimMismatchError):
        reader.upsert([fact("x")], vectors(1))
    reader.refresh()
    assert reader.dimension == 16


def test_writers_wait_for_the_switch_and_lose_nothing(filled, uri):
    other, stop, written = Store.open(uri), threading.Event(), []

    def write() -> None:
        n = 0
        while not stop.is_set():
            try:
                other.upsert([fact(f"live:{n}")], vectors(1))
            except EmbeddingDimMismatchError:
                return
            written.append(f"live:{n}")
            n += 1

    thread = threading.Thread(target=write)
    thread.start()
    reembed(filled, embed, TARGET, batch=20)
    stop.set()
    thread.join()
    assert set(written) <= set(filled.existing(written))
    assert filled.count() == ROWS + len(written)
    assert same_vectors(filled)


@pytest.mark.parametrize("bad", [np.zeros((1, 16)), np.ones((1, 8)), np.full((1, 16), np.nan)])
def test_a_bad_embedder_leaves_the_store_as_it_was(filled, bad):
    version = filled.version
    with pytest.raises((EmbedderError, EmbeddingDimMismatchError)):
        reembed(filled, lambda texts: np.repeat(bad, len(texts), axis=0), TARGET)
    assert (filled.refresh(), filled.fingerprint) == (version, SPACE)


def test_vectors_that_belong_to_other_rows_stop_the_switch(filled, monkeypatch):
    keep = module._VectorTable._append
    monkeypatch.setattr(
        module._VectorTable,
        "_append",
        lambda self, ids, revisions, rows: keep(self, ids[::-1], revisions, rows),
    )
    version = filled.version
    with pytest.raises(StoreError, match="nothing was switched"):
        reembed(filled, embed, TARGET)
    assert (filled.refresh(), filled.count(), filled.dimension) == (version, ROWS, DIMENSION)


def test_an_empty_store_moves(store):
    assert reembed(store, embed, TARGET).rows == 0
    assert store.dimension == 16
    assert store.upsert([fact("x")], np.ones((1, 16)))[0].created


def test_two_at_once_are_refused(filled, uri, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.0)

    def inner(texts):
        with pytest.raises(StoreError, match="another process holds"):
            reembed(Store.open(uri), embed, TARGET)
        return embed(texts)

    reembed(filled, inner, TARGET, batch=500)


def test_kill_9_at_any_point_resumes_to_an_equal_store(filled, uri, spawn):
    before = {record.id: record for record in filled.list()}
    for kill_after in (0, 1, 2, 4, 5):
        child = spawn("move", uri, TARGET, 0.02)
        for _ in range(kill_after):
            if not child.stdout.readline().startswith("batch"):
                break
        child.kill()
        child.communicate()
        with Store.open(uri) as opened:
            assert opened.count() == ROWS
            assert {record.id: record for record in opened.list()} == before
            assert opened.dimension in (DIMENSION, 16)
    with Store.open(uri) as opened:
        report = reembed(opened, embed, TARGET)
        assert report.reused > 0 or report.kept is None
        assert {record.id: record for record in opened.list()} == before
        assert same_vectors(opened)
        assert opened.optimize(older_than=timedelta(0)).failures == ()
