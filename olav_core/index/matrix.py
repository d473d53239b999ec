"""The centred matrix: unit vectors of every row, in blocks that a reader may keep while the matrix grows."""

from __future__ import annotations

import mmap
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from attrs import frozen

from olav_core.index.scan import scan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray
    from olav_core.index.rows import RowTable

#: Rows per block (12 MB at 384 dimensions): growth never copies the matrix, centring anew copies one block.
BLOCK_ROWS = 8_192
_STEP = 512


@frozen(eq=False)
class FloatRows:
    """A state of a CentredMatrix: its filled blocks, float32 [<= BLOCK_ROWS, d] each, full ones first."""

    blocks: Sequence[FloatArray]
    #: Whether `cosine` is only near the truth.
    approximate = False

    def cosine(self, vector: FloatArray, size: int, scopes: Collection[int] | None) -> FloatArray:
        """Return the cosine of every row with a unit vector float32 [d]: float32 [size]; `scopes` says whose
        rows alone matter (None: all)."""
        import numpy as np

        scores = np.empty(size, dtype=np.float32)
        scan(self.blocks, vector, scores)
        return scores

    def vector(self, row: int) -> FloatArray:
        """Return the centred unit vector of a row, float32 [d]."""
        found: FloatArray = self.blocks[row // BLOCK_ROWS][row % BLOCK_ROWS]
        return found

    def vectors(self, rows: NDArray[np.int64]) -> FloatArray:
        """Return the centred unit vectors of rows, float32 [m, d]."""
        import numpy as np

        blocks = self.blocks
        return np.stack([blocks[row // BLOCK_ROWS][row % BLOCK_ROWS] for row in rows.tolist()])


class CentredMatrix:
    """Rows float32 [n, d], centred and of unit length, append-only; a centred vector of length 0 stays zero.

    The length before normalising is kept per row, so the raw vector is `row * length + mean` and centring
    anew needs no re-read. Blocks are replaced, never changed below the row count a reader has seen.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.rows = 0
        self._blocks: tuple[FloatArray, ...] = ()
        self._lengths: tuple[FloatArray, ...] = ()

    def append(self, raw: FloatArray, means: FloatArray) -> None:
        """Append raw rows [m, d], centred with the means given per row, [m, d]."""
        import numpy as np

        done = 0
        while done < len(raw):
            at = self.rows % BLOCK_ROWS
            if at == 0:
                self._blocks += (self._block(),)
                self._lengths += (np.empty(BLOCK_ROWS, dtype=np.float32),)
            take = min(BLOCK_ROWS - at, len(raw) - done)
            target = self._blocks[-1][at : at + take]
            np.subtract(raw[done : done + take], means[done : done + take], out=target)
            self._lengths[-1][at : at + take] = _normalise(target)
            self.rows += take
            done += take

    def snapshot(self, means: FloatArray, codes: NDArray[np.int8]) -> FloatRows:
        """Return the present rows; later changes do not reach them."""
        del means, codes
        full = self.rows // BLOCK_ROWS
        rest = self.rows % BLOCK_ROWS
        return FloatRows(self._blocks[:full] + ((self._blocks[full][:rest],) if rest else ()))

    def raw(self, slots: NDArray[np.int64], means: FloatArray) -> FloatArray:
        """Return the raw vectors of rows, float32 [m, d], given the mean each was centred with."""
        import numpy as np

        centred = np.stack([self._blocks[s // BLOCK_ROWS][s % BLOCK_ROWS] for s in slots])
        lengths = np.array([self._lengths[s // BLOCK_ROWS][s % BLOCK_ROWS] for s in slots], dtype=np.float32)
        return np.asarray(centred * lengths[:, None] + means, dtype=np.float32)

    def complete(self, means: FloatArray, table: RowTable) -> None:
        """Nothing is left to be done."""

    def recentre(self, old: FloatArray, new: FloatArray, codes: NDArray[np.integer]) -> None:
        """Centre every row with `new[language of the row]` instead of `old[...]`, and normalise again."""
        import numpy as np

        shift = old - new
        for i, (block, lengths) in enumerate(zip(self._blocks, self._lengths, strict=True)):
            filled = min(self.rows - i * BLOCK_ROWS, BLOCK_ROWS)
            own = codes[i * BLOCK_ROWS : i * BLOCK_ROWS + filled]
            fresh, fresh_lengths = self._block(), np.empty(BLOCK_ROWS, dtype=np.float32)
            for first in range(0, filled, _STEP):
                part = slice(first, min(first + _STEP, filled))
                np.multiply(block[part], lengths[part, None], out=fresh[part])
                fresh[part] += shift[own[part]]
                fresh_lengths[part] = _normalise(fresh[part])
            self._blocks = (*self._blocks[:i], fresh, *self._blocks[i + 1 :])
            self._lengths = (*self._lengths[:i], fresh_lengths, *self._lengths[i + 1 :])

    def keep(self, slots: NDArray[np.int64], means: FloatArray, codes: NDArray[np.integer]) -> CentredMatrix:
        """Return a matrix of only these rows, in this order."""
        import numpy as np

        del means, codes
        kept = CentredMatrix(self.dimension)
        kept.rows = len(slots)
        old_lengths = np.concatenate(self._lengths) if self._lengths else np.empty(0, dtype=np.float32)
        for start in range(0, len(slots), BLOCK_ROWS):
            chosen = slots[start : start + BLOCK_ROWS]
            block = self._block()
            source = chosen // BLOCK_ROWS
            for i in np.unique(source):
                block[np.flatnonzero(source == i)] = self._blocks[i][chosen[source == i] % BLOCK_ROWS]
            lengths = np.empty(BLOCK_ROWS, dtype=np.float32)
            lengths[: len(chosen)] = old_lengths[chosen]
            kept._blocks += (block,)
            kept._lengths += (lengths,)
        return kept

    def _block(self) -> FloatArray:
        return block_of(BLOCK_ROWS, self.dimension)


def block_of(rows: int, dimension: int) -> FloatArray:
    """Return an empty block [rows, dimension] in memory of its own: malloc would keep replaced blocks from
    the system."""
    import numpy as np

    size = rows * max(dimension, 1) * 4
    return np.frombuffer(mmap.mmap(-1, size), dtype=np.float32).reshape(rows, -1)


def _normalise(rows: FloatArray) -> FloatArray:
    """Normalise rows in place and return their lengths; a row below 1e-6 becomes zero."""
    import numpy as np

    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows))
    rows *= np.where(lengths > 1e-6, 1 / np.maximum(lengths, 1e-6), 0)[:, None]
    return np.asarray(lengths, dtype=np.float32)
