"""Scoring: the legs' scores for every row, fused and boosted, and the best rows as candidates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from olav_core.embedding.distance import canonical_array
from olav_core.errors import EmbeddingSpaceMismatchError
from olav_core.index.candidate_columns import CandidateColumns
from olav_core.index.candidates import Candidates
from olav_core.index.pool import best_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray
    from olav_core.index.pool import Pool
    from olav_core.recall.chain import Chain
    from olav_core.recall.query import Query
    from olav_core.recall.run import Run
    from olav_core.specs import CategorySpec


def leg_scores(chain: Chain, query: Query, pool: Pool, run: Run) -> dict[str, FloatArray]:
    """Return the scores of every leg that ran, float32 [size of the pool]; a failing leg is noted."""
    legs: dict[str, FloatArray] = {}
    waited_before = run.timings_ms.get("embed_wait", 0.0)
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
) -> Candidates:
    """Return the best `per_category` rows of every category, and the best of all that the rerankers see, by
    falling score, with distances and ranks."""
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
        rows = _top(pool, scores, per_category, chain.depth)
        # What no leg knows anything of is no candidate: a quota would take it for a poor match.
        known = np.any([boosts[rows] != 0, *(leg[rows] != 0 for leg in legs.values())], axis=0)
        if not known.all():
            rows = rows[known]
        distances = _distances(pool, query_vector, rows)
        columns = CandidateColumns(
            rows=rows,
            ids=pool.ids_of(rows),
            category_codes=pool.category_codes[rows],
            categories=pool.categories,
            scope_codes=pool.scope_codes[rows],
            scopes=pool.scopes,
            scores=scores[rows],
            fused=fused[rows],
            boosts=boosts[rows],
            distances=distances,
            canonical_distances=canonical_array(distances, query.scale)
            if query.scale
            else np.full(len(rows), np.nan),
            keyword_strengths=_keyword_strengths(pool, query.text, rows),
            leg_scores={name: leg[rows] for name, leg in legs.items()},
            pool=pool,
        )
    return Candidates(columns, np.arange(len(rows)))


def _top(pool: Pool, scores: FloatArray, per_category: int, overall: int) -> NDArray[np.int64]:
    best = pool.best(scores, per_category)
    if overall > per_category:
        eligible = np.flatnonzero(pool.eligible)
        if len(eligible) > overall:
            eligible = eligible[best_of(scores[eligible], overall)]
        best = np.union1d(best, eligible)
    return best[np.argsort(-scores[best], kind="stable")]


def _distances(pool: Pool, vector: FloatArray | None, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    if vector is None or not len(rows):  # an empty index does not know its dimension
        return np.full(len(rows), np.nan)
    distances = np.maximum(2.0 - 2.0 * pool.cosine(vector)[rows], 0.0)
    return np.asarray(distances, dtype=np.float64)


def _keyword_strengths(pool: Pool, text: str, rows: NDArray[np.int64]) -> FloatArray:
    found, values = pool.keyword_hits(text)
    if not len(found):
        return np.zeros(len(rows), dtype=np.float32)
    strengths = np.zeros(pool.size, dtype=np.float32)
    strengths[found] = values
    return strengths[rows]


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
