"""The scan: a dot product of every resident row with the query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float32]

#: Matrix elements of one product. From 460,800 on OpenBLAS (interface/gemv.c) starts threads that wait for
#: one another: with a model on the same cores 6.6 ms instead of 0.2 ms at 10,000 x 384. The scan is bound by
#: memory (5 ms at 100,000 rows), so threads of its own gained nothing either.
PART_ELEMENTS = 400_000


def scan(blocks: Sequence[FloatArray], vector: FloatArray, out: FloatArray) -> None:
    """Write the dot products of the blocks' rows with `vector` float32 [d] to `out` float32 [rows]."""
    import numpy as np

    step = max(1, PART_ELEMENTS // max(len(vector), 1))
    done = 0
    for block in blocks:
        for first in range(0, len(block), step):
            part = block[first : first + step]
            np.dot(part, vector, out=out[done : done + len(part)])
            done += len(part)
