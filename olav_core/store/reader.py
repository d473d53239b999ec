"""Reading the table `memory`: what the last refresh saw, by id, row id, category, scope or version."""

from __future__ import annotations

import builtins
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from olav_core.errors import RecordError, StoreError, UnknownIdError
from olav_core.records import MemoryRecord, clean_text
from olav_core.store import filters, schema, tables
from olav_core.store.freshness import VersionsFolder
from olav_core.store.lock import StreamLock, local_path

if TYPE_CHECKING:
    import pyarrow as pa

#: What the recall index needs of a changed row.
CHANGED = (*schema.SHOWN, "vector")
#: Ids per `IN` filter; a lookup of more reads the id column first and asks only for those that exist.
CHUNK = 1000
#: Digits of the hash that a prefix of an id needs.
SHORTEST_PREFIX = 4
BATCH_ROWS = 2048


class TableReader:
    """The read side of an open store."""

    def __init__(self, uri: str, table: Any) -> None:
        self.uri = uri
        self.table = table
        self.schema: pa.Schema = table.schema
        self.streams = StreamLock.beside(uri)
        self._seen_version = -1
        self._refreshing = threading.Lock()
        directory = local_path(uri)
        self._versions = VersionsFolder(directory and directory / f"{tables.MEMORY}.lance" / "_versions")
        self.refresh()

    @property
    def version(self) -> int:
        """The table version that reads see."""
        return int(self.table.version)

    @property
    def fingerprint(self) -> str:
        """The embedding space of the vectors that reads see, as JSON."""
        with self._refreshing:  # a refresh moves the reads first, the schema a moment later
            metadata = self.schema.metadata
        return bytes(metadata[schema.FINGERPRINT_KEY]).decode()

    @property
    def dimension(self) -> int:
        """The width of the stored vectors."""
        return int(self.schema.field("vector").type.list_size)

    def refresh(self) -> int:
        """See what every process committed until now; returns the version. Costs well under 1 ms locally,
        and a hundredth of that when nothing was."""
        with self._refreshing:  # else an older schema may be put over a newer one
            stamp = self._versions.stamp()
            if self._versions.unchanged(stamp) and self._seen_version >= 0:
                return self._seen_version
            self.table.checkout_latest()
            version = self.version
            if version != self._seen_version:
                self.schema = self.table.schema
                self._seen_version = version
            self._versions.seen(stamp)
            return version

    def scan(self, columns: Sequence[str], where: str | None = None, *, row_ids: bool = False) -> pa.Table:
        """Columns of the rows that pass `where` (built by `filters`), with `_rowid` on request."""

        def run() -> pa.Table:
            query = self.table.search().select(builtins.list(columns))
            if where is not None:
                query = query.where(where)
            return (query.with_row_id(True) if row_ids else query).to_arrow()

        return tables.retrying(run, what=f"reading {self.uri}", refresh=self.refresh)

    def batches(self, columns: Sequence[str], where: str | None = None) -> Iterator[pa.RecordBatch]:
        """Like `scan` with `_rowid`, as a stream of batches: memory stays flat in the number of rows.

        While the stream is open, its version is not cleaned up. Raises StoreError when a file is damaged.
        """
        what = f"reading {self.uri}"
        with self.streams.reading():
            self.refresh()  # the version of an earlier refresh may be cleaned up by now
            query = self.table.search().select(builtins.list(columns)).with_row_id(True)
            if where is not None:
                query = query.where(where)
            try:
                yield from query.to_batches(BATCH_ROWS)
            except Exception as error:
                tables.lost_race(error, what)
                raise tables.gave_up(error, what) from error

    def lookup(self, ids: Sequence[str], columns: Sequence[str]) -> Iterator[pa.Table]:
        """Columns of the rows with these ids, in tables of at most CHUNK rows; unknown ids are left out."""
        if len(ids) > CHUNK:
            known = set(self.scan(["id"]).column("id").to_pylist())
            ids = [row_id for row_id in ids if row_id in known]
        for start in range(0, len(ids), CHUNK):
            yield self.scan(columns, filters.in_("id", ids[start : start + CHUNK]))

    def count(self, *, category: str | None = None, scope: str | None = None) -> int:
        """Rows, of one category or scope on request."""
        where = filters.all_of(
            None if category is None else filters.eq("category", category),
            None if scope is None else filters.eq("scope", scope),
        )
        return int(
            tables.retrying(lambda: self.table.count_rows(where), what="counting", refresh=self.refresh)
        )

    def counts(self) -> dict[tuple[str, str], int]:
        """Rows by (category, scope)."""
        grouped = (
            self.scan(["category", "scope"]).group_by(["category", "scope"]).aggregate([([], "count_all")])
        )
        return {(row["category"], row["scope"]): row["count_all"] for row in grouped.to_pylist()}

    def existing(self, ids: Iterable[str]) -> dict[str, MemoryRecord]:
        """The records that exist, by id."""
        parts = self.lookup(builtins.list(dict.fromkeys(ids)), schema.SHOWN)
        return {record.id: record for part in parts for record in schema.decode(part)}

    def get(self, row_id: str) -> MemoryRecord | None:
        """The record with exactly this id."""
        return self.existing([row_id]).get(row_id)

    def one(self, id: str) -> MemoryRecord:
        """The record with this id or this unique prefix of it; raises UnknownIdError."""
        if not isinstance(id, str):
            raise RecordError(f"id must be a string, not {type(id).__name__}.")
        if clean_text(id) != id:
            raise UnknownIdError(f"There is no memory {id!r}: no id holds a control character.")
        exact = self.get(id)
        if exact is not None:
            return exact
        found = self.find(id, limit=2)
        if len(found) == 1:
            return found[0]
        if found:
            raise UnknownIdError(
                f"{id!r} begins several memories, {found[0].id} and others. Give more of the id."
            )
        raise UnknownIdError(f"There is no memory {id!r}. `olav kb list` shows what there is.")

    def find(self, prefix: str, *, limit: int = 20) -> builtins.list[MemoryRecord]:
        """Records whose id, or its part after the category, starts with `prefix`; sorted by id.

        None for fewer than SHORTEST_PREFIX digits of the hash: a category's name alone names no memory.
        """
        _, colon, digits = prefix.rpartition(":")
        if len(digits) < SHORTEST_PREFIX:
            return []
        where = filters.prefix("id", prefix) if colon else filters.contains("id", f":{prefix}")
        ids = sorted(self.scan(["id"], where).column("id").to_pylist())[:limit]
        found = self.existing(ids)
        return [found[row_id] for row_id in ids if row_id in found]

    def list(
        self,
        *,
        category: str | None = None,
        scopes: Iterable[str] | None = None,
        origin: str | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> builtins.list[MemoryRecord]:
        """Records by exact category, scopes and origin; newest `timestamp` first, then by id."""
        where = filters.all_of(
            None if category is None else filters.eq("category", category),
            None if scopes is None else filters.in_("scope", scopes),
            None if origin is None else filters.eq("origin", origin),
        )
        rows = self.scan(["id", "timestamp"], where, row_ids=True)
        rows = rows.sort_by([("timestamp", "descending"), ("id", "ascending")])
        rows = rows.slice(min(offset, len(rows)), None if limit is None else min(limit, len(rows)))
        present = self.take_present(rows.column("_rowid").to_pylist())
        return [present[row] for row in rows.column("_rowid").to_pylist() if row in present]

    def take(self, rowids: Sequence[int]) -> builtins.list[MemoryRecord]:
        """The records of these row ids, in their order. Raises StoreError if one was deleted meanwhile: a
        list that is shorter than asked would pair texts with the wrong rows."""
        present = self.take_present(rowids)
        gone = [int(row) for row in rowids if int(row) not in present]
        if gone:
            raise StoreError(
                f"{len(gone)} of {len(rowids)} rows were deleted meanwhile. Refresh and search again."
            )
        return [present[int(row)] for row in rowids]

    def take_present(self, rowids: Sequence[int]) -> dict[int, MemoryRecord]:
        """The records of those row ids that still exist, by row id."""
        rows = [int(row) for row in rowids]
        if not rows:
            return {}

        def run() -> pa.Table:
            # The engine answers in table order and leaves out what is gone.
            return self.table.take_row_ids(rows).select(schema.SHOWN).with_row_id().to_arrow()

        table = tables.retrying(run, what=f"reading {self.uri}", refresh=self.refresh)
        return dict(zip(table.column("_rowid").to_pylist(), schema.decode(table), strict=True))

    def texts(self, rowids: Sequence[int]) -> builtins.list[tuple[str, int, str]]:
        """(id, revision, text to embed) of those row ids that still exist."""
        rows = [int(row) for row in rowids]

        def run() -> pa.Table:
            columns = ["id", "revision", "search_text", "text"]
            return self.table.take_row_ids(rows).select(columns).to_arrow()

        if not rows:
            return []
        found = tables.retrying(run, what=f"reading {self.uri}", refresh=self.refresh).to_pylist()
        return [(row["id"], row["revision"], row["search_text"] or row["text"]) for row in found]

    def vectors(self, ids: Iterable[str]) -> dict[str, Any]:
        """Stored vectors float32 [d] by id."""
        found: dict[str, Any] = {}
        for part in self.lookup(builtins.list(dict.fromkeys(ids)), ["id", "vector"]):
            found.update(
                zip(part.column("id").to_pylist(), schema.matrix(part.column("vector")), strict=True)
            )
        return found

    def changed_since(self, version: int | None) -> Iterator[pa.RecordBatch]:
        """Rows written after `version` (None: all), as batches of `_rowid` and the columns of CHANGED.

        A fold of access counts alone is no change. Deletes don't show: compare `row_ids`.
        """
        if version is None:
            return self.batches(CHANGED)
        unfolded = filters.greater("_row_last_updated_at_version", version)
        where = filters.any_of(
            f"content_version = 0 AND {unfolded}", filters.greater("content_version", version)
        )
        # No stream: a recall waits for this, so it must neither wait for a clean-up nor fail because of one.
        return iter(self.scan(CHANGED, where, row_ids=True).to_batches())

    def row_ids(self) -> Any:
        """The stable row ids of all rows, uint64 [n]; they survive updates and compaction."""
        return self.scan(["_rowid"], row_ids=True).column("_rowid").to_numpy()
