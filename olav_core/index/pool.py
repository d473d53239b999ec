"""The pool: what one recall may choose from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from attrs import define, field

from olav_core.index.candidate import Candidate as Candidate  # named here for those who rank

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray
    from olav_core.index.lexical_search import LexicalSearch
    from olav_core.index.pending import Asked
    from olav_core.index.record_cache import RecordCache
    from olav_core.index.resident import RowVectors
    from olav_core.index.rows import RowTable
    from olav_core.records import MemoryRecord
    from olav_core.text.lexicon import Concept


#: Values that a bound is guessed from (`best_of`).
_SAMPLE = 2_000


class KeywordLookup(Protocol):
    """Finds (rows, strengths) of the rows with a keyword in a text."""

    def hits(self, text: str) -> tuple[NDArray[np.int64], FloatArray]: ...


@define(eq=False, kw_only=True)
class Pool:
    """A state of the recall index, seen by one query: later writes and syncs do not reach it.

    Arrays run over all `size` rows, those that are not eligible too; use `eligible` or `top`. A row's
    number means nothing outside its pool.
    """

    size: int
    dimension: int
    #: bool [size]: in scope, unexpired, of an installed category that may be recalled. Do not write to it.
    eligible: NDArray[np.bool_]
    categories: tuple[str, ...]
    category_codes: NDArray[np.int16]
    languages: tuple[str, ...]
    language_codes: NDArray[np.int8]
    #: float64 [size], seconds since the epoch: when the memory last happened or was confirmed.
    timestamps: NDArray[np.float64]
    confidence: FloatArray
    _vectors: RowVectors
    _groups: Mapping[str, NDArray[np.int64]]
    _rows: RowTable
    _keywords: KeywordLookup
    _lexical: LexicalSearch
    _records: RecordCache
    _scope_codes: Collection[int] | None = None
    _last_cosine: tuple[FloatArray, FloatArray] | None = field(default=None, init=False, repr=False)
    _last_hits: tuple[str, NDArray[np.int64], FloatArray] | None = field(default=None, init=False, repr=False)

    @property
    def scopes(self) -> Sequence[str]:
        """The scopes that `scope_codes` stand for."""
        return self._rows.scope_names.names

    @property
    def scope_codes(self) -> NDArray[np.int32]:
        """int32 [size]."""
        return self._rows.scopes

    @property
    def approximate(self) -> bool:
        """Whether `cosine` is within 0.01 only, and 0 outside the scopes: a store above
        `recall.resident_rows`. A recall's rankers get the exact shortlist of such a pool instead."""
        return self._vectors.approximate

    def cosine(self, vector: FloatArray) -> FloatArray:
        """Return the cosine of every row with a centred unit vector float32 [d], float32 [size]; the answer
        to the last vector is kept, so asking again costs a copy.
        """
        if self._last_cosine is None or self._last_cosine[0] is not vector:
            self._last_cosine = vector, self._vectors.cosine(vector, self.size, self._scope_codes)
        return self._last_cosine[1].copy()

    def lexical(self, terms: Iterable[str]) -> FloatArray:
        """Return BM25 of every row divided by the query's total idf and k1 + 1: float32 [size] in [0, 1], 0 =
        no match.

        A term given twice counts twice. A word that no memory holds counts, for less, where a word one slip
        away stands (two from eight letters on). Rows beyond the best 2,000 in scope count as no match.
        Raises StoreError when the index files are damaged; the next sync rebuilds them.
        """
        import numpy as np

        scores = np.zeros(self.size, dtype=np.float32)
        rows, values = self._slots(self._lexical.hits(terms))
        scores[rows] = values
        return scores

    def _slots(self, hits: tuple[NDArray[np.uint64], FloatArray]) -> tuple[NDArray[np.int64], FloatArray]:
        """Return (rows, scores) of the hits that are eligible."""
        import numpy as np

        slots = self._rows.slots_of(hits[0])
        known = np.flatnonzero((slots >= 0) & (slots < self.size))
        known = known[self.eligible[slots[known]]]
        return slots[known], hits[1][known]

    def concepts(self, concepts: Sequence[Concept]) -> FloatArray:
        """Return how much of `concepts` every row holds in its own words: float32 [size] in [0, 1].

        A concept counts as one term, by the alternative that fits the row best. Raises StoreError as
        `lexical` does.
        """
        import numpy as np

        scores = np.zeros(self.size, dtype=np.float32)
        rows, values = self._slots(self._lexical.concept_hits(_asked(concepts)))
        scores[rows] = values
        return scores

    def concept_rows(self, concepts: Sequence[Concept]) -> tuple[NDArray[np.int64], FloatArray]:
        """Return (rows int64 [m], scores float32 [m]) of the eligible rows that `concepts` gives a score."""
        rows, values = self._slots(self._lexical.concept_hits(_asked(concepts)))
        kept = self.eligible[rows]
        return rows[kept], values[kept]

    def lexical_rows(self, terms: Iterable[str]) -> tuple[NDArray[np.int64], FloatArray]:
        """Return (rows int64 [m], scores float32 [m]) of the eligible rows that `lexical` gives a score."""
        rows, values = self._slots(self._lexical.hits(terms))
        kept = self.eligible[rows]
        return rows[kept], values[kept]

    def keyword_hits(self, text: str) -> tuple[NDArray[np.int64], FloatArray]:
        """Return (rows int64 [m], strengths float32 [m] in (0, 1]) of the eligible rows with a keyword in
        `text`.
        """
        if self._last_hits is None or self._last_hits[0] != text:
            rows, strengths = self._keywords.hits(text)
            kept = rows < self.size
            kept[kept] = self.eligible[rows[kept]]
            self._last_hits = text, rows[kept], strengths[kept]
        return self._last_hits[1].copy(), self._last_hits[2].copy()

    def vector(self, row: int) -> FloatArray:
        """Return a row's centred unit vector, float32 [d]."""
        if not 0 <= row < self.size:
            raise IndexError(f"row {row} is outside the pool of {self.size} rows")
        return self._vectors.vector(row)

    def vectors(self, rows: Sequence[int] | NDArray[np.int64]) -> FloatArray:
        """Return the centred unit vectors of rows, float32 [m, d]."""
        import numpy as np

        if not len(rows):
            return np.empty((0, self.dimension), dtype=np.float32)
        return self._vectors.vectors(np.asarray(rows, dtype=np.int64))

    def id_of(self, row: int) -> str:
        return self._rows.id_of(int(row))

    def ids_of(self, rows: NDArray[np.int64]) -> list[str]:
        return self._rows.ids_of(rows)

    def scope_of(self, row: int) -> str:
        return self._rows.scope_of(int(row))

    def records(self, rows: Sequence[int]) -> list[MemoryRecord]:
        """Return the memories of rows, read from the store; those deleted meanwhile are left out."""
        found = self._records.read([int(self._rows.rowids[row]) for row in rows])
        records = [(row, found.get(int(self._rows.rowids[row]))) for row in rows]
        return [record for row, record in records if record is not None and record.id == self.id_of(row)]

    def load(self, candidates: list[Candidate]) -> list[Candidate]:
        """Read the records of all candidates at once; those deleted meanwhile leave the list. Returns the
        list.
        """
        missing = [candidate for candidate in candidates if candidate._record is None]
        if missing:
            rowids = [int(self._rows.rowids[candidate.row]) for candidate in missing]
            found = self._records.read(rowids)
            for candidate, rowid in zip(missing, rowids, strict=True):
                record = found.get(rowid)
                # A table that was written anew meanwhile gives its row ids to other memories.
                candidate._record = record if record is not None and record.id == candidate.id else None
            candidates[:] = [candidate for candidate in candidates if candidate._record is not None]
        return candidates

    def prefetch(self, candidates: Iterable[Candidate]) -> None:
        """Read from the store, at once, what `record` of any of these would have to read by itself."""
        missing = [candidate.row for candidate in candidates if candidate._record is None]
        if missing:
            self._records.fetch(self._rows.rowids[missing].tolist())

    def top(self, scores: FloatArray, per_category: int | Mapping[str, int]) -> list[Candidate]:
        """Return the best eligible rows of every category by `scores` float32 [size], all together best
        first.

        `per_category` is a number for all, or one per category id (others get none). One pass over the
        scores; a score that is not a number ranks last.
        """
        import numpy as np

        best = self.best(scores, per_category)
        order = np.argsort(-np.nan_to_num(scores[best], nan=-np.inf, neginf=-np.inf), kind="stable")
        return self.candidates(best[order], scores)

    def best(self, scores: FloatArray, per_category: int | Mapping[str, int]) -> NDArray[np.int64]:
        """Return the rows that `top` gives, in ascending order."""
        import numpy as np

        chosen = [np.empty(0, dtype=np.int64)]
        for category, rows in self._groups.items():
            count = per_category if isinstance(per_category, int) else per_category.get(category, 0)
            if count > 0:
                chosen.append(rows[best_of(scores[rows], count)] if len(rows) > count else rows)
        return np.sort(np.concatenate(chosen))

    def candidates(self, rows: NDArray[np.int64], scores: FloatArray) -> list[Candidate]:
        """Return `rows` as candidates, in their order, eligible or not; `scores` float32 [size]."""
        columns = zip(
            rows.tolist(),
            self.ids_of(rows),
            self.category_codes[rows].tolist(),
            self._rows.scopes[rows].tolist(),
            scores[rows].tolist(),
            strict=True,
        )
        categories, scopes = self.categories, self._rows.scope_names.names
        return [
            Candidate(
                row=row,
                id=id_,
                category=categories[category],
                scope=scopes[scope],
                score=score,
                fused=score,
                pool=self,
            )
            for row, id_, category, scope, score in columns
        ]

    def candidate(self, row: int, score: float = 0.0) -> Candidate:
        """Return one row as a candidate, eligible or not."""
        return Candidate(
            row=row,
            id=self.id_of(row),
            category=self.categories[self.category_codes[row]],
            scope=self.scope_of(row),
            score=score,
            fused=score,
            pool=self,
        )


def _asked(concepts: Sequence[Concept]) -> tuple[Asked, ...]:
    from olav_core.index.pending import Asked

    return tuple(Asked(each.alternatives, each.terms) for each in concepts if each.alternatives)


def best_of(values: FloatArray, count: int) -> NDArray[np.int64]:
    """Return the places of the `count` greatest values, in any order; one that is not a number is least.

    Of many values only those above a bound that a sample suggests are looked at.
    """
    import numpy as np

    if not np.isfinite(values).all():
        values = np.nan_to_num(values, nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    step = len(values) // _SAMPLE
    if step > 1:
        rank = min(3 * count // step + 8, _SAMPLE // 2)
        sample = values[::step]
        bound = np.partition(sample, len(sample) - rank)[-rank]
        above = np.flatnonzero(values >= bound)
        if len(above) >= count:
            return above[np.argpartition(values[above], len(above) - count)[-count:]]
    return np.argpartition(values, len(values) - count)[-count:]
