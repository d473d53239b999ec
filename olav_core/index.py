"""The recall index: resident vectors and a lexical index, derived from the table and kept in step with it."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from attrs import frozen

from olav_core.eligibility import Eligibility
from olav_core.keywords import KeywordTable
from olav_core.language import languages_of
from olav_core.lexical import BrokenIndexError
from olav_core.lexical_sync import LexicalSync, digest
from olav_core.matrix import CentredMatrix
from olav_core.means import LanguageMeans
from olav_core.pool import Pool
from olav_core.records import MemoryRecord
from olav_core.rows import Names, RowTable

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from olav_core.specs import CategorySpec

    FloatArray = NDArray[np.float32]

#: Share of dead slots above which the resident arrays are packed (and the least number worth it).
DEAD_SHARE = 0.2
DEAD_ROWS = 1_000
#: Records kept for the next recall: the same few memories come up again and again.
RECORD_CACHE = 1_024
#: A stored float32 vector and the one rebuilt from the centred matrix agree to this; a changed one does not.
_SAME_VECTOR = 1e-4

_log = logging.getLogger("olav.index")


class Rows(Protocol):
    """What the index needs of a store; `olav_core.store.Store` is one."""

    uri: str

    def refresh(self) -> int: ...
    def count(self) -> int: ...
    def row_ids(self) -> NDArray[np.uint64]: ...
    def changed_since(self, version: int | None) -> Iterator[pa.RecordBatch]: ...
    def take_present(self, rowids: Sequence[int]) -> dict[int, MemoryRecord]: ...


@frozen
class SyncReport:
    """What one sync did. `version`: table version that is covered now; `changed` and `removed` count rows
    whose content or existence changed; `rebuilt` says why the lexical index was started over (empty: it was
    not); `lexical_behind` rows are scored in memory until they are folded into the index."""

    version: int
    changed: int = 0
    removed: int = 0
    rebuilt: str = ""
    lexical_behind: int = 0


@frozen
class Coverage:
    """How far the index is: rows resident, their table version, rows committed to the lexical index and its
    version, rows scored in memory, rows per language."""

    rows: int
    version: int
    lexical_rows: int
    lexical_version: int
    lexical_behind: int
    languages: Mapping[str, int]


class RecallIndex:
    """Every vector centred and resident, BM25 in `directory` (None: in memory), all derived from `store`.

    `sync` takes in what any process changed; `pool` gives the state that one query works on. `generic_means`
    are the embedder's mean raw passage vectors per language. Rows above `resident_rows` are resident all the
    same, at 4 bytes per dimension. Thread-safe.
    """

    def __init__(
        self,
        store: Rows,
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
        self._generation = 0
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
                return self._lexical.fold(self._version)

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
                read=self._read,
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
        self._records: dict[int, MemoryRecord] = {}

    def _catch_up(self, version: int, lexical: LexicalSync) -> tuple[int, int]:
        """Take in changed rows, drop deleted ones; return both counts."""
        before = self._rows.live
        self._generation += 1
        lexical.begin(version, all_rows=self._version < 0)
        changed = 0
        for batch in self._store.changed_since(self._version if self._version >= 0 else None):
            changed += self._take_in(batch, lexical)
        removed = 0
        if self._store.count() != self._rows.live:
            live = np.flatnonzero(self._rows.alive)
            gone = live[~np.isin(self._rows.rowids[live], self._store.row_ids())]
            lexical.remove(self._rows.rowids[gone].tolist())
            self._kill(gone)
            removed = len(gone)
        if self._version < 0:
            lexical.remove_strangers(self._rows)
        if changed or removed or self._rows.live != before:
            self._eligibility.clear()
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
        """Start the lexical index over and feed it every resident row's text again."""
        _log.warning("The lexical index is rebuilt: %s", reason)
        lexical.reset(reason)
        for batch in self._store.changed_since(None):
            rowids = np.asarray(batch.column("_rowid").to_numpy(zero_copy_only=False), dtype=np.uint64)
            known = np.flatnonzero(self._rows.slots_of(rowids) >= 0)
            columns = _Columns(batch)
            lexical.put(rowids[known].tolist(), *columns.lexical(known), columns.digests()[known].tolist())
        lexical.fold(self._version)

    def _take_in(self, batch: pa.RecordBatch, lexical: LexicalSync) -> int:
        """Take in one batch of new or changed rows; return how many have other content than before."""
        if not batch.num_rows:
            return 0
        rowids = np.asarray(batch.column("_rowid").to_numpy(zero_copy_only=False), dtype=np.uint64)
        vectors = _vectors(batch.column("vector"))
        if self._matrix is None or self._means is None:
            self._matrix = CentredMatrix(vectors.shape[1])
            self._means = LanguageMeans(vectors.shape[1], self._generic)
        if vectors.shape[1] != self._matrix.dimension:
            raise _OtherSpaceError
        columns = _Columns(batch)
        digests = columns.digests()
        slots = self._rows.slots_of(rowids)
        fresh = slots < 0
        known = np.flatnonzero(~fresh)
        if len(known):
            old = slots[known]
            fresh[known] = self._rows.digests[old] != digests[known]
            same = known[~fresh[known]]
            if len(same):
                moved = np.abs(self._raw(slots[same]) - vectors[same]).max(axis=1) > _SAME_VECTOR
                fresh[same[moved]] = True
            self._kill(slots[known[fresh[known]]])
            kept = known[~fresh[known]]
            self._rows.expires[slots[kept]] = columns.expires[kept]
            self._rows.timestamps[slots[kept]] = columns.timestamps[kept]
            self._rows.confidence[slots[kept]] = columns.confidence[kept]
            self._set_keywords(slots[kept], kept, columns)
            self._eligibility.clear()
        new = np.flatnonzero(fresh)
        if len(new):
            self._append(new, rowids, vectors, digests, columns)
            lexical.put(rowids[new].tolist(), *columns.lexical(new), digests[new].tolist())
        for rowid in rowids.tolist():
            self._records.pop(rowid, None)
        return len(new)

    def _append(
        self,
        new: NDArray[np.int64],
        rowids: NDArray[np.uint64],
        vectors: FloatArray,
        digests: NDArray[np.uint64],
        columns: _Columns,
    ) -> None:
        assert self._matrix is not None
        assert self._means is not None
        rows, means = self._rows, self._means
        codes = np.array(
            [means.code(code) for code in languages_of([columns.texts[i] for i in new])], dtype=np.int8
        )
        slots = rows.append(
            [columns.ids[i] for i in new],
            rowids[new],
            categories=[rows.category_names.code(columns.categories[i]) for i in new],
            scopes=[rows.scope_names.code(columns.scopes[i]) for i in new],
            languages=codes,
            digests=digests[new],
            expires=columns.expires[new],
            timestamps=columns.timestamps[new],
            confidence=columns.confidence[new],
        )
        raw = vectors if len(new) == len(vectors) else vectors[new]
        means.add(raw, codes)
        self._matrix.append(raw, means.applied[codes])
        self._set_keywords(slots, new, columns)

    def _kill(self, slots: NDArray[np.int64]) -> None:
        if not len(slots):
            return
        assert self._means is not None
        self._means.add(self._raw(slots), self._rows.languages[slots], sign=-1)
        for rowid, slot in zip(self._rows.rowids[slots].tolist(), slots.tolist(), strict=True):
            self._keywords.drop(slot)
            self._records.pop(rowid, None)
        self._rows.kill(slots)

    def _raw(self, slots: NDArray[np.int64]) -> FloatArray:
        assert self._matrix is not None
        assert self._means is not None
        return self._matrix.raw(slots, self._means.applied[self._rows.languages[slots]])

    def _set_keywords(
        self, slots: NDArray[np.int64], positions: NDArray[np.int64], columns: _Columns
    ) -> None:
        for slot, i in zip(slots.tolist(), positions.tolist(), strict=True):
            spec = self._specs.get(columns.categories[i])
            if spec is None or spec.keywords is None:
                continue
            try:
                self._keywords.put(slot, spec.keywords(columns.record(i)))
            except Exception as error:  # a plug-in's fault must not keep the row from being found
                _log.warning("Category %r gave no keywords for %s: %r", spec.id, columns.ids[i], error)

    def _pack(self) -> None:
        assert self._matrix is not None
        slots = np.flatnonzero(self._rows.alive)
        self._matrix.keep(slots)
        self._rows = self._rows.keep(slots)
        self._keywords = self._keywords.moved({old: new for new, old in enumerate(slots.tolist())})
        self._eligibility.clear()

    def _read(self, rowids: Sequence[int]) -> Mapping[int, MemoryRecord]:
        """Return the records of row ids, from the cache or the store; a deleted one is missing."""
        found = {rowid: record for rowid in rowids if (record := self._records.get(rowid)) is not None}
        missing = [rowid for rowid in dict.fromkeys(rowids) if rowid not in found]
        if missing:
            generation = self._generation
            read = self._store.take_present(missing)
            found.update(read)
            self._keep_records(read, generation)
        return found

    def _keep_records(self, read: Mapping[int, MemoryRecord], generation: int) -> None:
        """Keep records for the next recall, unless a sync has begun since they were read."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            if generation == self._generation:
                self._records.update(read)
                while len(self._records) > RECORD_CACHE:
                    self._records.pop(next(iter(self._records)))
        finally:
            self._lock.release()


class _OtherSpaceError(Exception):
    """The table holds vectors of another dimension than the resident ones."""


class _Columns:
    """A batch's columns as Python lists and float arrays; metadata is parsed only when asked for."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.ids: list[str] = batch.column("id").to_pylist()
        self.texts: list[str] = [text or "" for text in batch.column("search_text").to_pylist()]
        self.categories: list[str] = batch.column("category").to_pylist()
        self.scopes: list[str] = batch.column("scope").to_pylist()
        self.confidence = np.nan_to_num(
            batch.column("confidence").to_numpy(zero_copy_only=False).astype(np.float32)
        )
        self.timestamps = _seconds(batch.column("timestamp"), missing=0.0)
        self.expires = _seconds(batch.column("expires_at"), missing=np.inf)
        self._metadata = batch.column("metadata")

    def digests(self) -> NDArray[np.uint64]:
        rows = zip(self.categories, self.scopes, self.texts, strict=True)
        return np.array([digest(*row) for row in rows], dtype=np.uint64)

    def lexical(self, positions: NDArray[np.int64]) -> tuple[list[str], list[str], list[str]]:
        """Return (texts, scopes, categories) of the rows at `positions`."""
        chosen = positions.tolist()
        return (
            [self.texts[i] for i in chosen],
            [self.scopes[i] for i in chosen],
            [self.categories[i] for i in chosen],
        )

    def record(self, i: int) -> MemoryRecord:
        """Return row `i` as a record of what the index is given; its text is the indexed text."""
        return MemoryRecord(
            id=self.ids[i],
            text=self.texts[i],
            search_text=self.texts[i],
            category=self.categories[i],
            scope=self.scopes[i],
            metadata=json.loads(self._metadata[i].as_py() or "{}"),
            confidence=float(self.confidence[i]),
            timestamp=datetime.fromtimestamp(float(self.timestamps[i]), UTC),
        )


def _vectors(column: pa.Array) -> FloatArray:
    flat = column.flatten().to_numpy(zero_copy_only=False)
    return np.asarray(flat, dtype=np.float32).reshape(len(column), column.type.list_size)


def _seconds(column: pa.Array, *, missing: float) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    microseconds = pc.cast(pc.cast(column, pa.timestamp("us", tz="UTC")), pa.int64())
    seconds = np.asarray(microseconds.to_numpy(zero_copy_only=False), dtype=np.float64) / 1e6
    return np.where(np.isnan(seconds), missing, seconds)
