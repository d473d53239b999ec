"""Gating: what may not take a slot, by its category's gates and by the floor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olav_core.recall.decisions import GONE
from olav_core.specs import Verdicts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from olav_core.index.candidates import Candidates
    from olav_core.index.pool import Candidate, Pool
    from olav_core.recall.chain import Chain
    from olav_core.recall.decisions import Decisions
    from olav_core.recall.gate_rounds import GateRounds, SharedGate
    from olav_core.recall.query import Query
    from olav_core.recall.run import Run


def pass_gates(
    chain: Chain,
    query: Query,
    pool: Pool,
    candidates: Candidates,
    limit: int,
    decisions: Decisions,
    run: Run,
) -> list[Candidate]:
    """Return the candidates that every gate of their category keeps.

    Gates that need no record come first, so that few records are read. A gate that raises drops its
    candidate (fail closed) and degrades the recall.
    """
    kept = _kept(chain.quick_rounds, query, candidates, decisions, run)
    gated = kept.part(kept.within(chain.record_gated)).objects()
    pool.prefetch([*gated, *kept[: 2 * limit]])  # one read, with most of what will be chosen
    gone = {each.row for each in gated} - {each.row for each in pool.load(list(gated))}
    if gone:
        decisions.tell_all(gone, "gone", lambda _: GONE)
        kept = kept.part(~np.isin(kept.rows, list(gone)))
    return _kept(chain.record_rounds, query, kept, decisions, run).objects()


def _kept(
    rounds: GateRounds, query: Query, candidates: Candidates, decisions: Decisions, run: Run
) -> Candidates:
    for gates in rounds:
        keep = np.ones(len(candidates), dtype=bool)
        for gate in gates:
            places = np.flatnonzero(candidates.within(gate.categories))
            if len(places):
                keep[places] = _judged(gate, query, candidates.part(places), decisions, run)
        candidates = candidates.part(keep)
    return candidates


def _judged(
    gate: SharedGate, query: Query, candidates: Candidates, decisions: Decisions, run: Run
) -> NDArray[np.bool_]:
    """Return which candidates a gate keeps, and note why the others go."""
    verdicts = _all_at_once(gate, query, candidates, run) or _one_by_one(gate, query, candidates, run)
    dropped = np.flatnonzero(~verdicts.keep).tolist()
    if dropped:

        def reason(place: int) -> str:
            try:
                return f"{gate.id}: {verdicts.reason(dropped[place])}"
            except Exception as error:  # too late to degrade the recall
                return f"{gate.id}: dropped, and its reason failed: {error!r}"

        decisions.tell_all(candidates.rows[dropped].tolist(), "gate", reason)
    return verdicts.keep


def _all_at_once(gate: SharedGate, query: Query, candidates: Candidates, run: Run) -> Verdicts | None:
    """Return an array gate's verdicts; None for another, and for one that fails: then each candidate is
    judged by itself."""
    if gate.decide_all is None:
        return None
    try:
        verdicts = gate.decide_all(query, candidates)
        if np.shape(verdicts.keep) != (len(candidates),) or verdicts.keep.dtype != np.bool_:
            raise ValueError(f"`keep` must be bool [{len(candidates)}], not {verdicts.keep!r:.200}")
    except Exception as error:
        run.failed(f"gate {gate.id}", error)
        return None
    return verdicts


def _one_by_one(gate: SharedGate, query: Query, candidates: Candidates, run: Run) -> Verdicts:
    keep = np.zeros(len(candidates), dtype=bool)
    reasons: list[str] = []
    for place, candidate in enumerate(candidates.objects()):
        try:
            verdict = gate.gate.decide(query, candidate)
            keep[place], reason = bool(verdict.keep), verdict.reason
        except Exception as error:
            run.failed(f"gate {gate.id}", error)
            reason = f"failed: {error!r}"
        reasons.append(reason)
    return Verdicts(keep, reasons.__getitem__)


def above_floor(candidates: list[Candidate], share: float, decisions: Decisions) -> list[Candidate]:
    """Return what scores at least `share` of the best, and not below zero: quotas must not pull in padding.
    The best itself stays whatever it scores: in a scope with one memory it is the only answer there is."""
    best = candidates[0].score if candidates else 0.0
    floor = min(share * max(best, 0.0), best)
    low = [candidate for candidate in candidates if candidate.score < floor]
    if not low:
        return candidates
    for candidate in low:
        decisions.tell(candidate.row, "floor", f"score {candidate.score:.3f} < {floor:.3f}")
    return [candidate for candidate in candidates if candidate.score >= floor]
