"""The store: one LanceDB table of memories and its side tables, in one database directory or URI."""

from __future__ import annotations

import builtins
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any

from olav_core import clock
from olav_core.errors import EmbeddingDimMismatchError, EmbeddingSpaceMismatchError, StoreError
from olav_core.records import MemoryRecord
from olav_core.store import access_counts, filters, maintenance, schema, tables, upsert
from olav_core.store.calibrations import Calibrations, calibration_schema
from olav_core.store.lock import WriteLock, local_path
from olav_core.store.query_log import feedback_schema, query_log_schema
from olav_core.store.reader import CHUNK, TableReader
from olav_core.store.recall_log import Hit, RecallLog, recall_log_schema
from olav_core.store.tombstones import Tombstones, tombstone_schema
from olav_core.store.upkeep import Upkeep

if TYPE_CHECKING:
    import pyarrow as pa

    from olav_core.store.upsert import Written

#: Side table -> what makes its schema.
SIDE_SCHEMAS: Mapping[str, Callable[[], pa.Schema]] = {
    tables.RECALL_LOG: recall_log_schema,
    tables.TOMBSTONE: tombstone_schema,
    tables.CALIBRATION: calibration_schema,
    tables.QUERY_LOG: query_log_schema,
    tables.FEEDBACK: feedback_schema,
}
#: Side tables that no store is without.
STANDING = (tables.RECALL_LOG, tables.TOMBSTONE)
_log = logging.getLogger("olav")


