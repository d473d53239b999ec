"""Records in memory: whole ones of recent recalls, packed ones of as many rows as fit."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from olav_core.index.packed_rows import PackedRows
from olav_core.records import MemoryRecord

#: Records kept whole, the oldest going first: about 1.3 KB each. One recall looks at some 100, and making one
#: of its packed cells costs 8 times as much as finding it here.
SIZE = 8_192
#: Bytes of packed records in memory: every row of 100,000 short memories; more lie in a file. A read of 13
#: rows from the table takes 2-5 ms and wakes three threads; unpacking them takes 0.1 ms.
PACKED_BYTES = 96 * 2**20


class RecordCache:
    """Reads records by row id, through `source` when they are not in memory. Thread-safe.

    `unpack` makes a record of the cells that `pack` was given.
    """

    def __init__(
        self,
        source: Callable[[Sequence[int]], Mapping[int, MemoryRecord]],
        unpack: Callable[[Sequence[Any]], MemoryRecord],
        *,
        packed_bytes: int = PACKED_BYTES,
        directory: Path | None = None,
    ) -> None:
        self._source = source
        self._unpack = unpack
        self._lock = threading.Lock()
        self._records: OrderedDict[int, MemoryRecord] = OrderedDict()
        self._packed = PackedRows(packed_bytes, directory)
        self._drops = 0

    def read(self, rowids: Sequence[int]) -> Mapping[int, MemoryRecord]:
        """Return the records of row ids; one that the table does not hold any more is missing."""
        with self._lock:
            records = self._records
            found = {rowid: records[rowid] for rowid in rowids if rowid in records}
            if len(found) == len(rowids):
                return found
            packed = {
                rowid: cells
                for rowid in rowids
                if rowid not in found and (cells := self._packed.get(rowid)) is not None
            }
            drops = self._drops
        read = {rowid: self._unpack(cells) for rowid, cells in packed.items()}
        found |= read
        missing = [rowid for rowid in dict.fromkeys(rowids) if rowid not in found]
        if missing:
            read |= self._source(missing)
            found |= read
        if read:
            with self._lock:
                if drops == self._drops:  # else what was read may be older than what was dropped
                    records.update(read)
                    while len(records) > SIZE:
                        records.popitem(last=False)
        return found

    def fetch(self, rowids: Sequence[int]) -> None:
        """Read from the source, at once, those that are not in memory."""
        with self._lock:
            missing = [row for row in rowids if row not in self._records and row not in self._packed]
        if missing:
            self.read(missing)

    def pack(self, rows: Iterable[tuple[int, Sequence[Any]]]) -> None:
        """Keep (row id, cells) of rows while there is room."""
        with self._lock:
            for rowid, cells in rows:
                self._packed.drop(rowid)
                if not self._packed.put(rowid, cells):
                    return

    def drop(self, rowids: Iterable[int]) -> None:
        """Forget rows that changed or were deleted."""
        with self._lock:
            self._drops += 1
            for rowid in rowids:
                self._records.pop(rowid, None)
                self._packed.drop(rowid)
