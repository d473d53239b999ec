"""Maintenance: fold, expire, compact, clean up; every failure is in the report."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from attrs import frozen

from olav_core import clock
from olav_core.errors import ConflictError, StoreError
from olav_core.store import access_counts, filters, schema, tables, upsert
from olav_core.store.lock import LOST_RACES, LockHeldError, WriteLock, local_path

if TYPE_CHECKING:
    from olav_core.store.store import Store

#: Kept when somebody streams a version, or nobody can know (a remote URI). Otherwise old versions go at once:
#: short reads that meet a cleaned-up version refresh and try again.
KEEP_VERSIONS = timedelta(minutes=10)
#: Seconds that clean-up waits for open streams.
PATIENCE = 2.0
KEEP_LOG = timedelta(days=90)
#: The engine warns at 0 and treats this alike.
NOW = timedelta(milliseconds=1)
#: The engine cleans up at every compaction; this makes it compact only.
NEVER = timedelta(days=36_500)
#: Lance's default rows per fragment: a fragment this large is not compacted for a few deleted rows.
FULL_FRAGMENT = 1024 * 1024


@frozen(kw_only=True)
class MaintenanceReport:
    """What maintenance did. `failures` are sentences, one per step that failed; empty when all is well.
    `versions` and `fragments` are those of table `memory` afterwards."""

    folded: int = 0
    expired: int = 0
    log_rows_deleted: int = 0
    versions: int = 0
    fragments: int = 0
    failures: tuple[str, ...] = ()


def optimize(
    store: Store, *, older_than: timedelta | None = None, log_retention: timedelta = KEEP_LOG
) -> MaintenanceReport:
    """Fold access counts, delete expired rows and old log rows, compact every table, and clean up versions.

    Versions older than `older_than` go, by default all but the newest unless somebody streams one; tagged
    ones stay, and what is newer than the oldest tag. Never raises for a step that failed: each is tried, the
    failures are returned.
    """
    failures: list[str] = []

    def step(name: str, action: Callable[[], int]) -> int:
        try:
            return action()
        except Exception as error:
            failures.append(f"{name}: {error}")
            return 0

    now = clock.now()
    folded = step("fold access counts", store.fold_access_counts)
    expired = step("delete expired rows", lambda: _delete_expired(store, now))
    shortened = step(
        "shorten the recall log", lambda: access_counts.forget_before(store, now - log_retention)
    )
    names = _table_names(store, failures)
    if tables.QUERY_LOG in names:
        step("shorten the query log", lambda: _forget_queries(store, now - log_retention))
    for name in names:
        if not name.startswith(tables.VECTORS_PREFIX):
            step(f"compact table {name}", lambda name=name: _compact(store, name, older_than))  # type: ignore[misc]
    spaces = [name for name in names if name.startswith(tables.VECTORS_PREFIX)]
    step("compact old vectors", lambda: _compact_spaces(store, spaces, older_than))
    return MaintenanceReport(
        folded=folded,
        expired=expired,
        log_rows_deleted=shortened,
        versions=step("count versions", lambda: len(store.table.list_versions())),
        fragments=step(
            "count fragments", lambda: int(store.table.stats()["fragment_stats"]["num_fragments"])
        ),
        failures=tuple(failures),
    )


def purge(store: Store) -> None:
    """Rewrite what holds deleted rows and drop every old version, so that erased texts leave the disk.

    Raises StoreError when a tag holds an old version, or when deleted rows are still on disk afterwards.
    """
    tags = store.table.tags.list()
    if tags:
        raise StoreError(
            f"old versions of {store.uri} are tagged ({', '.join(sorted(tags))}) and may hold erased text. "
            "Delete the tags, then erase again with purge."
        )
    store.refresh()
    if store.count() >= FULL_FRAGMENT:
        rewrite(store)
    else:
        with store.lock.exclusive():
            _second_fragment(store)
            _compact(store, tables.MEMORY, NOW)
            for _ in range(tables.ATTEMPTS):
                if not _deletion_files(store):
                    break
                time.sleep(NOW.total_seconds())  # a version younger than NOW outlived the clean-up
                _compact(store, tables.MEMORY, NOW)
    _purge_spaces(store)
    if _deletion_files(store):
        raise StoreError(
            f"deleted rows of {store.uri} are still on disk: other processes kept writing. "
            "Run `olav kb optimize` when they are quiet, then forget with purge again."
        )


def purge_side(store: Store, name: str) -> None:
    """Drop what a side table's updates left behind: rows that they replaced, and every old version."""
    with store.lock.exclusive():
        for _ in range(tables.ATTEMPTS):
            _compact(store, name, NOW)
            if not _deletion_files(store, name):
                return
            time.sleep(NOW.total_seconds())
    raise StoreError(f"replaced rows of table {name} are still on disk. Run it again when it is quiet.")


def rewrite(store: Store) -> None:
    """Write the whole table anew as one commit, in a stream, and drop every old version. Row ids change."""
    import pyarrow as pa

    with store.lock.exclusive():
        store.refresh()
        layout = store.schema

        def stream() -> Any:
            for batch in store.batches(layout.names):
                yield fresh(batch, layout)

        store.table.add(pa.RecordBatchReader.from_batches(layout, stream()), mode="overwrite")
        store.adopt()
        _compact(store, tables.MEMORY, NOW)


