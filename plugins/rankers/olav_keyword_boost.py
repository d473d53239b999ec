"""Keyword boost: a memory whose own keywords stand in the query is lifted, within a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import RankerSpec, hookimpl

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from olav_core import FloatArray, Options, Pool, Query

#: The most that keywords add to a fused score (cosine plus BM25 share, about 0 to 2).
WEIGHT = 0.25


class KeywordBoost:
    """Option `weight`: the bound."""

    def __init__(self, options: Options) -> None:
        self.weight = float(options.get("weight", WEIGHT))

    def boosts(self, query: Query, pool: Pool) -> tuple[NDArray[np.int64], FloatArray]:
        rows, strengths = pool.keyword_hits(query.text)
        return rows, strengths * self.weight


@hookimpl
def olav_register_rankers() -> list[RankerSpec]:
    return [
        RankerSpec(
            id="keyword_boost",
            stage="boost",
            purpose="Lift memories whose keywords stand in the query; only categories that ask for it",
            factory=KeywordBoost,
        )
    ]
