"""Reranker `maxsim`: late interaction on the embedder's own token vectors.

MaxSim is ColBERT's score (Khattab and Zaharia, SIGIR 2020): every token of the query takes the best cosine
with a token of the memory, and their mean counts. Here a token weighs as much as its cosines tell the
candidates apart (their standard deviation): "what" and "the" fit all of them alike. It needs no second model.

Memories change places within their category only, and the best of each keeps the best score it had: a
captured question, which holds the very words that are asked, must not take a guide's slot.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from olav_core import RankerSpec, hookimpl

if TYPE_CHECKING:
    from olav_core import Candidate, Options, Query

#: Weight beside a score of score_fusion (cosine plus BM25 share); docs/quality.md.
WEIGHT = 1.0
#: How many of the best candidates are compared, and how many are given a score: what the next reranker sees
#: must be on one scale. 100 compared candidates find no more (docs/quality.md).
COMPARED = 48
DEPTH = 100
#: Added to the weight of every token of the query, so that one candidate alone has a mean too.
LEAST = 1e-3


class MaxSim:
    """Options `weight` and `compared`. A candidate that is not compared, for it stands too far back or its
    token vectors are still being made, is given what its cosine lets expect."""

    def __init__(self, options: Options) -> None:
        self.weight = float(options.get("weight", WEIGHT))
        self.compared = int(options.get("compared", COMPARED))

    def rerank(self, query: Query, candidates: Sequence[Candidate]) -> list[float]:
        if not candidates:
            return []
        compared = query.compare_tokens(candidates[: self.compared])
        if not compared.cosines.size:
            return [candidate.score for candidate in candidates]
        best, known = compared.best(), compared.counts >= 0
        weights = best[known].std(axis=0) + LEAST
        scores = (best @ (weights / weights.sum())).tolist()
        found = [score if told else None for score, told in zip(scores, known.tolist(), strict=True)]
        found += [None] * (len(candidates) - len(found))
        if None in found:
            found = _with_expected(found, [each.leg_scores.get("vector", 0.0) for each in candidates])
        pairs = zip(candidates, found, strict=True)
        return _held(candidates, [each.score + self.weight * (score or 0.0) for each, score in pairs])


def _held(candidates: Sequence[Candidate], scores: Sequence[float]) -> list[float]:
    """Return the scores, each category's moved so that its best is what it was before."""
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    for candidate, score in zip(candidates, scores, strict=True):
        before[candidate.category] = max(before.get(candidate.category, -math.inf), candidate.score)
        after[candidate.category] = max(after.get(candidate.category, -math.inf), score)
    pairs = zip(candidates, scores, strict=True)
    return [score + before[each.category] - after[each.category] for each, score in pairs]


def _with_expected(found: Sequence[float | None], cosines: Sequence[float]) -> list[float | None]:
    """Return the scores with the missing ones as far above their cosines as the others are on average."""
    pairs = list(zip(found, cosines, strict=True))
    known = [score - cosine for score, cosine in pairs if score is not None]
    above = sum(known) / len(known)
    return [cosine + above if score is None else score for score, cosine in pairs]


@hookimpl
def olav_register_rankers() -> list[RankerSpec]:
    return [
        RankerSpec(
            id="maxsim",
            stage="rerank",
            purpose="Late interaction: each token of the query with the best token of the memory",
            factory=MaxSim,
            priority=10,
            depth=DEPTH,
            uses_tokens=True,
        )
    ]
