"""Gating: what may not take a slot, by its category's gates and by the floor; and the rerankers' order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from olav_core.index.pool import Candidate, Pool
    from olav_core.recall.chain import Chain
    from olav_core.recall.query import Query
    from olav_core.recall.run import Run
    from olav_core.specs import Gate

GONE = ("gone", "it was deleted while it was being recalled")
#: Candidate's row -> (decision, reason) of those that take no slot.
Decisions = dict[int, tuple[str, str]]


def pass_gates(
    chain: Chain,
    query: Query,
    pool: Pool,
    candidates: Sequence[Candidate],
    limit: int,
    decisions: Decisions,
    run: Run,
) -> list[Candidate]:
    """Return the candidates that every gate of their category keeps.

    Gates that need no record come first, so that few records are read. A gate that raises drops its
    candidate (fail closed) and degrades the recall.
    """
    quick, slow = chain.quick_gates, chain.record_gates
    kept = [
        candidate
        for candidate in candidates
        if not (gates := quick[candidate.category]) or _keeps(gates, query, candidate, decisions, run)
    ]
    gated = [candidate for candidate in kept if slow[candidate.category]]
    pool.prefetch([*gated, *kept[: 2 * limit]])  # one read, with most of what will be chosen
    gone = {item.row for item in gated} - {item.row for item in pool.load(list(gated))}
    decisions.update(dict.fromkeys(gone, GONE))
    return [
        candidate
        for candidate in kept
        if candidate.row not in gone
        and (not (gates := slow[candidate.category]) or _keeps(gates, query, candidate, decisions, run))
    ]


def _keeps(
    gates: Mapping[str, Gate], query: Query, candidate: Candidate, decisions: Decisions, run: Run
) -> bool:
    for name, gate in gates.items():
        try:
            verdict = gate.decide(query, candidate)
            keep, reason = verdict.keep, verdict.reason
        except Exception as error:
            run.failed(f"gate {name}", error)
            keep, reason = False, f"failed: {error!r}"
        if not keep:
            decisions[candidate.row] = ("gate", f"{name}: {reason}")
            return False
    return True


def above_floor(candidates: list[Candidate], share: float, decisions: Decisions) -> list[Candidate]:
    """Return what scores at least `share` of the best, and not below zero: quotas must not pull in padding.
    The best itself stays whatever it scores: in a scope with one memory it is the only answer there is."""
    best = candidates[0].score if candidates else 0.0
    floor = min(share * max(best, 0.0), best)
    for candidate in candidates:
        if candidate.score < floor:
            decisions[candidate.row] = ("floor", f"score {candidate.score:.3f} < {floor:.3f}")
    return [candidate for candidate in candidates if candidate.score >= floor]


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
        head.sort(key=lambda candidate: -candidate.score)
        candidates = head + tail
    return candidates
