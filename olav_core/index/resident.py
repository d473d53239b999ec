"""The resident rows: vectors, means, columns and keywords, kept consistent with one another."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from olav_core.index.alignment import Alignment
from olav_core.index.keywords import KeywordTable
from olav_core.index.matrix import BLOCK_ROWS, CentredMatrix, FloatRows
from olav_core.index.means import LanguageMeans
from olav_core.index.quantised_matrix import QuantisedMatrix
from olav_core.index.quantised_rows import QuantisedRows, kernel
from olav_core.index.record_cache import RecordCache
from olav_core.index.rows import Names, RowTable
from olav_core.store import schema
from olav_core.text.language import languages_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray
    from olav_core.index.changed_rows import ChangedRows
    from olav_core.records import MemoryRecord
    from olav_core.specs import CategorySpec

#: Share of dead slots above which the resident arrays are packed (and the least number worth it).
DEAD_SHARE = 0.2
DEAD_ROWS = 1_000
#: A stored float32 vector and the one rebuilt from the centred matrix agree to this; a changed one does not.
_SAME_VECTOR = 1e-4

Matrix = CentredMatrix | QuantisedMatrix
RowVectors = FloatRows | QuantisedRows

_log = logging.getLogger("olav.index")


class OtherSpaceError(Exception):
    """The table holds vectors of another dimension than the resident ones."""


class ResidentRows:
    """Every row of the table but its text. Not thread-safe; what a pool was given stays true while it
    changes.
    """

    def __init__(
        self,
        specs: Mapping[str, CategorySpec],
        generic_means: Mapping[str, FloatArray] | None,
        read: Callable[[Sequence[int]], Mapping[int, MemoryRecord]],
        *,
        alignment: Mapping[str, FloatArray] | None = None,
        most_float_rows: int = sys.maxsize,
        directory: Path | None = None,
    ) -> None:
        """Above `most_float_rows` the vectors are int8, and float32 in a nameless file of `directory`, as are
        records beyond what fits in memory."""
        self._specs = specs
        self._generic = generic_means
        self._tables = alignment
        self.table = RowTable(Names(), Names())
        self.keywords = KeywordTable()
        self.records = RecordCache(read, schema.record, directory=directory)
        self.matrix: Matrix | None = None
        self._most_float_rows = most_float_rows
        self._directory = directory
        self.means: LanguageMeans | None = None
        self._alignment: Alignment | None = None

    def center(self, vector: FloatArray, language: str) -> FloatArray:
        """Return a raw query vector float32 [d] aligned and centred with its language's mean, unit length."""
        means, alignment = self.means, self._alignment
        if means is None or alignment is None:
            means, alignment = self._spaces(len(vector))
        return means.center_query(alignment.vector(vector, language), language)

    def keep_only(self, rowids: NDArray[np.uint64]) -> list[int]:
        """Drop the rows that are not among `rowids`; return their row ids."""
        live = np.flatnonzero(self.table.alive)
        gone = live[~np.isin(self.table.rowids[live], rowids)]
        dropped: list[int] = self.table.rowids[gone].tolist()
        self._kill(gone)
        return dropped

    def settle(self) -> None:
        """Centre anew when the means have drifted, pack when many rows are dead."""
        if self.means is None or self.matrix is None:
            return
        if self.means.drifted():
            means = self.means.current()
            self.matrix.recentre(self.means.applied, means, self.table.languages)
            self.means.applied = means
        if self.table.size - self.table.live > max(DEAD_ROWS, DEAD_SHARE * self.table.size):
            self._pack(self.matrix, self.means)
        self.matrix.complete(self.means.applied, self.table)

    def vectors(self) -> RowVectors:
        """Return the centred vectors of all rows as they are now."""
        if self.matrix is None or self.means is None:
            return FloatRows(())
        return self.matrix.snapshot(self.means.applied, self.table.languages)

    def take_in(self, rows: ChangedRows) -> NDArray[np.int64]:
        """Take in new or changed rows; return the positions in `rows` of those with other content than
        before.

        Raises OtherSpaceError.
        """
        vectors = rows.vectors()
        if self.matrix is None or self.means is None:
            self.matrix = CentredMatrix(vectors.shape[1])
            self.means, self._alignment = self._spaces(vectors.shape[1])
        if vectors.shape[1] != self.matrix.dimension:
            raise OtherSpaceError
        slots = self.table.slots_of(rows.rowids)
        fresh = slots < 0
        known = np.flatnonzero(~fresh)
        if len(known):
            fresh[known] = self.table.digests[slots[known]] != rows.digests[known]
            same = known[~fresh[known]]
            if len(same):
                spoken = [self.means.languages[code] for code in self.table.languages[slots[same]]]
                aligned = self._aligned(vectors[same], spoken)
                moved = np.abs(self._raw(slots[same]) - aligned).max(axis=1) > _SAME_VECTOR
                fresh[same[moved]] = True
            self._kill(slots[known[fresh[known]]])
            kept = known[~fresh[known]]
            self.table.expires[slots[kept]] = rows.expires[kept]
            self.table.timestamps[slots[kept]] = rows.timestamps[kept]
            self.table.confidence[slots[kept]] = rows.confidence[kept]
            self._set_keywords(slots[kept], kept, rows)
            self.records.drop(rows.rowids[known].tolist())
        self.records.pack(rows.cells())
        new = np.flatnonzero(fresh)
        if len(new):
            self._append(new, vectors, rows)
        return new

    def _append(self, new: NDArray[np.int64], vectors: FloatArray, rows: ChangedRows) -> None:
        assert self.matrix is not None
        assert self.means is not None
        table, means = self.table, self.means
        chosen = new.tolist()
        languages = languages_of([rows.texts[i] for i in chosen])
        codes = np.array([means.code(language) for language in languages], dtype=np.int8)
        slots = table.append(
            [rows.ids[i] for i in chosen],
            rows.rowids[new],
            categories=[table.category_names.code(rows.categories[i]) for i in chosen],
            scopes=[table.scope_names.code(rows.scopes[i]) for i in chosen],
            languages=codes,
            digests=rows.digests[new],
            expires=rows.expires[new],
            timestamps=rows.timestamps[new],
            confidence=rows.confidence[new],
        )
        raw = self._aligned(vectors[new] if len(new) < len(vectors) else vectors, languages)
        means.add(raw, codes)
        self._append_vectors(raw, codes)
        self._set_keywords(slots, new, rows)

    def _append_vectors(self, raw: FloatArray, codes: NDArray[np.int8]) -> None:
        assert self.matrix is not None
        assert self.means is not None
        applied, first = self.means.applied, self.matrix.rows
        try:
            if isinstance(self.matrix, CentredMatrix) and first + len(raw) > self._most_float_rows:
                self._quantise(self.matrix)
            self.matrix.append(raw, applied[codes])
        except OSError as error:
            _log.warning("Vectors stay float32 in memory: their file cannot be written (%s).", error)
            self._most_float_rows = sys.maxsize
            if isinstance(self.matrix, QuantisedMatrix):
                self.matrix = self._moved(self.matrix, CentredMatrix(self.matrix.dimension))
            done = self.matrix.rows - first
            self.matrix.append(raw[done:], applied[codes[done:]])

    def _quantise(self, matrix: CentredMatrix) -> None:
        if kernel() is None:
            _log.warning(
                "The store has more than recall.resident_rows = %d rows; their vectors stay float32 in "
                "memory all the same: int8 needs `pip install 'olav-core[large]'`.",
                self._most_float_rows,
            )
            self._most_float_rows = sys.maxsize
        else:
            self.matrix = self._moved(matrix, QuantisedMatrix(matrix.dimension, self._directory))

    def _moved(self, old: Matrix, new: Matrix) -> Matrix:
        """Return `new`, filled with the rows of `old`."""
        assert self.means is not None
        for start in range(0, old.rows, BLOCK_ROWS):
            slots = np.arange(start, min(start + BLOCK_ROWS, old.rows))
            means = self.means.applied[self.table.languages[slots]]
            new.append(old.raw(slots, means), means)
        return new

    def _kill(self, slots: NDArray[np.int64]) -> None:
        if not len(slots):
            return
        assert self.means is not None
        self.means.add(self._raw(slots), self.table.languages[slots], sign=-1)
        self.records.drop(self.table.rowids[slots].tolist())
        for slot in slots.tolist():
            self.keywords.drop(slot)
        self.table.kill(slots)

    def _spaces(self, dimension: int) -> tuple[LanguageMeans, Alignment]:
        alignment = Alignment(dimension, self._tables)
        generic = {
            code: alignment.vector(np.asarray(mean), code)
            for code, mean in (self._generic or {}).items()
            if np.shape(mean) == (dimension,)
        }
        return LanguageMeans(dimension, generic), alignment

    def _aligned(self, vectors: FloatArray, languages: Sequence[str]) -> FloatArray:
        assert self._alignment is not None
        return self._alignment.rows(vectors, languages)

    def _raw(self, slots: NDArray[np.int64]) -> FloatArray:
        assert self.matrix is not None
        assert self.means is not None
        return self.matrix.raw(slots, self.means.applied[self.table.languages[slots]])

    def _set_keywords(
        self, slots: NDArray[np.int64], positions: NDArray[np.int64], rows: ChangedRows
    ) -> None:
        for slot, i in zip(slots.tolist(), positions.tolist(), strict=True):
            spec = self._specs.get(rows.categories[i])
            if spec is None or spec.keywords is None:
                continue
            try:
                self.keywords.put(slot, spec.keywords(rows.record(i)))
            except Exception as error:  # a plug-in's fault must not keep the row from being found
                _log.warning("Category %r gave no keywords for %s: %r", spec.id, rows.ids[i], error)

    def _pack(self, matrix: Matrix, means: LanguageMeans) -> None:
        slots = np.flatnonzero(self.table.alive)
        try:
            self.matrix = matrix.keep(slots, means.applied, self.table.languages)
        except OSError as error:
            _log.warning("Dead rows stay in the index: the file of vectors cannot be written (%s).", error)
            return
        self.table = self.table.keep(slots)
        self.keywords = self.keywords.moved({old: new for new, old in enumerate(slots.tolist())})
