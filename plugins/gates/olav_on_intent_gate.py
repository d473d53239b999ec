"""Gate `on_intent`: a memory marked `load: on_intent` needs a query that means it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import GateSpec, Verdict, Verdicts, hookimpl

if TYPE_CHECKING:
    from olav_core import Candidate, Candidates, Options, Query

#: Canonical distance that counts as meaning it without a keyword: between a hit (0.36) and the gate (0.65).
MAX_DISTANCE = 0.6
NOT_MEANT = "no keyword in the query, and too far from it"


class OnIntentGate:
    """Option `max`: canonical distance up to which no keyword is needed."""

    def __init__(self, options: Options) -> None:
        self.max = float(options.get("max", MAX_DISTANCE))

    def decide(self, query: Query, candidate: Candidate) -> Verdict:
        del query
        if candidate.record.metadata.get("load") != "on_intent":
            return Verdict(True, "not marked on_intent")
        if candidate.keyword_strength > 0:
            return Verdict(True, "a keyword stands in the query")
        distance = candidate.canonical_distance
        if distance is not None and distance <= self.max:
            return Verdict(True, f"canonical distance {distance:.3f} <= {self.max:g}")
        return Verdict(False, NOT_MEANT)

    def decide_all(self, query: Query, candidates: Candidates) -> Verdicts:
        import numpy as np

        del query
        waits = np.array([record.metadata.get("load") == "on_intent" for record in candidates.records])
        meant = (candidates.keyword_strengths > 0) | (candidates.canonical_distances <= self.max)
        return Verdicts(~waits | meant, lambda _: NOT_MEANT)


@hookimpl
def olav_register_gates() -> list[GateSpec]:
    return [
        GateSpec(
            id="on_intent",
            purpose="Keep `load: on_intent` memories out until the query means them",
            factory=OnIntentGate,
        )
    ]
