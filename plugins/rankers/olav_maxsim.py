"""Reranker `maxsim`: late interaction on the embedder's own token vectors.

MaxSim is ColBERT's score (Khattab and Zaharia, SIGIR 2020): every token of the query takes the best cosine
with a token of the memory, and the mean over the query's tokens counts. It needs no second model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from olav_core import RankerSpec, hookimpl

if TYPE_CHECKING:
    from olav_core import Candidate, FloatArray, Options, Query

#: Weight beside a score of score_fusion (cosine plus BM25 share); docs/decisions.md.
WEIGHT = 2.0
#: How many of the best candidates are compared.
DEPTH = 64
#: Multiplications of one product. From 262,144 on OpenBLAS starts threads that spin for one another, and with
#: a model on the same cores a recall waits a hundred milliseconds for them.
PRODUCT = 200_000


class MaxSim:
    """Option `weight`. A candidate whose token vectors are still being made is given what its cosine lets
    expect, so that a store in the middle of catching up ranks no worse than without."""

    def __init__(self, options: Options) -> None:
        self.weight = float(options.get("weight", WEIGHT))

    def rerank(self, query: Query, candidates: Sequence[Candidate]) -> list[float]:
        if not candidates:
            return []
        asked, told = query.tokens(candidates)
        if not len(asked) or all(tokens is None for tokens in told):
            return [candidate.score for candidate in candidates]
        found = _similarities(asked, told)
        cosines = [candidate.leg_scores.get("vector", 0.0) for candidate in candidates]
        known = [(score, cosine) for score, cosine in zip(found, cosines, strict=True) if score is not None]
        above = sum(score - cosine for score, cosine in known) / len(known)
        return [
            candidate.score + self.weight * (cosine + above if score is None else score)
            for candidate, score, cosine in zip(candidates, found, cosines, strict=True)
        ]


def _similarities(asked: FloatArray, told: Sequence[FloatArray | None]) -> list[float | None]:
    """Return each text's MaxSim with the query's tokens float32 [t, d]; 0 for a text without tokens."""
    return [None if tokens is None else _similarity(asked, tokens) for tokens in told]


def _similarity(asked: FloatArray, tokens: FloatArray) -> float:
    import numpy as np

    if not len(tokens):
        return 0.0
    rows = max(1, PRODUCT // asked.size)
    best = np.full(len(asked), -1.0, np.float32)
    for start in range(0, len(tokens), rows):
        np.maximum(best, (asked @ tokens[start : start + rows].T).max(axis=1), out=best)
    return float(best.mean())


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
