"""The recall index: resident vectors and a lexical index, derived from the table and kept in step with it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from olav_core.index import heap
from olav_core.index.changed_rows import ChangedRows, RowSource
from olav_core.index.coverage import Coverage, SyncReport
from olav_core.index.eligibility import Eligibility
from olav_core.index.index_files import BrokenIndexError
from olav_core.index.lexical_search import LexicalSearch
from olav_core.index.lexical_sync import LexicalSync, identity_of
from olav_core.index.pool import Pool
from olav_core.index.resident import OtherSpaceError, ResidentRows

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray
    from olav_core.specs import CategorySpec

_log = logging.getLogger("olav.index")


class RecallIndex:
    """Every vector centred and resident, BM25 in `directory` (None: in memory), all derived from `store`.

    `sync` takes in what any process changed; `pool` gives the state that one query works on. `generic_means`
    are the embedder's mean raw passage vectors per language, `alignment` its tables (see Alignment). Up to
    `resident_rows` rows a dimension takes 4 bytes of memory, above that 1, and 4 in a nameless file beside
    `directory`. Thread-safe.
    """

    def __init__(
        self,
        store: RowSource,
        directory: Path | None,
        *,
        categories: Mapping[str, CategorySpec],
        generic_means: Mapping[str, FloatArray] | None = None,
        alignment: Mapping[str, FloatArray] | None = None,
        resident_rows: int = 200_000,
    ) -> None:
        self.resident_rows = resident_rows
        self._store = store
        self._directory = directory
        self._specs = categories
        self._generic = generic_means
        self._alignment = alignment
        self._lock = threading.RLock()
        self._version = -1
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
                lexical = self._lexical = LexicalSync(self._directory, identity_of(self._store.uri))
            if version < self._version:  # the table was restored or replaced
                self._clear()
            try:
                try:
                    changed, removed = self._catch_up(version, lexical)
                except OtherSpaceError:  # re-embedded into another dimension
                    self._clear()
                    changed, removed = self._catch_up(version, lexical)
                self._version = version
                rebuilt = self._settle(lexical)
            finally:
                lexical.abort()
            if changed > heap.BULK_ROWS:
                heap.give_back()
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
                rows=self._resident.table.live,
                version=self._version,
                lexical_rows=lexical.committed_rows if lexical else 0,
                lexical_version=lexical.index.snapshot.covered if lexical else -1,
                lexical_behind=lexical.behind if lexical else 0,
                languages=self._resident.means.counts() if self._resident.means else {},
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
            resident = self._resident
            rows, means = resident.table, resident.means
            chosen = self._eligibility.of(rows, scopes, category, now)
            return Pool(
                size=rows.size,
                dimension=resident.matrix.dimension if resident.matrix else 0,
                eligible=chosen.mask,
                categories=tuple(rows.category_names.names),
                category_codes=rows.categories,
                languages=tuple(means.languages) if means else (),
                language_codes=rows.languages,
                timestamps=rows.timestamps,
                confidence=rows.confidence,
                vectors=resident.vectors(),
                groups=chosen.groups,
                rows=rows,
                keywords=resident.keywords,
                lexical=LexicalSearch(
                    self._lexical.index.snapshot,
                    self._lexical.pending,
                    None if scopes is None else tuple(scopes),
                    chosen.searched_categories,
                    self._lexical.report_broken,
                ),
                records=resident.records,
                scope_codes=None
                if scopes is None
                else [code for name in scopes if (code := rows.scope_names.known(name)) is not None],
            )

    def center_query(self, vector: FloatArray, language: str) -> FloatArray:
        """Return a raw query vector float32 [d] in the aligned, centred space, unit length."""
        with self._lock:
            return self._resident.center(vector, language)

    # --- inside ---------------------------------------------------------------------------------

    def _clear(self) -> None:
        self._version = -1
        directory = self._directory
        self._resident = ResidentRows(
            self._specs,
            self._generic,
            self._store.take_present,
            alignment=self._alignment,
            most_float_rows=self.resident_rows,
            directory=directory and directory.parent,
        )
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
                rows = ChangedRows(batch)
                new = self._resident.take_in(rows)
                lexical.put(*rows.lexical(new))
                changed += len(new)
        gone: list[int] = []
        if self._store.count() != self._resident.table.live:
            gone = self._resident.keep_only(self._store.row_ids())
            lexical.remove(gone)
        if self._version < 0:
            lexical.remove_strangers(self._resident.table)
        self._resident.settle()
        return changed, len(gone)

    def _settle(self, lexical: LexicalSync) -> str:
        """Fold when it is time; return why the lexical index was rebuilt, if it was."""
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
                lexical.put(*rows.lexical(np.flatnonzero(self._resident.table.slots_of(rows.rowids) >= 0)))
            try:
                if not lexical.broken:
                    lexical.fold(self._version)
                    return
            except BrokenIndexError as error:
                lexical.report_broken(str(error))
            _log.warning("The lexical index could not be written: %s", lexical.broken)
