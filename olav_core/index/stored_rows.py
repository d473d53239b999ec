"""The stored vectors of a large store, in a nameless file: read where they are wanted exactly."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from olav_core.index.scratch import scratch_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray


class StoredRows:
    """Rows float32 [n, d], append-only. Raises OSError when the file cannot be made, grown or read."""

    def __init__(self, dimension: int, directory: Path | None) -> None:
        self.dimension = dimension
        self.rows = 0
        self._file = scratch_file(directory)
        self._mapped: mmap.mmap | None = None

    def append(self, rows: FloatArray) -> None:
        """Write rows [m, d] behind the others: all or none of them."""
        import numpy as np

        data = np.ascontiguousarray(rows, dtype=np.float32).view(np.uint8).data.cast("B")
        written, end = 0, self.rows * self.dimension * 4
        while written < len(data):
            written += os.pwrite(self._file.fileno(), data[written:], end + written)
        self.rows += len(rows)
        # Mapped anew, so that what a snapshot has stays as it is.
        size = self.rows * self.dimension * 4
        self._mapped = mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ) if size else None
        if self._mapped is not None and hasattr(mmap, "MADV_RANDOM"):
            self._mapped.madvise(mmap.MADV_RANDOM)

    def read(self, first: int, count: int) -> FloatArray:
        """Return neighbouring rows; the file's pages do not count as this process's memory."""
        import numpy as np

        width = self.dimension * 4
        data = os.pread(self._file.fileno(), count * width, first * width)
        return np.frombuffer(data, dtype=np.float32).reshape(-1, self.dimension)

    def snapshot(self) -> StoredSnapshot:
        """Return the present rows; later ones do not reach them."""
        import numpy as np

        empty: FloatArray = np.empty((0, self.dimension), dtype=np.float32)
        mapped = self._mapped
        rows = empty if mapped is None else np.frombuffer(mapped, np.float32).reshape(-1, self.dimension)
        return StoredSnapshot(rows, mapped)


@frozen(eq=False)
class StoredSnapshot:
    """The rows that were there at one moment."""

    rows: FloatArray
    _mapped: mmap.mmap | None

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, rows: NDArray[np.int64]) -> FloatArray:
        """Return rows from anywhere, float32 [m, d]."""
        found: FloatArray = self.rows[rows]
        if self._mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._mapped.madvise(mmap.MADV_DONTNEED)  # else every page ever looked at counts as ours
        return found
