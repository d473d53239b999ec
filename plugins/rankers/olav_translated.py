"""Leg `translated`: how much of the query a memory says in another language, by the lexicons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import RankerSpec, hookimpl

if TYPE_CHECKING:
    from olav_core import FloatArray, Options, Pool, Query

#: The most that a translated query counts, beside a BM25 share of 0 to 1.
WEIGHT = 1.0
#: What a part of the query without a translation counts in the whole, beside 1 of a translated part: such
#: parts are particles and endings more often than what a query is about.
UNKNOWN = 0.5


class TranslatedLeg:
    """Options `weight` and `unknown`."""

    def __init__(self, options: Options) -> None:
        self.weight = float(options.get("weight", WEIGHT))
        self.unknown = float(options.get("unknown", UNKNOWN))

    def scores(self, query: Query, pool: Pool) -> FloatArray:
        import numpy as np

        translation = query.translation
        known = translation.coverage
        if not known:
            return np.zeros(pool.size, dtype=np.float32)
        share = known / (known + self.unknown * (1 - known))
        return pool.concepts(translation.concepts) * np.float32(self.weight * share)


@hookimpl
def olav_register_rankers() -> list[RankerSpec]:
    return [
        RankerSpec(
            id="translated",
            stage="retrieve",
            purpose="Words that mean the query's in another language, by the installed lexicons",
            factory=TranslatedLeg,
            priority=42,
        )
    ]
