"""Which queries of a suite are asked: by split, kind and number, the same ones everywhere."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from attrs import evolve

from olav_core import RecordError, Suite, SuiteQuery


def split_of(query: SuiteQuery) -> str:
    """Return the query's half: as marked, else by the parity of sha256(qid): even is dev, odd is test."""
    if query.split:
        return query.split
    return "dev" if int(hashlib.sha256(query.qid.encode()).hexdigest(), 16) % 2 == 0 else "test"


def select_queries(
    suite: Suite,
    *,
    split: str | None = None,
    kind: str | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> Suite:
    """Return the suite with fewer queries: of one split or kind, and at most `limit`, drawn by the hash of
    seed and qid. Raises RecordError when none is left."""

    def rank(query: SuiteQuery) -> str:
        return hashlib.sha256(f"{seed}:{query.qid}".encode()).hexdigest()

    chosen: Sequence[SuiteQuery] = [
        query
        for query in suite.queries
        if (split is None or split_of(query) == split) and (kind is None or query.kind == kind)
    ]
    if limit is not None and limit < len(chosen):
        drawn = {query.qid for query in sorted(chosen, key=rank)[:limit]}
        chosen = [query for query in chosen if query.qid in drawn]
    if not chosen:
        kinds = ", ".join(sorted({query.kind for query in suite.queries} - {""})) or "none"
        raise RecordError(
            f"Suite {suite.id} has no query of split {split or 'any'} and kind {kind or 'any'}. "
            f"It has {len(suite.queries)} queries; kinds: {kinds}."
        )
    return evolve(suite, queries=tuple(chosen))