def fresh(batch: Any, layout: Any, vectors: Any = None) -> Any:
    """The batch in `layout`, with other vectors on request, for a table that is written anew: row versions
    start over, so `content_version` is 0."""
    import pyarrow as pa

    columns = []
    for field in layout:
        if field.name == "content_version":
            columns.append(pa.array([0] * batch.num_rows, pa.int64()))
        elif field.name == "vector" and vectors is not None:
            flat = pa.array(vectors.reshape(-1), pa.float32())
            columns.append(pa.FixedSizeListArray.from_arrays(flat, field.type.list_size))
        else:
            columns.append(batch.column(field.name))
    return pa.RecordBatch.from_arrays(columns, schema=layout)


def _delete_expired(store: Store, now: datetime) -> int:
    expired = filters.until("expires_at", now)
    store.refresh()
    # a delete of nothing would still be a commit
    return store.delete_where(expired) if store.table.count_rows(expired) else 0


def _forget_queries(store: Store, cutoff: datetime) -> int:
    log = store.side_table(tables.QUERY_LOG)
    old = filters.until("ts", cutoff)
    with store.lock.shared():
        log.checkout_latest()
        # a delete of nothing would still be a commit
        return tables.delete(log, old, "shortening the query log") if log.count_rows(old) else 0


def _table_names(store: Store, failures: list[str]) -> list[str]:
    try:
        return tables.table_names(store.database)
    except Exception as error:
        failures.append(f"list tables: {error}")
        return []


def _compact_spaces(store: Store, names: Sequence[str], older_than: timedelta | None) -> int:
    """Compact the vectors of other spaces, unless a re-embed is at work: it drops tables as it goes."""
    try:
        with WriteLock.beside(store.uri, "reembed").exclusive(wait=False):
            for name in set(names) & set(tables.table_names(store.database)):
                if tables.open_if_whole(store.database, name) is None:
                    store.database.drop_table(name)  # finishes what a kill cut off
                else:
                    _compact(store, name, older_than)
            return len(names)
    except LockHeldError:
        return 0


def _purge_spaces(store: Store) -> None:
    """Rewrite the kept vectors of other spaces, where rows were deleted from them."""
    prefix = tables.VECTORS_PREFIX
    spaces = [name for name in tables.table_names(store.database) if name.startswith(prefix)]
    deleted = [name for name in spaces if _deletion_files(store, name)]
    if not deleted:
        return
    with WriteLock.beside(store.uri, "reembed").exclusive(wait=False, patience=PATIENCE):
        for name in deleted:
            table = tables.open_if_whole(store.database, name)
            if table is None:
                store.database.drop_table(name)
            else:
                table.add(table.to_arrow(), mode="overwrite")
                _compact(store, name, NOW)


def _compact(store: Store, name: str, older_than: timedelta | None) -> int:
    """Merge small fragments, then clean up versions."""
    table = store.table if name == tables.MEMORY else store.database.open_table(name)
    _attempt(store, table, f"compacting table {name}", NEVER)
    with store.streams.quiet(PATIENCE if older_than is None else 0) as quiet:
        if older_than is None:
            older_than = NOW if quiet else KEEP_VERSIONS
        _attempt(store, table, f"cleaning up table {name}", older_than)
    return 1


def _attempt(store: Store, table: Any, what: str, older_than: timedelta) -> None:
    """Let the engine compact, after a few lost races with the writers held back; and clean up, always so.

    The engine finds a writer's conflicts in the versions since that writer began. Were one of them cleaned up
    meanwhile, the writer would bring back the rows that it had replaced.
    """
    for attempt in range(tables.ATTEMPTS):
        with store.lock.turn(attempt if older_than is NEVER else LOST_RACES):
            store.refresh() if table is store.table else table.checkout_latest()
            try:
                table.optimize(cleanup_older_than=max(older_than, _age_of_oldest_tag(table), NOW))
                return
            except Exception as error:
                tables.lost_race(error, what)
                lost = error
        tables.pause(attempt)
    raise ConflictError(f"{what} in {store.uri} kept losing races ({lost}). Run `olav kb optimize` again.")


def _age_of_oldest_tag(table: Any) -> timedelta:
    """The engine refuses to clean up past a tagged version, so everything from the oldest tag on is kept."""
    tags = table.tags.list()
    if not tags:
        return NOW
    tagged = min(entry["version"] for entry in tags.values())
    moments = {entry["version"]: entry["timestamp"] for entry in table.list_versions()}
    return datetime.now() - moments[tagged] + timedelta(seconds=1) if tagged in moments else NOW


def _second_fragment(store: Store) -> None:
    # A lone fragment with few deleted rows is not compacted; one rewritten row makes a second to merge with.
    import numpy as np

    some = store.table.search().select(["id"]).limit(1).to_arrow().column("id").to_pylist()
    rows = list(upsert.read(store, dict.fromkeys(some)).values())
    vectors = store.vectors(some)
    if not rows:
        return
    row = rows[0]
    row["content_version"] = row["content_version"] or row["_row_last_updated_at_version"]
    columns = {name: [row[name]] for name in (*schema.SHOWN, *schema.HIDDEN)}
    table = schema.to_table(columns, np.stack([vectors[row["id"]]]), store.schema)
    upsert.merge(store, table, expected=[row["revision"]])


def _deletion_files(store: Store, name: str = tables.MEMORY) -> bool:
    directory = local_path(store.uri)
    if directory is None:
        return False
    deletions = directory / f"{name}.lance" / "_deletions"
    return deletions.is_dir() and any(deletions.iterdir())
