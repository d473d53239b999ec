"""What the legs and stages gave the candidates of one recall, in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from attrs import define, field

from olav_core.index.candidate import Candidate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray
    from olav_core.index.pool import Pool


@define(eq=False, kw_only=True, slots=False)
class CandidateColumns:
    """Columns over all candidates, best first; `distances` and `canonical_distances` are NaN where there is
    none. Most candidates never become an object: `candidate` makes one when somebody looks at it."""

    rows: NDArray[np.int64]
    ids: Sequence[str]
    category_codes: NDArray[np.integer]
    categories: Sequence[str]  # by code
    scope_codes: NDArray[np.integer]
    scopes: Sequence[str]  # by code
    scores: FloatArray
    fused: FloatArray
    boosts: FloatArray
    distances: NDArray[np.float64]
    canonical_distances: NDArray[np.float64]
    keyword_strengths: FloatArray
    leg_scores: Mapping[str, FloatArray]
    pool: Pool | None = field(default=None, repr=False)
    _made: dict[int, Candidate] = field(factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.ids)

    def made(self, places: Sequence[int]) -> list[Candidate]:
        """Return the candidates at these places, each place always the same object."""
        made = self._made
        for place in places:
            if place not in made:
                made[place] = self._candidate(place)
        return [made[place] for place in places]

    def _candidate(self, place: int) -> Candidate:
        row, category, scope, score, fused, boost, strength, distance, canonical = self._cells[place]
        candidate = Candidate(
            row=row,
            id=self.ids[place],
            category=self.categories[category],
            scope=self.scopes[scope],
            score=score,
            fused=fused,
            boost=boost,
            keyword_strength=strength,
            distance=distance if distance == distance else None,
            canonical_distance=canonical if canonical == canonical else None,
            pool=self.pool,
        )
        candidate._columns, candidate._place = self, place
        return candidate

    def let_go(self) -> None:
        """Forget records, vectors and pool: what is kept for a trace must keep no index in memory."""
        self.pool = None
        for candidate in self._made.values():
            candidate.let_go()

    def scores_of(self, place: int) -> dict[str, float]:
        """Return the leg scores of one candidate."""
        return {name: scores[place] for name, scores in self._score_lists.items()}

    def ranks_of(self, place: int) -> dict[str, int | None]:
        """Return the leg ranks of one candidate: mostly nobody asks."""
        return {name: ranks[place] for name, ranks in self._rank_lists.items()}

    @cached_property
    def _cells(self) -> list[tuple[Any, ...]]:
        columns = (
            self.rows,
            self.category_codes,
            self.scope_codes,
            self.scores,
            self.fused,
            self.boosts,
            self.keyword_strengths,
            self.distances,
            self.canonical_distances,
        )
        return list(zip(*(column.tolist() for column in columns), strict=True))

    @cached_property
    def _score_lists(self) -> dict[str, list[float]]:
        return {name: scores.tolist() for name, scores in self.leg_scores.items()}

    @cached_property
    def _rank_lists(self) -> dict[str, list[int | None]]:
        return {name: _ranks(scores) for name, scores in self.leg_scores.items()}


def _ranks(scores: FloatArray) -> list[int | None]:
    """Return each score's rank from 1, None where it is not positive."""
    import numpy as np

    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    pairs = zip(ranks.tolist(), (scores > 0).tolist(), strict=True)
    return [rank if positive else None for rank, positive in pairs]
