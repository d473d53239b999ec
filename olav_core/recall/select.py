"""Selection: which of the gated candidates take the K slots, under caps, quotas and diversity."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from attrs import Factory, frozen

from olav_core.index.pool import Candidate
from olav_core.specs import CategorySpec, Diversifier

#: From this K on, quotas reserve slots; below it relevance alone decides.
QUOTAS_FROM = 3


@frozen
class Selection:
    """`chosen` in slot order; `passed_over`: row -> (decision, reason)."""

    chosen: list[Candidate]
    passed_over: dict[int, tuple[str, str]] = Factory(dict)


class _Slots:
    """The slots being filled. Candidates come best first; rows are unique."""

    def __init__(self, categories: Mapping[str, CategorySpec], diversifiers: Sequence[Diversifier]) -> None:
        self.categories = categories
        self.diversifiers = diversifiers
        self.chosen: list[Candidate] = []
        self.counts: Counter[str] = Counter()
        self.passed_over: dict[int, tuple[str, str]] = {}

    def take_best(self, candidates: list[Candidate]) -> bool:
        """Move the best admissible one of `candidates` into the next slot; False when there is none.

        Penalties never lift a candidate, so once the next score is no better than the best penalised
        value, the rest need not be looked at.
        """
        best: Candidate | None = None
        best_value = -math.inf
        for candidate in list(candidates):
            if candidate.score <= best_value:
                break
            cap = self.categories[candidate.category].cap
            if cap is not None and self.counts[candidate.category] >= cap:
                self.passed_over[candidate.row] = ("cap", f"cap of {candidate.category} is {cap}")
                candidates.remove(candidate)
                continue
            penalty = sum(d.penalty(candidate, self.chosen) for d in self.diversifiers)
            if penalty == math.inf:
                self.passed_over[candidate.row] = ("duplicate", "nearly the same as a chosen memory")
                candidates.remove(candidate)
                continue
            if candidate.score - penalty > best_value:
                best, best_value = candidate, candidate.score - penalty
        if best is None:
            return False
        candidates.remove(best)
        self.chosen.append(best)
        self.counts[best.category] += 1
        return True


def select(
    candidates: Sequence[Candidate],
    limit: int,
    categories: Mapping[str, CategorySpec],
    diversifiers: Sequence[Diversifier] = (),
) -> Selection:
    """Fill `limit` slots from candidates sorted by falling score.

    Caps always hold. Below QUOTAS_FROM slots relevance decides. From there: slot 1 by relevance; then
    rounds, one slot for each category still under its quota, categories in the order of their best
    candidate; then relevance. Quotas reserve slots, they never pad: who is not a candidate gets none.
    """
    slots = _Slots(categories, diversifiers)
    rest = list(candidates)
    if limit >= QUOTAS_FROM and slots.take_best(rest):
        waiting = list(dict.fromkeys(candidate.category for candidate in rest))
        while waiting and len(slots.chosen) < limit:
            still: list[str] = []
            for category in waiting:
                if len(slots.chosen) == limit or slots.counts[category] >= categories[category].quota:
                    continue
                own = [candidate for candidate in rest if candidate.category == category]
                if slots.take_best(own):
                    rest.remove(slots.chosen[-1])
                    still.append(category)
            waiting = still
    while len(slots.chosen) < limit and slots.take_best(rest):
        pass
    return Selection(slots.chosen, slots.passed_over)
