"""The lexical index on disk: reused, caught up, rebuilt when it is damaged, shared with a locked writer."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from index_rows import CATEGORIES, NOW, found, record, write

from olav_core.errors import StoreError
from olav_core.index.index import RecallIndex
from olav_core.index.index_files import BrokenIndexError
from olav_core.index.lexical import LexicalIndex, LexicalWriter
from olav_core.index.lexical_sync import FOLD_ROWS, SPILL_ROWS
from olav_core.index.pending import PendingRows
from olav_core.store.store import Store

Reopen = Callable[..., RecallIndex]


def fill(store: Store, rows: int = 100) -> None:
    write(store, *(record(f"r{i}", f"bgp neighbor {i} on core-sw-{i}") for i in range(rows)))


def test_a_closed_index_is_reused_as_it_is(
    store: Store, reopen: Reopen, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)
    first = reopen()
    first.sync()
    first.close()

    def fail(*_: object) -> None:
        raise AssertionError("a row was analysed again")

    monkeypatch.setattr(PendingRows, "put", fail)
    second = reopen()
    assert second.sync().rebuilt == ""
    assert second.coverage().lexical_rows == 100
    assert second.coverage().lexical_behind == 0


def test_an_index_that_is_behind_catches_up_on_what_differs(store: Store, reopen: Reopen) -> None:
    fill(store)
    first = reopen()
    first.sync()
    first.close()
    write(store, record("new", "ospf adjacency"), record("r3", "isis now"))
    store.delete([record("r4", "").id])
    second = reopen()
    report = second.sync()
    assert report.rebuilt == ""
    assert report.lexical_behind == 2
    assert set(found(second, ["ospf", "isis"])) == {"ospf adjacency", "isis now"}
    assert found(second, ["core-sw-3", "core-sw-4"]) == {}
    second.close()
    third = reopen()
    third.sync()
    assert third.coverage().lexical_rows == 100
    assert third.coverage().lexical_behind == 0


def damage_delete(directory: Path) -> None:
    shutil.rmtree(directory)


def damage_delete_meta(directory: Path) -> None:
    (directory / "meta.json").unlink()


def damage_truncate(directory: Path) -> None:
    path = max(directory.glob("*.idx"), key=lambda p: p.stat().st_size)
    path.write_bytes(path.read_bytes()[:-20])


def damage_garble(directory: Path) -> None:
    path = max(directory.glob("*.term"), key=lambda p: p.stat().st_size)
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 3] ^= 0xFF
    path.write_bytes(bytes(raw))


def damage_remove_a_segment_file(directory: Path) -> None:
    next(directory.glob("*.fast")).unlink()


def damage_empty_files(directory: Path) -> None:
    for path in directory.iterdir():
        path.write_bytes(b"")


def damage_not_an_index(directory: Path) -> None:
    shutil.rmtree(directory)
    directory.mkdir()
    (directory / "meta.json").write_text('{"segments": 3}')


def damage_be_a_file(directory: Path) -> None:
    shutil.rmtree(directory)
    directory.write_text("in the way")


DAMAGES = [value for name, value in sorted(globals().items()) if name.startswith("damage_")]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda f: f.__name__)
def test_a_damaged_index_is_rebuilt_by_itself(
    store: Store, reopen: Reopen, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    fill(store)
    first = reopen()
    first.sync()
    first.close()
    damage(tmp_path / "index" / "bm25")
    second = reopen()
    assert len(found(second, ["bgp"])) == 100
    assert list(found(second, ["core-sw-42"])) == ["bgp neighbor 42 on core-sw-42"]
    second.close()


def test_damage_is_named_in_the_report(store: Store, reopen: Reopen, tmp_path: Path) -> None:
    fill(store)
    first = reopen()
    first.sync()
    first.close()
    damage_garble(tmp_path / "index" / "bm25")
    assert "damaged" in reopen().sync().rebuilt


def test_a_directory_deleted_under_a_live_index_is_made_anew(
    store: Store, index: RecallIndex, tmp_path: Path
) -> None:
    fill(store)
    index.sync()
    shutil.rmtree(tmp_path / "index" / "bm25")
    assert len(found(index, ["bgp"])) == 100
    assert (tmp_path / "index" / "bm25" / "meta.json").exists()


def test_files_damaged_under_a_live_index_fail_one_search_at_most(
    store: Store, index: RecallIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)
    index.sync()
    pool = index.pool(None, now=NOW)
    assert index._lexical is not None
    index._lexical.report_broken("garbled")  # what a failed search reports
    assert len(found(index, ["bgp"])) == 100
    assert pool.lexical(["bgp"]).max() > 0


def test_a_search_that_cannot_read_says_so(store: Store, index: RecallIndex) -> None:
    from attrs import evolve

    fill(store)
    index.sync()
    pool = index.pool(None, now=NOW)
    pool._lexical.snapshot = evolve(pool._lexical.snapshot, searcher=object())
    with pytest.raises(StoreError, match="next recall rebuilds"):
        pool.lexical(["bgp"])
    assert index.sync().rebuilt
    assert len(found(index, ["bgp"])) == 100


def test_another_tables_index_in_the_same_directory_is_not_believed(store: Store, tmp_path: Path) -> None:
    fill(store, 80)
    elsewhere = Store.create(str(tmp_path / "other.lance"), store.fingerprint)
    write(elsewhere, *(record(f"r{i}", f"ospf {i}") for i in range(80)))
    directory = tmp_path / "bm25"
    RecallIndex(elsewhere, directory, categories=CATEGORIES).sync()
    index = RecallIndex(store, directory, categories=CATEGORIES)
    assert found(index, ["ospf"]) == {}
    assert len(found(index, ["bgp"])) == 80


def test_an_emptied_table_under_the_same_uri_is_not_mixed_with_the_old(store: Store, reopen: Reopen) -> None:
    fill(store)
    first = reopen()
    first.sync()
    first.close()
    again = Store.open(store.uri)
    again.destroy_rows(store.fingerprint)
    write(again, *(record(f"n{i}", f"ospf {i}") for i in range(100)))
    second = reopen()
    assert found(second, ["bgp"]) == {}
    assert len(found(second, ["ospf"])) == 100


def test_a_new_store_at_an_old_path_starts_over(store: Store, reopen: Reopen) -> None:
    for i in range(6):
        write(store, record(f"r{i}", f"bgp {i}"))
    first = reopen()
    first.sync()
    first.close()
    shutil.rmtree(store.uri)
    again = Store.create(store.uri, store.fingerprint)
    write(again, *(record(f"n{i}", f"ospf {i}") for i in range(6)))
    second = reopen()
    assert "has not reached" in second.sync().rebuilt
    assert found(second, ["bgp"]) == {}
    assert len(found(second, ["ospf"])) == 6
    assert second.coverage().lexical_behind == 0


def test_a_full_disk_costs_no_recall(
    store: Store, index: RecallIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)
    commit = LexicalWriter.commit

    def full(self: LexicalWriter, version: int) -> None:
        if not self._index.in_memory:
            raise BrokenIndexError("no space left on device")
        commit(self, version)

    monkeypatch.setattr(LexicalWriter, "commit", full)
    assert len(found(index, ["bgp"])) == 100
    write(store, record("new", "ospf adjacency"))
    assert set(found(index, ["ospf"])) == {"ospf adjacency"}
    assert index.coverage().lexical_rows == 100


def test_a_reader_finds_new_rows_while_another_process_holds_the_writer(
    store: Store, reopen: Reopen, tmp_path: Path
) -> None:
    fill(store)
    first, reader = reopen(), reopen()
    first.sync()
    reader.sync()
    assert first._lexical is not None
    writer = first._lexical.index.writer()
    assert writer is not None
    rows = 2 * FOLD_ROWS
    write(store, *(record(f"n{i}", f"bgp new {i}") for i in range(rows)), record("r1", "isis now"))
    report = reader.sync()
    assert report.lexical_behind == rows + 1
    assert len(found(reader, ["bgp"])) == 99 + rows
    assert found(reader, ["core-sw-1"]) == {}
    assert not reader.flush()
    writer.abandon()
    assert reader.flush()
    assert len(found(reader, ["bgp"])) == 99 + rows
    assert first.sync().lexical_behind == 0  # what the reader folded need not be folded again
    assert len(found(first, ["bgp"])) == 99 + rows


def test_a_process_that_is_behind_never_folds_old_rows_over_new_ones(store: Store, reopen: Reopen) -> None:
    fill(store)
    slow, fast = reopen(), reopen()
    slow.sync()
    write(store, record("r1", "isis old"))
    slow.sync()
    write(store, record("r1", "isis newest"))
    fast.sync()
    assert fast.flush()
    assert not slow.flush()
    assert set(found(slow, ["isis"])) == {"isis newest"}
    fresh = reopen()
    assert set(found(fresh, ["isis"])) == {"isis newest"}
    assert fresh.coverage().lexical_behind == 0


def test_two_that_build_the_same_index_at_once_both_end_up_whole(store: Store, reopen: Reopen) -> None:
    fill(store, SPILL_ROWS + 500)
    indexes = [reopen(), reopen()]
    threads = [threading.Thread(target=index.sync) for index in indexes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for index in indexes:
        assert list(found(index, ["core-sw-2400"])) == ["bgp neighbor 2400 on core-sw-2400"]
        assert index.sync().lexical_behind == 0
    assert indexes[0].coverage().lexical_rows == SPILL_ROWS + 500


def test_an_interrupted_build_is_finished_by_the_next_sync(
    store: Store, index: RecallIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, SPILL_ROWS + 500)
    with monkeypatch.context() as patch:
        patch.setattr(store, "count", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            index.sync()
    assert index.sync().version == store.version
    assert list(found(index, ["core-sw-7"])) == ["bgp neighbor 7 on core-sw-7"]
    assert index.coverage().lexical_rows == SPILL_ROWS + 500


def test_a_directory_that_cannot_be_written_is_done_without(store: Store, tmp_path: Path) -> None:
    fill(store)
    (tmp_path / "blocked").write_text("a file where a directory should be")
    index = RecallIndex(store, tmp_path / "blocked" / "bm25", categories=CATEGORIES)
    assert len(found(index, ["bgp"])) == 100
    index.close()


def test_two_opening_at_once_share_one_index(tmp_path: Path) -> None:
    one = LexicalIndex(tmp_path / "bm25", "table")
    two = LexicalIndex(tmp_path / "bm25", "table")
    assert one.apply([], [], version=3)
    two.reload()
    assert two.snapshot.covered == 3
    assert (one.rebuilt, two.rebuilt) == ("", "")


def test_a_stamp_of_another_table_analyzer_or_format_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    LexicalIndex(tmp_path / "bm25", "table").apply([], [], version=3)
    assert LexicalIndex(tmp_path / "bm25", "table").snapshot.covered == 3
    assert "stamp" in LexicalIndex(tmp_path / "bm25", "other").rebuilt
    LexicalIndex(tmp_path / "bm25", "other").apply([], [], version=3)
    monkeypatch.setattr("olav_core.index.lexical.ANALYZER_VERSION", -1)
    assert "analyzer" in LexicalIndex(tmp_path / "bm25", "other").rebuilt
