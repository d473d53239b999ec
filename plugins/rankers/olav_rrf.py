"""Reciprocal rank fusion: sum over the legs of 1 / (k + rank)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from olav_core import RankerSpec, hookimpl

if TYPE_CHECKING:
    from olav_core import FloatArray, Options, Pool, Query

#: Cormack, Clarke, Buettcher (SIGIR 2009) use 60; smaller stores rank better with 10 (docs/decisions.md).
K = 10
#: Ranks below this add next to nothing and are not computed.
DEPTH = 1000


class ReciprocalRankFusion:
    """Option `k`."""

    def __init__(self, options: Options) -> None:
        self.k = float(options.get("k", K))

    def fuse(self, query: Query, pool: Pool, legs: Mapping[str, FloatArray]) -> FloatArray:
        import numpy as np

        total = np.zeros(pool.size, dtype=np.float32)
        for scores in legs.values():
            found = np.flatnonzero(pool.eligible & (scores > 0))
            if len(found) > DEPTH:
                found = found[np.argpartition(-scores[found], DEPTH)[:DEPTH]]
            ranked = found[np.argsort(-scores[found], kind="stable")]
            total[ranked] += 1.0 / (self.k + 1.0 + np.arange(len(ranked), dtype=np.float32))
        return total


@hookimpl
def olav_register_rankers() -> list[RankerSpec]:
    return [
        RankerSpec(
            id="rrf",
            stage="fuse",
            purpose="Reciprocal rank fusion, the alternative to score_fusion",
            factory=ReciprocalRankFusion,
        )
    ]
