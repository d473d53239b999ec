"""Rows packed into blocks of memory of their own, and of a file when there are many."""

from __future__ import annotations

import marshal
import mmap
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from olav_core.index.scratch import scratch_file

#: Memory is taken in blocks of this size, apart from the heap: small objects that live long would keep what
#: a bulk read frees between them from the system (30 MB at 100,000 rows).
BLOCK_BYTES = 4 * 2**20
#: A longer row is not packed: it is rare, and reading it costs more than finding it.
MAX_ROW_BYTES = 2**16
#: The most that the file takes.
FILE_BYTES = 2 * 2**30
#: Of a row's place: key, value and slot of a dict.
_PLACE_BYTES = 110


class PackedRows:
    """Row id -> cells that `marshal` can write: `limit` bytes in memory, then as many in a nameless file of
    `directory` as FILE_BYTES and the disk allow (None: no file). Not thread-safe."""

    def __init__(self, limit: int, directory: Path | None = None) -> None:
        self._limit = limit
        self._directory = directory
        self._file: IO[bytes] | None = None
        self._mapped: mmap.mmap | None = None  # the last block, when it lies in the file
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
            block = self._new_block()
            if block is None:
                return False
            self._blocks.append(memoryview(block))
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
            kept = PackedRows(self._limit, self._directory)
            for other in self._places:
                kept.put(other, self.get(other) or ())
            self.__dict__.update(kept.__dict__)

    def _new_block(self) -> mmap.mmap | None:
        """Return an empty block, None when there is room for none."""
        used = (len(self._blocks) + 1) * BLOCK_BYTES + len(self._places) * _PLACE_BYTES
        if used <= self._limit:
            return mmap.mmap(-1, BLOCK_BYTES)
        if self._directory is None or used > self._limit + FILE_BYTES:
            return None
        try:
            if self._file is None:
                self._file = scratch_file(self._directory)
            if self._mapped is not None:  # full: it need not count as this process's memory any more
                self._mapped.madvise(mmap.MADV_DONTNEED)
            start = self._file.seek(0, os.SEEK_END)
            os.posix_fallocate(self._file.fileno(), start, BLOCK_BYTES)  # a full disk shows here, not later
            self._mapped = mmap.mmap(self._file.fileno(), BLOCK_BYTES, offset=start)
            return self._mapped
        except (OSError, AttributeError):
            self._directory = None
            return None
