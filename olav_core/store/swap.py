"""Compare and swap: rows are replaced, or moved to another id, only while they are as they were read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from olav_core.errors import ConflictError
from olav_core.records import MemoryRecord
from olav_core.store import filters, schema, tables, upsert

if TYPE_CHECKING:
    from olav_core.store.store import Store

#: Ids whose renaming one commit of the recall log tells.
CHUNK = 200


@frozen
class RowState:
    """A row as it was read: its row id, its record, and the revision that names this state of it."""

    rowid: int
    record: MemoryRecord
    revision: int


def states(store: Store, rowids: Sequence[int]) -> list[RowState]:
    """The states of those row ids that still exist."""
    rows = [int(row) for row in rowids]

    def run() -> Any:
        return store.table.take_row_ids(rows).select([*schema.SHOWN, "revision"]).with_row_id().to_arrow()

    if not rows:
        return []
    table = tables.retrying(run, what=f"reading {store.uri}", refresh=store.refresh)
    cells = (schema.cells(table, "_rowid"), schema.decode(table), schema.cells(table, "revision"))
    return [RowState(*row) for row in zip(*cells, strict=True)]


def replace(store: Store, old: Sequence[RowState], new: Sequence[MemoryRecord], vectors: Any) -> set[str]:
    """Put records of the same ids, vectors float32 [n, d], where the old states stand; returns the ids of
    those that were written. A row that somebody changed meanwhile stays as it is, counts and times kept."""
    expected = {state.record.id: state.revision for state in old}

    def due(row_id: str, stored: Mapping[str, Any] | None) -> bool:
        return stored is not None and stored["revision"] == expected[row_id]

    return _write(store, new, vectors, due)


def insert(store: Store, new: Sequence[MemoryRecord], vectors: Any) -> set[str]:
    """Add rows whose id is not there yet, with the counts and times of their records; returns their ids."""
    return _write(store, new, vectors, lambda row_id, stored: stored is None)


def delete(store: Store, revisions: Mapping[str, int]) -> int:
    """Delete rows (id -> revision) that are still in these states; returns how many. Lays no tombstone."""
    gone, ids = 0, list(revisions)
    for start in range(0, len(ids), CHUNK):
        chunk = ids[start : start + CHUNK]
        where = filters.all_of(
            filters.in_("id", chunk), filters.in_ints("revision", [revisions[row_id] for row_id in chunk])
        )
        gone += store.delete_where(where)
    return gone


def forget_kept_vectors(store: Store, ids: Iterable[str]) -> None:
    """Delete what side tables keep of these rows' vectors in other embedding spaces."""
    doomed = list(ids)
    with store.lock.shared():
        for table in store.other_spaces():
            for start in range(0, len(doomed), CHUNK):
                tables.delete(table, filters.in_("id", doomed[start : start + CHUNK]), "erasing kept vectors")


def rename_in_log(store: Store, moved: Mapping[str, str]) -> None:
    """Let the recall log, and people's thumbs, tell of rows by their new ids."""
    there = tables.table_names(store.database)
    for name in (tables.RECALL_LOG, tables.FEEDBACK):
        if name in there:
            _rename(store, store.side_table(name), moved)


def _rename(store: Store, log: Any, moved: Mapping[str, str]) -> None:
    log.checkout_latest()
    shown = tables.retrying(
        lambda: log.search().select(["memory_id"]).to_arrow(),
        what="reading the recall log",
        refresh=log.checkout_latest,
    )
    for old in sorted(set(shown.column("memory_id").to_pylist()) & set(moved)):

        def rename(old: str = old) -> Any:
            return log.update(where=filters.eq("memory_id", old), values={"memory_id": moved[old]})

        with store.lock.shared():
            tables.retrying(rename, what="renaming in the recall log", refresh=log.checkout_latest)


def _write(
    store: Store,
    new: Sequence[MemoryRecord],
    vectors: Any,
    due: Callable[[str, Mapping[str, Any] | None], bool],
) -> set[str]:
    import numpy as np

    if not new:
        return set()
    cells = [schema.encode(record) for record in new]
    array = schema.check_vectors(vectors, [row["id"] for row in cells], store.dimension, store=store.uri)
    pending = {row["id"]: (row, array[n]) for n, row in enumerate(cells)}
    sent: dict[str, set[int]] = {row_id: set() for row_id in pending}
    written: set[str] = set()
    for n in range(tables.ATTEMPTS):
        with store.lock.turn(n):
            store.begin_write()
            stored = upsert.read(store, pending)
            written |= {row_id for row_id in pending if _is_ours(stored.get(row_id), sent[row_id])}
            left = [row_id for row_id in pending if row_id not in written and due(row_id, stored.get(row_id))]
            pending = {row_id: pending[row_id] for row_id in left}
            if not pending:
                return written
            counted = upsert.log_version(store) if any(pending[one][0]["access_count"] for one in left) else 0
            rows = [upsert.next_state(pending[one][0], stored.get(one), counted) for one in left]
            for row in rows:
                sent[row["id"]].add(row["revision"])
            matrix = np.stack([pending[row_id][1] for row_id in left])
            guard = [stored[row_id]["revision"] for row_id in left if row_id in stored]
            try:
                table = schema.to_table(upsert.by_column(rows), matrix, store.schema)
                if upsert.merge(store, table, expected=guard, insert=not guard) == len(rows):
                    store.upkeep.committed()
                    return written | set(left)
            except Exception as error:
                tables.lost_race(error, f"replacing {len(rows)} memories in {store.uri}")
        tables.pause(n)
    raise ConflictError(f"replacing memories in {store.uri} kept losing races. Run it again: it goes on.")


def _is_ours(stored: Mapping[str, Any] | None, revisions: set[int]) -> bool:
    return stored is not None and stored["revision"] in revisions
