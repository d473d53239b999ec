"""Records of recent recalls: the same few memories come up again and again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from olav_core.records import MemoryRecord

#: Records kept, the oldest going first.
SIZE = 1_024


class RecordCache:
    """Reads records by row id through `source` and keeps them until they are dropped. Thread-safe."""

    def __init__(self, source: Callable[[Sequence[int]], Mapping[int, MemoryRecord]]) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._records: dict[int, MemoryRecord] = {}
        self._drops = 0

    def read(self, rowids: Sequence[int]) -> Mapping[int, MemoryRecord]:
        """Return the records of row ids; one that the table does not hold any more is missing."""
        with self._lock:
            found = {rowid: self._records[rowid] for rowid in rowids if rowid in self._records}
            drops = self._drops
        missing = [rowid for rowid in dict.fromkeys(rowids) if rowid not in found]
        if missing:
            read = self._source(missing)
            found |= read
            with self._lock:
                if drops == self._drops:  # else what was read may be older than what was dropped
                    self._records |= read
                    while len(self._records) > SIZE:
                        del self._records[next(iter(self._records))]
        return found

    def drop(self, rowids: Iterable[int]) -> None:
        """Forget rows that changed or were deleted."""
        with self._lock:
            self._drops += 1
            for rowid in rowids:
                self._records.pop(rowid, None)
