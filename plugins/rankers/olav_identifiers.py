"""Leg `identifiers`: the query's identifiers, and those that stand beside them in the memories they find.

A ticket leads to the device it was about, a device to its address: what names that address too is near.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import RankerSpec, analyze, hookimpl

if TYPE_CHECKING:
    from olav_core import FloatArray, Options, Pool, Query

#: Weight of what the found identifiers find, beside a BM25 share of 0 to 1.
WEIGHT = 0.3
#: Memories that are read for more identifiers, and identifiers that are taken from them.
SOURCES = 3
FOUND = 12


class IdentifierLeg:
    """Option `weight`. A term with a digit and a letter, a dot or a dash in it is an identifier."""

    def __init__(self, options: Options) -> None:
        self.weight = float(options.get("weight", WEIGHT))

    def scores(self, query: Query, pool: Pool) -> FloatArray:
        import numpy as np

        nothing = np.zeros(pool.size, dtype=np.float32)
        asked = [term for term in query.terms if _is_identifier(term)]
        if not asked or not pool.size:
            return nothing
        direct = np.where(pool.eligible, pool.lexical(asked), np.float32(0))
        best = [int(row) for row in np.argsort(-direct, kind="stable")[:SOURCES] if direct[row] > 0]
        beside = dict.fromkeys(
            term
            for record in pool.records(best)
            for term in analyze(record.search_text)
            if _is_identifier(term)
        )
        found = [term for term in beside if term not in asked][:FOUND]
        return (self.weight * pool.lexical(found)).astype(np.float32) if found else nothing


def _is_identifier(term: str) -> bool:
    return len(term) >= 4 and any(map(str.isdigit, term)) and not term.isdigit()


@hookimpl
def olav_register_rankers() -> list[RankerSpec]:
    return [
        RankerSpec(
            id="identifiers",
            stage="retrieve",
            purpose="Follow the identifiers of a query to those beside them",
            factory=IdentifierLeg,
            priority=45,
        )
    ]
