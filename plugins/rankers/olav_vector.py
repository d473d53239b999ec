"""Leg `vector`: cosine between the query's and each memory's centred vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import RankerSpec, hookimpl

if TYPE_CHECKING:
    from olav_core import FloatArray, Options, Pool, Query


class VectorLeg:
    def __init__(self, options: Options) -> None:
        del options

    def scores(self, query: Query, pool: Pool) -> FloatArray:
        return pool.cosine(query.vector)


@hookimpl
def olav_register_rankers() -> list[RankerSpec]:
    return [
        RankerSpec(
            id="vector",
            stage="retrieve",
            purpose="Cosine in the centred embedding space: finds other words for the same thing",
            factory=VectorLeg,
            priority=60,  # after the lexical legs: they run while the query is being embedded
        )
    ]
