"""Records in memory: packed while there is room, never older than what was dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from index_rows import record

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


def test_what_does_not_fit_is_read_once_and_together():
    table = Table(50)
    cache = RecordCache(table.read, unpack, packed_bytes=2_000)
    cache.pack((row, (str(row), f"text {row}")) for row in range(50))
    cache.fetch(range(50))
    assert len(table.reads) == 1
    assert 30 < len(table.reads[0]) < 50
    assert set(cache.read(range(50))) == set(range(50))
    assert len(table.reads) == 1


def test_a_dropped_row_is_read_anew_and_makes_room():
    table = Table(1)
    cache = RecordCache(table.read, unpack, packed_bytes=1)
    cache.pack([(0, ("0", "old"))])
    assert cache.read([0])[0].text == "old"
    cache.drop([0])
    assert cache.read([0])[0].text == "text 0"
    cache.pack([(0, ("0", "newer"))])
    cache.drop([])
    assert cache.read([0])[0].text == "text 0"  # the whole record of the last read stands


def test_a_row_that_is_gone_is_missing():
    assert RecordCache(Table(0).read, unpack).read([7]) == {}
