"""Gate `evidence`: drops what neither its distance nor its words connect with the query.

Far looser than the gate `distance`: it keeps an off-topic query from filling the slots with whatever is
nearest, not a doubtful hit from taking one. The nearest of many rows comes close by chance, so the scale is
measured among `pool` rows, and with fewer in sight the gate keeps all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import GateSpec, Verdict, Verdicts, canonical, canonical_array, hookimpl

if TYPE_CHECKING:
    from olav_core import Candidate, Candidates, Options, Query

#: Canonical distance, after the words' support, up to which there is some evidence (docs/decisions.md).
MAX_DISTANCE = 1.1
#: The leg whose score is the share of the query's information that the memory's words carry.
LEXICAL_LEG = "bm25"


class EvidenceGate:
    """Options `max` and `leg`. A share s of the query's information in the words counts like a cosine that is
    s higher, as in score fusion: the squared distance falls by 2 s."""

    def __init__(self, options: Options) -> None:
        self.max = float(options.get("max", MAX_DISTANCE))
        self.leg = str(options.get("leg", LEXICAL_LEG))

    def measure(self, query: Query, candidate: Candidate) -> float | None:
        if candidate.distance is None or query.scale is None:
            return None
        support = candidate.leg_scores.get(self.leg, 0.0)
        return canonical(max(0.0, candidate.distance - 2.0 * support), query.scale)

    def decide(self, query: Query, candidate: Candidate) -> Verdict:
        distance = self.measure(query, candidate)
        if distance is None:
            return Verdict(True, "no calibrated distance to judge by")
        if self._crowded(query):
            return Verdict(distance <= self.max, self._reason(distance))
        return Verdict(True, f"{query.rows} memories in sight: too few to crowd in")

    def decide_all(self, query: Query, candidates: Candidates) -> Verdicts:
        import numpy as np

        if query.scale is None or not self._crowded(query):
            return Verdicts(np.ones(len(candidates), dtype=bool), lambda _: "too little to judge by")
        support = candidates.leg_scores(self.leg).astype(np.float64)
        distances = canonical_array(np.maximum(candidates.distances - 2.0 * support, 0.0), query.scale)
        return Verdicts(~(distances > self.max), lambda i: self._reason(distances[i]))

    def _crowded(self, query: Query) -> bool:
        return query.scale is not None and query.rows >= query.scale.pool

    def _reason(self, distance: float) -> str:
        return f"supported distance {distance:.3f} {'<=' if distance <= self.max else '>'} {self.max:g}"


@hookimpl
def olav_register_gates() -> list[GateSpec]:
    return [
        GateSpec(
            id="evidence",
            purpose="Drop what neither distance nor words connect with the query",
            factory=EvidenceGate,
            needs_record=False,
        )
    ]
