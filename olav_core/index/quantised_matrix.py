"""The matrix of a large store: int8 rows in memory, the stored float32 vectors in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from olav_core.index.matrix import CentredMatrix, block_of
from olav_core.index.quantised_rows import Group, QuantisedRows, centred, groups_of
from olav_core.index.stored_rows import StoredRows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray
    from olav_core.index.rows import RowTable

#: Rows that are quantised together (3 MB at 384 dimensions); fewer, the newest, stay float32.
BLOCK_ROWS = 8_192


class QuantisedMatrix:
    """Like CentredMatrix, at one byte a dimension in memory and four in a nameless file of `directory`.

    Raises OSError when the file cannot be made or grown. Call `complete` before `snapshot`.
    """

    def __init__(self, dimension: int, directory: Path | None) -> None:
        self.dimension = dimension
        self.rows = 0
        self._directory = directory
        self._stored = StoredRows(dimension, directory)
        #: The groups of every block in the file, None while it is not quantised.
        self._blocks: list[list[Group] | None] = []
        self._start_tail()

    def append(self, raw: FloatArray, means: FloatArray) -> None:
        """Append raw rows [m, d], centred with the means given per row, [m, d]."""
        done = 0
        while done < len(raw):
            at = self._tail.rows
            part = slice(done, done + BLOCK_ROWS - at)
            count = len(raw[part])
            self._raw_tail[at : at + count] = raw[part]
            self._tail.append(raw[part], means[part])
            if at + count == BLOCK_ROWS:
                self._spill()
            self.rows += count
            done += count

    def complete(self, means: FloatArray, table: RowTable) -> None:
        """Quantise what is not quantised yet, centred with `means` [languages, d]."""
        for number, block in enumerate(self._blocks):
            if block is None:
                first = number * BLOCK_ROWS
                rows = slice(first, first + BLOCK_ROWS)
                vectors = centred(self._stored.read(first, BLOCK_ROWS), means[table.languages[rows]])
                self._blocks[number] = groups_of(first, vectors, table.scopes[rows])

    def recentre(self, old: FloatArray, new: FloatArray, codes: NDArray[np.integer]) -> None:
        """Centre every row with `new[language of the row]` instead of `old[...]`; then call `complete`."""
        self._blocks = [None] * len(self._blocks)
        self._tail.recentre(old, new, codes[self._spilled :])

    def snapshot(self, means: FloatArray, codes: NDArray[np.int8]) -> QuantisedRows:
        """Return the present rows; later changes do not reach them."""
        return QuantisedRows(
            [group for block in self._blocks for group in block or ()],
            self._tail.snapshot(means, codes).blocks,
            self._stored.snapshot(),
            self._raw_tail[: self._tail.rows],
            means,
            codes,
        )

    def raw(self, slots: NDArray[np.int64], means: FloatArray) -> FloatArray:
        """Return the stored vectors of rows, float32 [m, d]."""
        import numpy as np

        del means
        found = np.empty((len(slots), self.dimension), dtype=np.float32)
        late = slots >= self._spilled
        found[~late] = self._stored.snapshot().take(slots[~late])
        found[late] = self._raw_tail[slots[late] - self._spilled]
        return found

    def keep(
        self, slots: NDArray[np.int64], means: FloatArray, codes: NDArray[np.integer]
    ) -> QuantisedMatrix:
        """Return a matrix of only these rows, in this order; call its `complete`."""
        kept = QuantisedMatrix(self.dimension, self._directory)
        for start in range(0, len(slots), BLOCK_ROWS):
            chosen = slots[start : start + BLOCK_ROWS]
            kept.append(self.raw(chosen, means), means[codes[chosen]])
        return kept

    @property
    def _spilled(self) -> int:
        return len(self._blocks) * BLOCK_ROWS

    def _spill(self) -> None:
        """Move the full tail to the file."""
        self._stored.append(self._raw_tail)
        self._blocks.append(None)
        self._start_tail()

    def _start_tail(self) -> None:
        self._tail = CentredMatrix(self.dimension)
        self._raw_tail = block_of(BLOCK_ROWS, self.dimension)