class Store(TableReader):
    """An open store; safe to use from several threads, and beside other processes.

    Reads see what the last `refresh` or write of this object saw. Writes are exactly-once by id.
    `fingerprint` is the JSON text kept in the table's metadata, as of the last refresh; the store does not
    interpret it beyond its `dimension`.
    """

    def __init__(self, uri: str, database: Any, table: Any) -> None:
        super().__init__(uri, table)
        self.database = database
        self.lock = WriteLock.beside(uri)
        self.folded_through = 0
        self._side: dict[str, Any] = {}
        self._own_fingerprint = self.fingerprint
        self.tombstones = Tombstones(lambda: self.side_table(tables.TOMBSTONE))
        self.calibrations = Calibrations(self)
        self.upkeep = Upkeep(self)
        self.recall_log = RecallLog(self.recall_log_table, self.upkeep.committed)

    # --- opening ----------------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        uri: str,
        fingerprint: str,
        *,
        dimension: int | None = None,
        storage_options: Mapping[str, str] | None = None,
    ) -> Store:
        """Create an empty store for one embedding space.

        `fingerprint` is JSON; its key `dimension` gives the vectors' width unless `dimension` does. Raises
        StoreError when `uri` holds a memory table already, readable or not.
        """
        database = tables.connect(uri, storage_options)
        names = tables.table_names(database)
        if tables.MEMORY in names:
            tables.open_memory(database, uri)  # says so when it is damaged
            raise StoreError(
                f"{uri} already holds a store; nothing was changed. Open it, or choose another path."
            )
        for name in STANDING:
            if name not in names:
                tables.create(database, name, SIDE_SCHEMAS[name]())
        width = dimension_of(fingerprint) if dimension is None else dimension
        # Last, so that a crash before it leaves no store rather than half of one.
        tables.create(database, tables.MEMORY, schema.memory_schema(width, fingerprint))
        return cls(uri, database, tables.open_memory(database, uri))

    @classmethod
    def open(cls, uri: str, *, storage_options: Mapping[str, str] | None = None) -> Store:
        """Open an existing store. Raises StoreError, with the mend, for a missing, damaged, foreign or newer
        one; never creates a table or a directory."""
        directory = local_path(uri)
        if directory is not None and not directory.is_dir():
            raise StoreError(
                f"there is no store at {uri}. Run `olav init` to create one, or fix `store.uri` in "
                ".olav/config.yaml."
            )
        database = tables.connect(uri, storage_options)
        return cls(uri, database, tables.open_memory(database, uri))

    def destroy_rows(self, fingerprint: str) -> int:
        """Destroy every row and go on, empty, in another space; returns how many went.

        For OLAV_ALLOW_DESTRUCTIVE_DIM_MIGRATION only. Tombstones stay. Old versions stay until maintenance.
        """
        empty = schema.memory_schema(dimension_of(fingerprint), fingerprint).empty_table()
        with self.lock.exclusive():
            self.refresh()
            destroyed = self.count()
            self.table.add(empty, mode="overwrite")
            self.recall_log_table().delete("true")
            self.adopt()
        _log.warning(
            "destroyed %d memories in %s: OLAV_ALLOW_DESTRUCTIVE_DIM_MIGRATION is set", destroyed, self.uri
        )
        return destroyed

    def close(self) -> None:
        """Flush the recall log, stop its writer, and wait for maintenance that is under way."""
        self.recall_log.close()
        self.upkeep.wait()

    def again(self) -> Store:
        """Another handle on the same store, for a thread that moves through versions by itself."""
        return Store(self.uri, self.database, tables.open_memory(self.database, self.uri))

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- state ------------------------------------------------------------------------------------

    def begin_write(self, space: str | None = None) -> None:
        """Refresh; EmbeddingSpaceMismatchError if the store is no more in the space of the fingerprint
        `space`, by default the one it had when it was opened here."""
        self.refresh()
        space = self._own_fingerprint if space is None else space
        if self.fingerprint == space:
            return
        old, new = dimension_of(space), self.dimension
        kind = EmbeddingSpaceMismatchError if old == new else EmbeddingDimMismatchError
        raise kind(
            f"{self.uri} was moved to another embedder ({old} -> {new} dimensions) by another process since "
            "it was opened here; nothing was written. Restart this process: it then loads the right embedder."
        )

    def adopt(self) -> None:
        """Take the table's present space as the one this object writes (after a switch made through it)."""
        self._seen_version = -1
        self.refresh()
        self._own_fingerprint = self.fingerprint

    # --- writing ----------------------------------------------------------------------------------

    def upsert(
        self, records: Sequence[MemoryRecord], vectors: Any, *, space: str | None = None
    ) -> builtins.list[Written]:
        """Write records with their vectors float32 [n, d]; one `Written` per distinct id, in order of first
        appearance (of a repeated id the last one counts).

        created_at and access_count of a stored row are kept. The same content again moves only `timestamp`
        and `expires_at`, and only forward. `space` is the fingerprint that the vectors are of. Before
        anything is written it raises RecordError, EmbedderError or EmbeddingSpaceMismatchError; ConflictError
        when races never end.
        """
        if not records:
            return []
        written = upsert.upsert(self, records, vectors, space)
        if any(item.changed or item.confirmed for item in written):
            self.upkeep.committed()
        return written

    def update_columns(
        self, ids: Sequence[str], columns: Mapping[str, Sequence[Any]], vectors: Any = None
    ) -> int:
        """Set columns of existing rows, one value (as in MemoryRecord) per id; returns how many rows changed.

        Not id, category, created_at or access_count. A new search_text needs its `vectors` float32 [n, d].
        """
        updated = upsert.update_columns(self, ids, columns, vectors)
        if updated:
            self.upkeep.committed()
        return updated

    def delete(self, ids: Iterable[str]) -> int:
        """Delete rows by id; returns how many there were. Old versions keep the text until maintenance."""
        wanted = list(dict.fromkeys(ids))
        deleted = 0
        with self.lock.shared():
            for start in range(0, len(wanted), CHUNK):
                deleted += self.delete_where(filters.in_("id", wanted[start : start + CHUNK]))
        return deleted

    def delete_where(self, where: str) -> int:
        """Delete the rows that pass a filter built by `filters`; for the modules of this package."""
        with self.lock.shared():
            self.refresh()
            result = tables.retrying(lambda: self.table.delete(where), what="deleting", refresh=self.refresh)
        self.upkeep.committed()
        return int(result.num_deleted_rows)

    def erase(self, ids: Iterable[str], *, purge: bool = False) -> int:
        """Delete rows and lay tombstones for their texts, tombstones first; returns how many rows went.

        With `purge`, old versions are cleaned too, so that the text is gone from disk; readers that hold an
        old version fail once and must refresh.
        """
        self.refresh()
        doomed = self.existing(ids)
        if doomed:
            self.tombstones.add([(record.id, record.text) for record in doomed.values()])
        erased = self.delete(doomed)
        with self.lock.shared():
            for table in self.other_spaces():
                for start in range(0, len(doomed), CHUNK):
                    chunk = filters.in_("id", list(doomed)[start : start + CHUNK])
                    tables.delete(table, chunk, "erasing kept vectors")
            if doomed and tables.FEEDBACK in tables.table_names(self.database):
                thumbs = filters.in_("memory_id", doomed)
                tables.delete(self.side_table(tables.FEEDBACK), thumbs, "erasing thumbs")
        if purge:
            maintenance.purge(self)
        return erased

    def other_spaces(self) -> builtins.list[Any]:
        """The side tables that keep vectors of other embedding spaces."""
        names = [name for name in tables.table_names(self.database) if name.startswith(tables.VECTORS_PREFIX)]
        found = [tables.open_if_whole(self.database, name) for name in names]
        return [table for table in found if table is not None]

    def erased(self, text_hashes: Iterable[str]) -> set[str]:
        """Those of the hashes (`tombstones.text_hash`) whose text was erased."""
        return self.tombstones.erased(text_hashes)

    def revive(self, text_hashes: Iterable[str]) -> int:
        """Take back the tombstones of texts that were stored again; returns how many went."""
        erased = self.erased(text_hashes)
        with self.lock.shared():
            return self.tombstones.lift(erased) if erased else 0

    # --- the recall log and maintenance -------------------------------------------------------------

    def log_recall(
        self, memory_ids: Sequence[str], *, agent: str, query_hash: str, tier: str, ts: float | None = None
    ) -> None:
        """Note that these memories were shown, best first; buffered, returns at once."""
        now = clock.now().timestamp() if ts is None else ts
        self.recall_log.add(
            [
                Hit(now, query_hash, agent, row_id, rank, tier)
                for rank, row_id in enumerate(memory_ids, start=1)
            ]
        )

    def flush(self) -> int:
        """Write the buffered recall log; returns the number of hits."""
        return self.recall_log.flush()

    def fold_access_counts(self) -> int:
        """Flush, then count the log into `access_count`; returns the number of rows whose count moved."""
        self.flush()
        return access_counts.fold(self)

    def optimize(
        self,
        *,
        older_than: timedelta | None = None,
        log_retention: timedelta = maintenance.KEEP_LOG,
    ) -> maintenance.MaintenanceReport:
        """Fold, expire, compact and clean up; see `maintenance.optimize`."""
        return self.upkeep.run(
            lambda store: maintenance.optimize(store, older_than=older_than, log_retention=log_retention)
        )

    def recall_log_table(self) -> Any:
        """The handle of the side table `recall_log`."""
        return self.side_table(tables.RECALL_LOG)

    def side_table(self, name: str) -> Any:
        """The handle of a side table (a key of SIDE_SCHEMAS), created empty if missing."""
        if name not in self._side:
            listed = name in tables.table_names(self.database)
            try:
                if not listed and name in STANDING:
                    _log.warning("side table %s was missing in %s and is created empty", name, self.uri)
                    if name == tables.RECALL_LOG:
                        self.table.update(where="access_mark > 0", values={"access_mark": 0})
                if not listed:
                    tables.create(self.database, name, SIDE_SCHEMAS[name]())
                self._side[name] = self.database.open_table(name)
            except Exception as error:
                raise StoreError(
                    f"side table {name} in {self.uri} cannot be opened: {error}. Restore it from a backup, "
                    f"or move its directory {name}.lance away: it is then created anew."
                ) from error
        return self._side[name]


def dimension_of(fingerprint: str) -> int:
    """The key `dimension` of a fingerprint's JSON; StoreError when there is none."""
    try:
        return int(json.loads(fingerprint)["dimension"])
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError("a fingerprint must be a JSON object with the key `dimension`.") from error
