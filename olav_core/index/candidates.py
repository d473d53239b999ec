"""Candidates as a gate sees them that judges many at once."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, overload

from olav_core.index.candidate import Candidate
from olav_core.index.candidate_columns import CandidateColumns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray
    from olav_core.records import MemoryRecord


class Candidates(Sequence[Candidate]):
    """A sequence of candidates whose values are also there as arrays, one value per candidate.

    An array costs nothing until it is asked for, nor does a Candidate object; ask for either, not for both.
    """

    def __init__(self, columns: CandidateColumns, places: NDArray[np.int64]) -> None:
        self._columns = columns
        self._places = places

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> Candidates:
        """Return candidates that were made one by one."""
        import numpy as np

        def column(name: str, kind: str = "f4") -> Any:
            values = [getattr(each, name) for each in candidates]
            return np.array([math.nan if value is None else value for value in values], dtype=kind)

        def codes(values: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
            names = list(dict.fromkeys(values))
            return np.array([names.index(value) for value in values], dtype=np.int64), names

        categories, category_names = codes([each.category for each in candidates])
        scopes, scope_names = codes([each.scope for each in candidates])
        legs = dict.fromkeys(leg for each in candidates for leg in each.leg_scores)
        columns = CandidateColumns(
            rows=np.array([each.row for each in candidates], dtype=np.int64),
            ids=[each.id for each in candidates],
            category_codes=categories,
            categories=category_names,
            scope_codes=scopes,
            scopes=scope_names,
            scores=column("score"),
            fused=column("fused"),
            boosts=column("boost"),
            distances=column("distance", "f8"),
            canonical_distances=column("canonical_distance", "f8"),
            keyword_strengths=column("keyword_strength"),
            leg_scores={
                leg: np.array([each.leg_scores.get(leg, 0.0) for each in candidates], dtype=np.float32)
                for leg in legs
            },
        )
        columns._made = dict(enumerate(candidates))
        return cls(columns, np.arange(len(candidates)))

    @property
    def rows(self) -> NDArray[np.int64]:
        """Their rows in the pool of this recall, int64."""
        return self._columns.rows[self._places]

    @property
    def scores(self) -> FloatArray:
        """The fused and boosted scores, float32."""
        return self._columns.scores[self._places]

    @property
    def boosts(self) -> FloatArray:
        """What boosters added, float32."""
        return self._columns.boosts[self._places]

    @property
    def keyword_strengths(self) -> FloatArray:
        """float32; 0 where no keyword of the memory is in the query."""
        return self._columns.keyword_strengths[self._places]

    @property
    def distances(self) -> NDArray[np.float64]:
        """Squared L2 distances, float64; NaN where there is none."""
        return self._columns.distances[self._places]

    @property
    def canonical_distances(self) -> NDArray[np.float64]:
        """Distances on the scale of gates, float64; NaN where there is none."""
        return self._columns.canonical_distances[self._places]

    def leg_scores(self, leg: str) -> FloatArray:
        """Return one leg's scores, float32; 0 where the leg does not know the memory, or did not run."""
        import numpy as np

        scores = self._columns.leg_scores.get(leg)
        return np.zeros(len(self), dtype=np.float32) if scores is None else scores[self._places]

    @property
    def records(self) -> list[MemoryRecord]:
        """The memories themselves, for a gate whose spec says `needs_record`."""
        return [candidate.record for candidate in self.objects()]

    def objects(self) -> list[Candidate]:
        """Return all as objects."""
        return self._columns.made(self._places.tolist())

    def within(self, categories: Collection[str]) -> NDArray[np.bool_]:
        """Return which of these belong to one of the categories."""
        import numpy as np

        columns = self._columns
        chosen = np.array([name in categories for name in columns.categories], dtype=bool)
        return np.asarray(chosen[columns.category_codes[self._places]])

    def let_go(self) -> None:
        """Forget records, vectors and pool: what is kept for a trace must keep no index in memory."""
        self._columns.let_go()

    def part(self, which: NDArray[np.integer] | NDArray[np.bool_]) -> Candidates:
        """Return some of these: by their positions, or by a mask."""
        return Candidates(self._columns, self._places[which])

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> list[Candidate]: ...
    def __getitem__(self, index: int | slice) -> Candidate | list[Candidate]:
        if isinstance(index, slice):
            return self._columns.made(self._places[index].tolist())
        return self._columns.made([int(self._places[index])])[0]
