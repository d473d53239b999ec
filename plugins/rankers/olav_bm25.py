"""Leg `bm25`: how much of the query's information the memory's own words carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import RankerSpec, hookimpl

if TYPE_CHECKING:
    from olav_core import FloatArray, Options, Pool, Query


class Bm25Leg:
    def __init__(self, options: Options) -> None:
        del options

    def scores(self, query: Query, pool: Pool) -> FloatArray:
        return pool.lexical(query.terms)


@hookimpl
def olav_register_rankers() -> list[RankerSpec]:
    return [
        RankerSpec(
            id="bm25",
            stage="retrieve",
            purpose="BM25 over words, identifiers and CJK bigrams, as a share of the query's total idf",
            factory=Bm25Leg,
            priority=40,
        )
    ]
