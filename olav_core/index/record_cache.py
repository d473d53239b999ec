"""Records in memory: whole ones of recent recalls, packed ones of as many rows as fit."""

from __future__ import annotations

import marshal
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from olav_core.records import MemoryRecord

#: Records kept whole, the oldest going first.
SIZE = 1_024
#: Bytes of packed records: every row of 100,000 short memories. A read of 13 rows from the table takes
#: 2-5 ms and wakes three threads; unpacking them takes 0.1 ms.
PACKED_BYTES = 96 * 2**20
#: What a packed record costs beside its bytes: object header, dict entry, row id.
_OVERHEAD = 160


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
    ) -> None:
        self._source = source
        self._unpack = unpack
        self._limit = packed_bytes
        self._lock = threading.Lock()
        self._records: dict[int, MemoryRecord] = {}
        self._packed: dict[int, bytes] = {}
        self._bytes = 0
        self._drops = 0

    def read(self, rowids: Sequence[int]) -> Mapping[int, MemoryRecord]:
        """Return the records of row ids; one that the table does not hold any more is missing."""
        with self._lock:
            found = {rowid: self._records[rowid] for rowid in rowids if rowid in self._records}
            packed = {
                rowid: self._packed[rowid] for rowid in rowids if rowid not in found and rowid in self._packed
            }
            drops = self._drops
        read = {rowid: self._unpack(marshal.loads(cells)) for rowid, cells in packed.items()}
        found |= read
        missing = [rowid for rowid in dict.fromkeys(rowids) if rowid not in found]
        if missing:
            read |= self._source(missing)
            found |= read
        if read:
            with self._lock:
                if drops == self._drops:  # else what was read may be older than what was dropped
                    self._records |= read
                    while len(self._records) > SIZE:
                        del self._records[next(iter(self._records))]
        return found

    def fetch(self, rowids: Sequence[int]) -> None:
        """Read from the source, at once, those that are not in memory."""
        with self._lock:
            missing = [rowid for rowid in rowids if rowid not in self._records and rowid not in self._packed]
        if missing:
            self.read(missing)

    def pack(self, rows: Iterable[tuple[int, Sequence[Any]]]) -> None:
        """Keep (row id, cells) of rows while there is room; cells are what `marshal` can write."""
        with self._lock:
            for rowid, cells in rows:
                if self._bytes >= self._limit:
                    return
                self._forget(rowid)
                packed = marshal.dumps(tuple(cells))
                self._packed[rowid] = packed
                self._bytes += len(packed) + _OVERHEAD

    def drop(self, rowids: Iterable[int]) -> None:
        """Forget rows that changed or were deleted."""
        with self._lock:
            self._drops += 1
            for rowid in rowids:
                self._records.pop(rowid, None)
                self._forget(rowid)

    def _forget(self, rowid: int) -> None:
        packed = self._packed.pop(rowid, None)
        if packed is not None:
            self._bytes -= len(packed) + _OVERHEAD
