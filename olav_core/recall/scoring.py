"""Scoring: the legs' scores for every row, fused and boosted, and the best rows as candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from olav_core.embedding.distance import canonical
from olav_core.errors import EmbeddingSpaceMismatchError

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray
    from olav_core.index.pool import Candidate, Pool
    from olav_core.recall.chain import Chain
    from olav_core.recall.query import Query
    from olav_core.recall.run import Run
    from olav_core.specs import CategorySpec


def leg_scores(chain: Chain, query: Query, pool: Pool, run: Run) -> dict[str, FloatArray]:
    """Return the scores of every leg that ran, float32 [size of the pool]; a failing leg is noted."""
    legs: dict[str, FloatArray] = {}
    waited_before = 0.0
    for name, leg in chain.legs.items():
        try:
            with run.stage(name):
                legs[name] = _row_scores(leg.scores(query, pool), pool)
        except EmbeddingSpaceMismatchError:
            raise
        except Exception as error:
            run.failed(name, error)
        waited = run.timings_ms.get("embed_wait", 0.0)
        run.timings_ms[name] -= waited - waited_before
        waited_before = waited
    return legs


def best_candidates(
    chain: Chain,
    categories: Mapping[str, CategorySpec],
    query: Query,
    query_vector: FloatArray | None,
    pool: Pool,
    legs: Mapping[str, FloatArray],
    per_category: int,
    run: Run,
) -> list[Candidate]:
    """Return the best `per_category` rows of every category, by falling score, with distances and ranks."""
    with run.stage("fuse"):
        try:
            fused = _row_scores(chain.fuser.fuse(query, pool, legs), pool)
        except Exception as error:
            run.failed("fuse", error)
            fused = next(iter(legs.values()))
    with run.stage("boost"):
        boosts = _boosts(chain, categories, query, pool, run)
        scores = fused + boosts
    with run.stage("candidates"):
        candidates = pool.top(scores, per_category=per_category)
        rows = np.fromiter((candidate.row for candidate in candidates), dtype=np.int64)
        # What no leg knows anything of is no candidate: a quota would take it for a poor match.
        known = np.any([boosts[rows] != 0, *(leg[rows] != 0 for leg in legs.values())], axis=0)
        if not known.all():
            candidates = [candidates[i] for i in np.flatnonzero(known)]
            rows = rows[known]
        distances: Sequence[float | None] = [None] * len(candidates)
        if query_vector is not None and candidates:  # an empty index does not know its dimension
            distances = np.maximum(2.0 - 2.0 * pool.cosine(query_vector)[rows], 0.0).tolist()
        keywords = dict(zip(*(found.tolist() for found in pool.keyword_hits(query.text)), strict=True))
        leg_scores = _by_candidate({name: leg[rows].tolist() for name, leg in legs.items()})
        leg_ranks = _by_candidate({name: _ranks(leg[rows]) for name, leg in legs.items()})
        columns = zip(
            candidates, fused[rows].tolist(), boosts[rows].tolist(), distances, leg_scores, leg_ranks,
            strict=True,
        )  # fmt: skip
        for candidate, score, boost, distance, own_scores, own_ranks in columns:
            candidate.fused, candidate.boost = score, boost
            candidate.leg_scores, candidate.leg_ranks = own_scores, own_ranks
            candidate.keyword_strength = keywords.get(candidate.row, 0.0)
            if distance is not None:
                candidate.distance = distance
                candidate.canonical_distance = canonical(distance, query.scale) if query.scale else None
    return candidates


def _boosts(
    chain: Chain, categories: Mapping[str, CategorySpec], query: Query, pool: Pool, run: Run
) -> FloatArray:
    """Return the sum of all boosts per row; a booster reaches only categories that name it."""
    total = np.zeros(pool.size, dtype=np.float32)
    for name, booster in chain.boosters.items():
        # A category whose plug-in is gone is still in the pool, though none of its rows is eligible.
        boosts = [categories[c].boosts if c in categories else () for c in pool.categories]
        allowed = [name in names for names in boosts]
        try:
            rows, amounts = booster.boosts(query, pool)
            if not np.isfinite(amounts).all():
                raise ValueError("a boost is not finite")
            mine = (
                np.asarray(allowed, dtype=bool)[pool.category_codes[rows]] if len(rows) else np.zeros(0, bool)
            )
            np.add.at(total, rows[mine], amounts[mine])
        except Exception as error:
            run.failed(name, error)
    return total


def _row_scores(scores: FloatArray, pool: Pool) -> FloatArray:
    """Return a ranker's scores as they are, or raise ValueError: not one finite number per row."""
    if np.shape(scores) != (pool.size,):
        raise ValueError(f"gave scores of shape {np.shape(scores)} for {pool.size} rows")
    if not np.isfinite(scores).all():
        raise ValueError("gave a score that is not finite")
    return scores


def _by_candidate(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return one mapping per candidate of values by leg."""
    names = list(columns)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _ranks(scores: FloatArray) -> list[int | None]:
    """Return each score's rank from 1, None where it is not positive."""
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    pairs = zip(ranks.tolist(), (scores > 0).tolist(), strict=True)
    return [rank if positive else None for rank, positive in pairs]
