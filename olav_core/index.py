"""The recall index: resident vectors and a lexical index, derived from the table and kept in step with it."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from olav_core.changed_rows import ChangedRows, RowSource
from olav_core.coverage import Coverage, SyncReport
from olav_core.eligibility import Eligibility
from olav_core.index_files import BrokenIndexError
from olav_core.keywords import KeywordTable
from olav_core.language import languages_of
from olav_core.lexical_sync import LexicalSync
from olav_core.matrix import CentredMatrix
from olav_core.means import LanguageMeans
from olav_core.pool import Pool
from olav_core.record_cache import RecordCache
from olav_core.rows import Names, RowTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from olav_core.specs import CategorySpec

    FloatArray = NDArray[np.float32]

#: Share of dead slots above which the resident arrays are packed (and the least number worth it).
DEAD_SHARE = 0.2
DEAD_ROWS = 1_000
#: A stored float32 vector and the one rebuilt from the centred matrix agree to this; a changed one does not.
_SAME_VECTOR = 1e-4

_log = logging.getLogger("olav.index")


class RecallIndex:
    """Every vector centred and resident, BM25 in `directory` (None: in memory), all derived from `store`.

    `sync` takes in what any process changed; `pool` gives the state that one query works on. `generic_means`
    are the embedder's mean raw passage vectors per language. Rows above `resident_rows` are resident all the
    same, at 4 bytes per dimension. Thread-safe.
    """

    def __init__(
        self,
        store: RowSource,
        directory: Path | None,
        *,
        categories: Mapping[str, CategorySpec],
        generic_means: Mapping[str, FloatArray] | None = None,
        resident_rows: int = 200_000,
    ) -> None:
        self.resident_rows = resident_rows
        self._store = store
        self._directory = directory
        self._specs = categories
        self._generic = generic_means
        self._lock = threading.RLock()
        self._version = -1
        self._records = RecordCache(store.take_present)
        self._lexical: LexicalSync | None = None
        self._clear()

    # --- keeping in step ------------------------------------------------------------------------

    def sync(self) -> SyncReport:
        """Take in every commit made so far, by any process. Costs one refresh when there is none.

        Raises StoreError when the table cannot be read; the index then stays as it was.
        """
        with self._lock:
            version = self._store.refresh()
            lexical = self._lexical
            if lexical is not None:
                lexical.check()
                if version == self._version and not lexical.broken:
                    return SyncReport(version, lexical_behind=lexical.behind)
            else:
                identity = hashlib.sha256(self._store.uri.encode()).hexdigest()[:16]
                lexical = self._lexical = LexicalSync(self._directory, identity)
            if version < self._version:  # the table was restored or replaced
                self._clear()
            try:
                try:
                    changed, removed = self._catch_up(version, lexical)
                except _OtherSpaceError:  # re-embedded into another dimension
                    self._clear()
                    changed, removed = self._catch_up(version, lexical)
                self._version = version
                rebuilt = self._settle(lexical)
            finally:
                lexical.abort()
            return SyncReport(version, changed, removed, rebuilt, lexical.behind)

    def flush(self) -> bool:
        """Fold what is scored in memory into the lexical index; False when another process holds its
        writer.
        """
        with self._lock:
            if self._lexical is None or self._version < 0:
                return True
            try:
                return self._lexical.fold(self._version)
            except BrokenIndexError as error:
                self._refill(self._lexical, str(error))
                return not self._lexical.behind

    def close(self) -> None:
        """Flush, so that the next process need not catch up. A busy writer is left alone."""
        try:
            self.flush()
        except Exception as error:  # what is lost is derived and is made again
            _log.warning("The recall index was not flushed: %s", error)

    def coverage(self) -> Coverage:
        """Return how far the index is, as of the last sync."""
        with self._lock:
            lexical = self._lexical
            return Coverage(
                rows=self._rows.live,
                version=self._version,
                lexical_rows=lexical.committed_rows if lexical else 0,
                lexical_version=lexical.index.snapshot.covered if lexical else -1,
                lexical_behind=lexical.behind if lexical else 0,
                languages=self._means.counts() if self._means else {},
            )

    # --- asking ---------------------------------------------------------------------------------

    def pool(self, scopes: Collection[str] | None, *, now: float, category: str | None = None) -> Pool:
        """Return what a query may choose from: rows in `scopes` (exact; None: all) that have not expired at
        `now` (seconds since the epoch) and whose category is installed and recallable. Naming one `category`
        asks for it by name, so it need not be recallable."""
        with self._lock:
            if self._lexical is None:
                self.sync()
            assert self._lexical is not None
            rows, matrix, means = self._rows, self._matrix, self._means
            chosen = self._eligibility.of(rows, scopes, category, now)
            return Pool(
                size=rows.size,
                dimension=matrix.dimension if matrix else 0,
                eligible=chosen.mask,
                categories=tuple(rows.category_names.names),
                category_codes=rows.categories,
                languages=tuple(means.languages) if means else (),
                language_codes=rows.languages,
                timestamps=rows.timestamps,
                confidence=rows.confidence,
                blocks=matrix.snapshot() if matrix else (),
                groups=chosen.groups,
                rows=rows,
                keywords=self._keywords,
                lexical=self._lexical.index.snapshot,
                pending=self._lexical.pending,
                scopes=None if scopes is None else tuple(scopes),
                searched_categories=chosen.searched_categories,
                read=self._records.read,
                report_broken=self._lexical.report_broken,
            )

    def center_query(self, vector: FloatArray, language: str) -> FloatArray:
        """Return a raw query vector float32 [d] in the centred space, unit length."""
        with self._lock:
            means = self._means or LanguageMeans(len(vector), self._generic)
        return means.center_query(vector, language)

    # --- inside ---------------------------------------------------------------------------------

    def _clear(self) -> None:
        self._version = -1
        self._rows = RowTable(Names(), Names())
        self._keywords = KeywordTable()
        self._matrix: CentredMatrix | None = None
        self._means: LanguageMeans | None = None
        self._eligibility = Eligibility(self._specs)

    def _catch_up(self, version: int, lexical: LexicalSync) -> tuple[int, int]:
        """Take in changed rows, drop deleted ones; return both counts."""
        self._eligibility.clear()
        lexical.begin(version, all_rows=self._version < 0)
        covered = lexical.index.snapshot.covered
        if covered > version and covered > self._store.refresh():
            lexical.report_broken(f"it covers version {covered}, which the table has not reached")
        changed = 0
        for batch in self._store.changed_since(self._version if self._version >= 0 else None):
            if batch.num_rows:
                changed += self._take_in(ChangedRows(batch), lexical)
        removed = 0
        if self._store.count() != self._rows.live:
            live = np.flatnonzero(self._rows.alive)
            gone = live[~np.isin(self._rows.rowids[live], self._store.row_ids())]
            lexical.remove(self._rows.rowids[gone].tolist())
            self._kill(gone)
            removed = len(gone)
        if self._version < 0:
            lexical.remove_strangers(self._rows)
        return changed, removed

    def _settle(self, lexical: LexicalSync) -> str:
        """Centre anew, pack and fold when it is time; return why the lexical index was rebuilt, if it was."""
        if self._means and self._matrix and self._means.drifted():
            means = self._means.current()
            self._matrix.recentre(self._means.applied - means, self._rows.languages)
            self._means.applied = means
        dead = self._rows.size - self._rows.live
        if dead > max(DEAD_ROWS, DEAD_SHARE * self._rows.size):
            self._pack()
        reason = lexical.index.rebuilt
        lexical.index.rebuilt = ""
        try:
            if lexical.broken:
                raise BrokenIndexError(lexical.broken)
            if lexical.due:
                lexical.fold(self._version)
        except BrokenIndexError as error:
            reason = str(error)
            self._refill(lexical, reason)
        return reason

    def _refill(self, lexical: LexicalSync, reason: str) -> None:
        """Start the lexical index over and feed it every resident row's text again; in memory if the
        directory cannot take it (a full disk)."""
        _log.warning("The lexical index is rebuilt: %s", reason)
        for in_memory in (False, True):
            lexical.reset(reason, in_memory=in_memory)
            for batch in self._store.changed_since(None):
                rows = ChangedRows(batch)
                lexical.put(*rows.lexical(np.flatnonzero(self._rows.slots_of(rows.rowids) >= 0)))
            try:
                if not lexical.broken:
                    lexical.fold(self._version)
                    return
            except BrokenIndexError as error:
                lexical.report_broken(str(error))
            _log.warning("The lexical index could not be written: %s", lexical.broken)

    def _take_in(self, rows: ChangedRows, lexical: LexicalSync) -> int:
        """Take in new or changed rows; return how many have other content than before."""
        vectors = rows.vectors()
        if self._matrix is None or self._means is None:
            self._matrix = CentredMatrix(vectors.shape[1])
            self._means = LanguageMeans(vectors.shape[1], self._generic)
        if vectors.shape[1] != self._matrix.dimension:
            raise _OtherSpaceError
        slots = self._rows.slots_of(rows.rowids)
        fresh = slots < 0
        known = np.flatnonzero(~fresh)
        if len(known):
            fresh[known] = self._rows.digests[slots[known]] != rows.digests[known]
            same = known[~fresh[known]]
            if len(same):
                moved = np.abs(self._raw(slots[same]) - vectors[same]).max(axis=1) > _SAME_VECTOR
                fresh[same[moved]] = True
            self._kill(slots[known[fresh[known]]])
            kept = known[~fresh[known]]
            self._rows.expires[slots[kept]] = rows.expires[kept]
            self._rows.timestamps[slots[kept]] = rows.timestamps[kept]
            self._rows.confidence[slots[kept]] = rows.confidence[kept]
            self._set_keywords(slots[kept], kept, rows)
            self._records.drop(rows.rowids[known].tolist())
        new = np.flatnonzero(fresh)
        if len(new):
            self._append(new, vectors, rows)
            lexical.put(*rows.lexical(new))
        return len(new)

    def _append(self, new: NDArray[np.int64], vectors: FloatArray, rows: ChangedRows) -> None:
        assert self._matrix is not None
        assert self._means is not None
        table, means = self._rows, self._means
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
        raw = vectors[new] if len(new) < len(vectors) else vectors
        means.add(raw, codes)
        self._matrix.append(raw, means.applied[codes])
        self._set_keywords(slots, new, rows)

    def _kill(self, slots: NDArray[np.int64]) -> None:
        if not len(slots):
            return
        assert self._means is not None
        self._means.add(self._raw(slots), self._rows.languages[slots], sign=-1)
        self._records.drop(self._rows.rowids[slots].tolist())
        for slot in slots.tolist():
            self._keywords.drop(slot)
        self._rows.kill(slots)

    def _raw(self, slots: NDArray[np.int64]) -> FloatArray:
        assert self._matrix is not None
        assert self._means is not None
        return self._matrix.raw(slots, self._means.applied[self._rows.languages[slots]])

    def _set_keywords(
        self, slots: NDArray[np.int64], positions: NDArray[np.int64], rows: ChangedRows
    ) -> None:
        for slot, i in zip(slots.tolist(), positions.tolist(), strict=True):
            spec = self._specs.get(rows.categories[i])
            if spec is None or spec.keywords is None:
                continue
            try:
                self._keywords.put(slot, spec.keywords(rows.record(i)))
            except Exception as error:  # a plug-in's fault must not keep the row from being found
                _log.warning("Category %r gave no keywords for %s: %r", spec.id, rows.ids[i], error)

    def _pack(self) -> None:
        assert self._matrix is not None
        slots = np.flatnonzero(self._rows.alive)
        self._matrix.keep(slots)
        self._rows = self._rows.keep(slots)
        self._keywords = self._keywords.moved({old: new for new, old in enumerate(slots.tolist())})
        self._eligibility.clear()


class _OtherSpaceError(Exception):
    """The table holds vectors of another dimension than the resident ones."""
