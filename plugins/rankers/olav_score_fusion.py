"""Fusion by score: cosine plus a weighted share of the query's information found in the words.

Scores, unlike ranks, keep a leg that knows nothing from outvoting one that does: a query in another
language than the memory has a BM25 share near 0, and the cosine decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from olav_core import RankerSpec, hookimpl

if TYPE_CHECKING:
    from olav_core import FloatArray, Options, Pool, Query

#: Weight of each leg; a leg that is not named counts 1.
WEIGHTS = {"vector": 1.0, "bm25": 1.0}


class ScoreFusion:
    """Option `weights`: leg id -> weight."""

    def __init__(self, options: Options) -> None:
        self.weights = {**WEIGHTS, **options.get("weights", {})}

    def fuse(self, query: Query, pool: Pool, legs: Mapping[str, FloatArray]) -> FloatArray:
        del query, pool
        weighted = [scores * self.weights.get(leg, 1.0) for leg, scores in legs.items()]
        total = weighted[0]
        for scores in weighted[1:]:
            total = total + scores
        return total


@hookimpl
def olav_register_rankers() -> list[RankerSpec]:
    return [
        RankerSpec(
            id="score_fusion",
            stage="fuse",
            purpose="Weighted sum of the legs' scores",
            factory=ScoreFusion,
        )
    ]
