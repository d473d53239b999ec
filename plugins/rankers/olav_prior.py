"""Reranker `prior`: between memories that match alike, the fresher and the surer one comes first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from olav_core import RankerSpec, hookimpl

if TYPE_CHECKING:
    from olav_core import Candidate, Options, Query

#: Share of its score that a memory loses to age, after many half-lives, and to a confidence of 0.
RECENCY = 0.3
CONFIDENCE = 0.1
DEPTH = 64


class Prior:
    """Options `recency` and `confidence`. Age counts where the category has a `half_life`, and never for what
    operators wrote (origin `directive`): a guide does not get less right by waiting."""

    def __init__(self, options: Options) -> None:
        self.recency = float(options.get("recency", RECENCY))
        self.confidence = float(options.get("confidence", CONFIDENCE))

    def rerank(self, query: Query, candidates: Sequence[Candidate]) -> list[float]:
        return [candidate.score - self._loss(query, candidate) for candidate in candidates]

    def _loss(self, query: Query, candidate: Candidate) -> float:
        record = candidate.record
        loss = self.confidence * (1.0 - record.confidence)
        spec = query.categories.get(candidate.category)
        half_life = spec.half_life if spec is not None else None
        if half_life is not None and record.origin != "directive" and record.timestamp is not None:
            age = max(query.now - record.timestamp.timestamp(), 0.0) / half_life.total_seconds()
            loss += self.recency * (1.0 - 0.5**age)
        return loss * max(candidate.score, 0.0)


@hookimpl
def olav_register_rankers() -> list[RankerSpec]:
    return [
        RankerSpec(
            id="prior",
            stage="rerank",
            purpose="Recency, by the category's half-life, and confidence",
            factory=Prior,
            priority=80,
            depth=DEPTH,
        )
    ]
