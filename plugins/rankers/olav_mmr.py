"""Diversifier `mmr`: maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from olav_core import RankerSpec, hookimpl

if TYPE_CHECKING:
    from olav_core import Candidate, Options

#: What a candidate loses that says exactly what a chosen one says, on the scale of score_fusion.
WEIGHT = 0.2


class MaximalMarginalRelevance:
    """Option `weight`: the loss at a cosine of 1 with the nearest chosen memory; none from 0 down."""

    def __init__(self, options: Options) -> None:
        self.weight = float(options.get("weight", WEIGHT))

    def penalty(self, candidate: Candidate, chosen: Sequence[Candidate]) -> float:
        nearest = max((float(candidate.vector @ other.vector) for other in chosen), default=0.0)
        return self.weight * max(nearest, 0.0)


@hookimpl
def olav_register_rankers() -> list[RankerSpec]:
    return [
        RankerSpec(
            id="mmr",
            stage="diversify",
            purpose="Prefer memories unlike the chosen ones",
            factory=MaximalMarginalRelevance,
        )
    ]
