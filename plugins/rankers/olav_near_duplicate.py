"""Diversifier `near_duplicate`: a memory that says what a chosen one says already is passed over."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from olav_core import RankerSpec, analyze, hookimpl

if TYPE_CHECKING:
    from olav_core import Candidate, Options

#: Cosine in the centred space from which two memories may say the same; the words then decide.
COSINE = 0.9
#: Share of common terms (Jaccard) from which they do.
OVERLAP = 0.9


class NearDuplicate:
    """Options `cosine` and `overlap`. Texts that differ in a number or an identifier with a digit are never
    duplicates: `R1 is 10.0.0.1` and `R2 is 10.0.0.2` are two facts."""

    def __init__(self, options: Options) -> None:
        self.cosine = float(options.get("cosine", COSINE))
        self.overlap = float(options.get("overlap", OVERLAP))

    def penalty(self, candidate: Candidate, chosen: Sequence[Candidate]) -> float:
        for other in chosen:
            if float(candidate.vector @ other.vector) >= self.cosine and self._same_words(candidate, other):
                return math.inf
        return 0.0

    def _same_words(self, candidate: Candidate, other: Candidate) -> bool:
        mine, theirs = set(analyze(candidate.record.text)), set(analyze(other.record.text))
        if any(any(char.isdigit() for char in term) for term in mine ^ theirs):
            return False
        return len(mine & theirs) >= self.overlap * len(mine | theirs)


@hookimpl
def olav_register_rankers() -> list[RankerSpec]:
    return [
        RankerSpec(
            id="near_duplicate",
            stage="diversify",
            purpose="Pass over memories that repeat a chosen one",
            factory=NearDuplicate,
        )
    ]
