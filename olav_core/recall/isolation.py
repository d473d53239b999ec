"""Isolation of a diversifier: one that fails is left out of the rest of the selection."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from attrs import define

from olav_core.index.pool import Candidate
from olav_core.specs import Diversifier


@define
class IsolatedDiversifier:
    """Gives its penalties; from the first failure on it gives none, and `report(name, error)` hears of it."""

    name: str
    diversifier: Diversifier
    report: Callable[[str, Exception], None]
    failed: bool = False

    def penalty(self, candidate: Candidate, chosen: Sequence[Candidate]) -> float:
        if self.failed:
            return 0.0
        try:
            penalty = float(self.diversifier.penalty(candidate, chosen))
            if math.isnan(penalty):
                raise ValueError("gave a penalty that is not a number")
        except Exception as error:
            self.failed = True
            self.report(self.name, error)
            return 0.0
        return penalty
