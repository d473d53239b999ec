"""Records in memory: packed while there is room, never older than what was dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from index_rows import record

from olav_core.index import packed_rows
from olav_core.index.packed_rows import PackedRows
from olav_core.index.record_cache import RecordCache
from olav_core.records import MemoryRecord


class Table:
    """A source that counts its reads."""

    def __init__(self, rows: int) -> None:
        self.rows = {row: record(str(row), f"text {row}") for row in range(rows)}
        self.reads: list[list[int]] = []

    def read(self, rowids: Sequence[int]) -> Mapping[int, MemoryRecord]:
        self.reads.append(list(rowids))
        return {row: self.rows[row] for row in rowids if row in self.rows}


def unpack(cells: Sequence[str]) -> MemoryRecord:
    return record(cells[0], cells[1])


def test_packed_rows_are_read_without_the_table():
    table = Table(3)
    cache = RecordCache(table.read, unpack)
    cache.pack((row, (str(row), f"text {row}")) for row in range(3))
    assert [found.text for found in cache.read([2, 0]).values()] == ["text 2", "text 0"]
    assert table.reads == []


def test_what_does_not_fit_is_read_once_and_together(monkeypatch):
    monkeypatch.setattr(packed_rows, "BLOCK_BYTES", 500)
    table = Table(50)
    cache = RecordCache(table.read, unpack, packed_bytes=3_000)
    cache.pack((row, (str(row), f"text {row}")) for row in range(50))
    cache.fetch(range(50))
    assert len(table.reads) == 1
    assert 10 < len(table.reads[0]) < 50
    assert {row: found.text for row, found in cache.read(range(50)).items()} == {
        row: f"text {row}" for row in range(50)
    }
    assert len(table.reads) == 1


def test_a_dropped_row_is_read_anew():
    table = Table(1)
    cache = RecordCache(table.read, unpack)
    cache.pack([(0, ("0", "old"))])
    assert cache.read([0])[0].text == "old"
    cache.drop([0])
    assert cache.read([0])[0].text == "text 0"


def test_a_row_that_is_gone_is_missing():
    assert RecordCache(Table(0).read, unpack).read([7]) == {}


def test_a_long_row_is_left_to_the_table():
    rows = PackedRows(2**30)
    assert rows.put(1, ("x" * packed_rows.MAX_ROW_BYTES,))
    assert rows.put(2, ("x" * (packed_rows.MAX_ROW_BYTES - 100),))
    assert (rows.get(1), rows.get(2)) == (None, ("x" * (packed_rows.MAX_ROW_BYTES - 100),))


@given(st.lists(st.tuples(st.integers(0, 30), st.text(max_size=8) | st.none()), max_size=200))
def test_any_run_of_puts_and_drops_gives_what_a_dict_gives(steps):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_rows, "BLOCK_BYTES", 64)
        rows, model = PackedRows(2**30), {}
        for rowid, text in steps * 12:
            rows.drop(rowid)
            model.pop(rowid, None)
            if text is not None:
                assert rows.put(rowid, (text, rowid))
                model[rowid] = (text, rowid)
        assert {rowid: rows.get(rowid) for rowid in range(31) if rowid in rows} == model
        assert len(rows) == len(model)
        assert len(rows._blocks) < 1_500  # room is made anew
