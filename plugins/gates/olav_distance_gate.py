"""Gate `distance`: drops what lies farther from the query than a canonical distance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from olav_core import GateSpec, Verdict, Verdicts, hookimpl

if TYPE_CHECKING:
    from olav_core import Candidate, Candidates, Options, Query

#: The system description's own threshold: true hits lie near 0.36, unrelated prompts from 0.75 on.
MAX_DISTANCE = 0.65
CANONICAL, RAW = "canonical", "raw, embedder not calibrated:"
NO_DISTANCE = "no distance: the query could not be embedded"


class DistanceGate:
    """Option `max`: the largest distance that stays; exactly `max` stays. On the canonical scale; an
    embedder without a measured scale is compared by its raw distance, and the reason says so."""

    def __init__(self, options: Options) -> None:
        self.max = float(options.get("max", MAX_DISTANCE))

    def measure(self, query: Query, candidate: Candidate) -> float | None:
        del query
        return candidate.canonical_distance

    def decide(self, query: Query, candidate: Candidate) -> Verdict:
        distance, scale = self.measure(query, candidate), CANONICAL
        if distance is None:
            distance, scale = candidate.distance, RAW
        if distance is None:
            return Verdict(False, NO_DISTANCE)
        return Verdict(distance <= self.max, self._reason(distance, scale))

    def decide_all(self, query: Query, candidates: Candidates) -> Verdicts:
        import numpy as np

        del query
        canonical = candidates.canonical_distances
        raw = np.isnan(canonical)
        distances = np.where(raw, candidates.distances, canonical)

        def reason(i: int) -> str:
            return self._reason(distances[i], RAW if raw[i] else CANONICAL)

        return Verdicts(distances <= self.max, reason)

    def _reason(self, distance: float, scale: str) -> str:
        if math.isnan(distance):
            return NO_DISTANCE
        return f"{scale} distance {distance:.3f} {'<=' if distance <= self.max else '>'} {self.max:g}"


@hookimpl
def olav_register_gates() -> list[GateSpec]:
    return [
        GateSpec(
            id="distance",
            purpose="Drop what is farther than a canonical distance",
            factory=DistanceGate,
            needs_record=False,
        )
    ]
