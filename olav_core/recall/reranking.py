"""Reranking: the rerankers' order of what passed the gates."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from olav_core.index.pool import Candidate, Pool
    from olav_core.recall.chain import Chain
    from olav_core.recall.query import Query
    from olav_core.recall.run import Run


def rerank(chain: Chain, query: Query, pool: Pool, candidates: list[Candidate], run: Run) -> list[Candidate]:
    """Return the candidates in the rerankers' order; a failing reranker leaves the order as it was.

    Those whose memory was deleted meanwhile go missing when a reranker asks for records.
    """
    for name, reranker in chain.rerankers.items():
        spec = chain.reranker_specs[name]
        head, tail = candidates[: spec.depth], candidates[spec.depth :]
        if spec.needs_record or spec.uses_tokens:
            pool.load(head)
        candidates = head + tail
        if len(head) < 2:
            break
        try:
            scores = [float(score) for score in reranker.rerank(query, head)]
            if len(scores) != len(head) or not all(map(math.isfinite, scores)):
                raise ValueError(f"{len(scores)} scores for {len(head)} candidates, or one is not finite")
        except Exception as error:
            run.failed(name, error)
            continue
        for candidate, score in zip(head, scores, strict=True):
            candidate.score = score
        head.sort(key=attrgetter("score"), reverse=True)
        candidates = head + tail
    return candidates
