"""A candidate: one row that is up for a slot, with what the legs and stages gave it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from olav_core.errors import StoreError
from olav_core.records import MemoryRecord

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray
    from olav_core.index.candidate_columns import CandidateColumns
    from olav_core.index.pool import Pool


@define(eq=False, kw_only=True)
class Candidate:
    """One row that is up for a slot. Stages change it as it passes through.

    `fused` is the score that the pool was asked for the best of, `score` the present one. `distance` is
    squared L2 in the centred space (2 - 2 cos), `canonical_distance` the same on the scale of gates; None
    without a query vector, the latter also without a scale. `keyword_strength` is 0 when no keyword of the
    row is in the query.
    """

    row: int
    id: str
    category: str
    scope: str = "global"
    score: float = 0.0
    fused: float = 0.0
    boost: float = 0.0
    keyword_strength: float = 0.0
    distance: float | None = None
    canonical_distance: float | None = None
    _leg_ranks: dict[str, int | None] | None = None
    _leg_scores: dict[str, float] | None = None
    _record: MemoryRecord | None = field(default=None, repr=False)
    _vector: FloatArray | None = field(default=None, repr=False)
    _pool: Pool | None = field(default=None, repr=False)
    _columns: CandidateColumns | None = field(default=None, init=False, repr=False)
    _place: int = field(default=0, init=False, repr=False)

    @property
    def leg_scores(self) -> dict[str, float]:
        """Score by leg."""
        if self._leg_scores is None:
            self._leg_scores = self._columns.scores_of(self._place) if self._columns is not None else {}
        return self._leg_scores

    @leg_scores.setter
    def leg_scores(self, scores: dict[str, float]) -> None:
        self._leg_scores = scores

    @property
    def leg_ranks(self) -> dict[str, int | None]:
        """Rank among the candidates by leg, from 1; None where the leg does not know the row."""
        if self._leg_ranks is None:
            self._leg_ranks = self._columns.ranks_of(self._place) if self._columns is not None else {}
        return self._leg_ranks

    @leg_ranks.setter
    def leg_ranks(self, ranks: dict[str, int | None]) -> None:
        self._leg_ranks = ranks

    @property
    def record(self) -> MemoryRecord:
        """The memory itself, read from the store on first use (`Pool.load` reads many at once).

        Raises StoreError when it was deleted after the recall began.
        """
        if self._record is None and self._pool is not None:
            self._pool.load([self])
        if self._record is None:
            raise StoreError(f"memory {self.id} was deleted while it was being recalled. Recall again.")
        return self._record

    @property
    def vector(self) -> FloatArray:
        """The row's centred unit vector, float32 [d]."""
        if self._vector is None:
            if self._pool is None:
                raise StoreError(
                    f"candidate {self.id} has neither a vector nor a pool. Build it with one of them."
                )
            self._vector = self._pool.vector(self.row)
        return self._vector

    def let_go(self) -> None:
        """Forget record, vector and pool: what is kept for a trace must keep no index in memory."""
        self._record = self._vector = self._pool = None
