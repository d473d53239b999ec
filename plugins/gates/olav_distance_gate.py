"""Gate `distance`: drops what lies farther from the query than a canonical distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import GateSpec, Verdict, hookimpl

if TYPE_CHECKING:
    from olav_core import Candidate, Options, Query

#: The system description's own threshold: true hits lie near 0.36, unrelated prompts from 0.75 on.
MAX_DISTANCE = 0.65


class DistanceGate:
    """Option `max`: the largest distance that stays; exactly `max` stays. On the canonical scale; an
    embedder without a measured scale is compared by its raw distance, and the reason says so."""

    def __init__(self, options: Options) -> None:
        self.max = float(options.get("max", MAX_DISTANCE))

    def measure(self, query: Query, candidate: Candidate) -> float | None:
        del query
        return candidate.canonical_distance

    def decide(self, query: Query, candidate: Candidate) -> Verdict:
        scale, distance = "canonical", self.measure(query, candidate)
        if distance is None:
            scale, distance = "raw, embedder not calibrated:", candidate.distance
        if distance is None:
            return Verdict(False, "no distance: the query could not be embedded")
        sign, keep = ("<=", True) if distance <= self.max else (">", False)
        return Verdict(keep, f"{scale} distance {distance:.3f} {sign} {self.max:g}")


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
