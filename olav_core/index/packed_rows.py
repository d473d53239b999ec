"""Rows packed into blocks of memory of their own."""

from __future__ import annotations

import marshal
import mmap
from collections.abc import Sequence
from typing import Any

#: Memory is taken in blocks of this size, apart from the heap: small objects that live long would keep what
#: a bulk read frees between them from the system (30 MB at 100,000 rows).
BLOCK_BYTES = 4 * 2**20
#: A longer row is not packed: it is rare, and reading it costs more than finding it.
MAX_ROW_BYTES = 2**16
#: Of a row's place: key, value and slot of a dict.
_PLACE_BYTES = 110


class PackedRows:
    """Row id -> cells that `marshal` can write, up to `limit` bytes. Not thread-safe."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._blocks: list[memoryview] = []
        self._end = BLOCK_BYTES  # within the last block
        self._places: dict[int, int] = {}
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, rowid: int) -> bool:
        return rowid in self._places

    def put(self, rowid: int, cells: Sequence[Any]) -> bool:
        """Keep a row that is not kept yet; False when there is no room for any more."""
        row = marshal.dumps(tuple(cells))
        if len(row) > MAX_ROW_BYTES:
            return True
        if self._end + len(row) > BLOCK_BYTES:
            used = (len(self._blocks) + 1) * BLOCK_BYTES + len(self._places) * _PLACE_BYTES
            if used > self._limit:
                return False
            self._blocks.append(memoryview(mmap.mmap(-1, BLOCK_BYTES)))
            self._end = 0
        self._places[rowid] = (len(self._blocks) - 1) * BLOCK_BYTES + self._end
        self._blocks[-1][self._end : self._end + len(row)] = row
        self._end += len(row)
        return True

    def get(self, rowid: int) -> Sequence[Any] | None:
        """Return the cells of a row, None for one that is not kept."""
        place = self._places.get(rowid)
        if place is None:
            return None
        block, start = divmod(place, BLOCK_BYTES)
        # marshal stops at the end of the row by itself.
        cells: Sequence[Any] = marshal.loads(self._blocks[block][start:])
        return cells

    def drop(self, rowid: int) -> None:
        """Forget a row; an unknown one is no error. Room is made anew when half of the rows are gone."""
        if self._places.pop(rowid, None) is None:
            return
        self._dropped += 1
        if self._dropped > max(len(self._places), 1_000):
            kept = PackedRows(self._limit)
            for other in self._places:
                kept.put(other, self.get(other) or ())
            self.__dict__.update(kept.__dict__)
