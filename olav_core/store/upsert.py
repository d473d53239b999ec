"""The exactly-once write: read the rows, then change them only where they are still as they were read.

A commit is one `merge_insert` of whole rows. Rows that exist are replaced under a guard on their `revision`
(compare and swap); rows that don't are inserted, and the primary key lets one of several racing inserts win.
What lost a race is read again and decided again. Whole rows, because a merge of some columns makes the
engine read the others of every row: 226 ms against 17 ms for one row of 100,000.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from olav_core.errors import ConflictError, RecordError
from olav_core.records import MemoryRecord
from olav_core.store import filters, schema
from olav_core.store.tables import ATTEMPTS, lost_race, pause

if TYPE_CHECKING:
    import pyarrow as pa

    from olav_core.store.store import Store

Cells = dict[str, Any]
UPDATABLE = frozenset(schema.CONTENT) - {"category"} | {"timestamp", "expires_at"}


@frozen
class Written:
    """What became of one record. `created`: this call inserted it. `changed`: its content is new (always so
    when created). `confirmed`: the same content again, only its times moved on. None of them: no write."""

    id: str
    created: bool
    changed: bool
    confirmed: bool = False


def upsert(
    store: Store, records: Sequence[MemoryRecord], vectors: Any, space: str | None = None
) -> list[Written]:
    """Write records with their vectors float32 [n, d]; see `Store.upsert`."""
    import numpy as np

    rows = [schema.encode(record) for record in records]
    array = schema.check_vectors(vectors, [row["id"] for row in rows], store.dimension, store=store.uri)
    pending = {row["id"]: (row, array[n]) for n, row in enumerate(rows)}
    outcome: dict[str, Written | None] = dict.fromkeys(pending)
    sent: dict[str, dict[int, Written]] = {row_id: {} for row_id in pending}
    # A new row that comes with a count, from an export, has counted every hit that is logged by now.
    counted = log_version(store) if any(row["access_count"] for row in rows) else 0

    def attempt() -> None:
        stored = read(store, pending)
        writes: list[tuple[Cells, Any]] = []
        verdicts: dict[str, Written] = {}
        touched: list[str] = []
        for row_id, (new, vector) in pending.items():
            old = stored.get(row_id)
            if old is not None and old["revision"] in sent[row_id]:
                outcome[row_id] = sent[row_id][old["revision"]]
                continue
            verdict = _verdict(new, old)
            verdicts[row_id] = verdict
            if not (verdict.changed or verdict.confirmed):
                outcome[row_id] = verdict
                continue
            if verdict.confirmed:
                touched.append(row_id)
            row = next_state(new, old, counted)
            sent[row_id][row["revision"]] = verdict
            writes.append((row, vector))
        kept = store.vectors(touched)
        writes = [(row, kept.get(row["id"], vector)) for row, vector in writes]
        if writes:
            guard = [stored[row["id"]]["revision"] for row, _ in writes if row["id"] in stored]
            table = schema.to_table(
                by_column([row for row, _ in writes]),
                np.stack([vector for _, vector in writes]),
                store.schema,
            )
            if merge(store, table, expected=guard, insert=len(guard) < len(writes)) == len(writes):
                outcome.update({row["id"]: verdicts[row["id"]] for row, _ in writes})
        for row_id in [row_id for row_id in pending if outcome[row_id] is not None]:
            del pending[row_id]

    _until_done(store, attempt, pending, f"writing {len(rows)} memories to {store.uri}", space)
    return [written for written in outcome.values() if written is not None]


def update_columns(
    store: Store, ids: Sequence[str], columns: Mapping[str, Sequence[Any]], vectors: Any = None
) -> int:
    """Change some columns of rows that exist; see `Store.update_columns`."""
    import numpy as np

    unknown = sorted(set(columns) - UPDATABLE)
    if unknown:
        raise RecordError(f"columns {unknown} cannot be updated. Possible: {', '.join(sorted(UPDATABLE))}.")
    if "search_text" in columns and vectors is None:
        raise RecordError("a new search_text needs its vectors: pass `vectors`, float32 [n, d].")
    for name, values in columns.items():
        if len(values) != len(ids):
            raise RecordError(f"column {name} has {len(values)} values for {len(ids)} ids. Give one per id.")
    array = None
    if vectors is not None:
        array = schema.check_vectors(vectors, ids, store.dimension, store=store.uri)
    pending = {
        row_id: ({name: values[n] for name, values in columns.items()}, None if array is None else array[n])
        for n, row_id in enumerate(ids)
    }
    sent: dict[str, set[int]] = {row_id: set() for row_id in pending}
    updated: set[str] = set()

    def attempt() -> None:
        stored = read(store, pending, decoded=True)
        kept = store.vectors(stored)
        writes: list[tuple[Cells, Any]] = []
        for row_id in list(pending):
            old, (changes, vector) = stored.get(row_id), pending[row_id]
            if old is None or row_id not in kept:
                del pending[row_id]
                continue
            if old["revision"] in sent[row_id]:
                updated.add(row_id)
                del pending[row_id]
                continue
            new = schema.encode(evolve(old["record"], **changes))
            if vector is None and all(
                new[name] == old[name] for name in (*schema.CONTENT, "timestamp", "expires_at")
            ):
                del pending[row_id]
                continue
            row = next_state(new, old)
            sent[row_id].add(row["revision"])
            writes.append((row, kept[row_id] if vector is None else vector))
        if writes:
            guard = [stored[row["id"]]["revision"] for row, _ in writes]
            table = schema.to_table(
                by_column([row for row, _ in writes]),
                np.stack([vector for _, vector in writes]),
                store.schema,
            )
            if merge(store, table, expected=guard) == len(writes):
                updated.update(row["id"] for row, _ in writes)
                pending.clear()

    _until_done(store, attempt, pending, f"updating {len(ids)} memories in {store.uri}")
    return len(updated)


def read(store: Store, ids: Mapping[str, Any], *, decoded: bool = False) -> dict[str, Cells]:
    """Cells by column name (no vector) of the rows that exist, by id; plus `record` when `decoded`."""
    columns = [*schema.SHOWN, *schema.HIDDEN, "_row_last_updated_at_version"]
    rows: dict[str, Cells] = {}
    for part in store.lookup(list(ids), columns):
        cells = {name: schema.cells(part, name) for name in columns}
        records: Sequence[MemoryRecord | None] = schema.decode(part) if decoded else [None] * part.num_rows
        for n, record in enumerate(records):
            row = {name: cells[name][n] for name in columns}
            rows[row["id"]] = row | ({"record": record} if decoded else {})
    return rows


def merge(
    store: Store, rows: pa.Table, *, expected: Sequence[int], insert: bool = False, fold: bool = False
) -> int:
    """Commit whole rows; returns how many were written.

    A stored row is replaced only if its revision is among `expected` and nobody folded its count meanwhile
    (`fold`: only if its count is older). With `insert`, rows that don't exist are added.
    """
    builder = store.table.merge_insert("id")
    if expected:
        mark = (
            "target.access_mark < source.access_mark" if fold else "target.access_mark = source.access_mark"
        )
        builder = builder.when_matched_update_all(
            where=filters.all_of(filters.in_ints("target.revision", expected), mark)
        )
    if insert:
        builder = builder.when_not_matched_insert_all()
    # A scalar index on id would silently break exactly-once.
    result = builder.use_index(False).execute(rows)
    return int(result.num_inserted_rows + result.num_updated_rows)


def _until_done(
    store: Store,
    attempt: Callable[[], None],
    pending: Mapping[str, Any],
    what: str,
    space: str | None = None,
) -> None:
    for n in range(ATTEMPTS):
        with store.lock.turn(n):
            store.begin_write(space)
            try:
                attempt()
            except Exception as error:
                lost_race(error, what)
        if not pending:
            return
        pause(n)
    raise ConflictError(
        f"{what} lost {ATTEMPTS} races in a row; {len(pending)} were not written, {next(iter(pending))!r} "
        "among them. Try again, or let fewer processes write."
    )


def _verdict(new: Cells, old: Cells | None) -> Written:
    if old is None:
        return Written(new["id"], created=True, changed=True)
    if any(new[name] != old[name] for name in schema.CONTENT):
        return Written(new["id"], created=False, changed=True)
    later = new["timestamp"] > old["timestamp"]
    expiry = new["timestamp"] == old["timestamp"] and new["expires_at"] != old["expires_at"]
    return Written(new["id"], created=False, changed=False, confirmed=later or expiry)


def log_version(store: Store) -> int:
    """Return the version of the recall log: hits up to it are in the counts of rows that are written now."""
    log = store.recall_log_table()
    log.checkout_latest()
    return int(log.version)


def next_state(new: Cells, old: Cells | None, counted: int = 0) -> Cells:
    """Return the cells that follow on `old`: content of `new`, counts of `old`, a revision of their own."""
    row = new | {
        "access_mark": counted if new["access_count"] else 0,
        "content_version": 0,
        "revision": schema.new_revision(),
    }
    if old is not None:
        row |= {name: old[name] for name in ("created_at", "access_count", "access_mark")}
    return row


def by_column(rows: Sequence[Cells]) -> dict[str, list[Any]]:
    """Return rows of cells as columns, every stored one but the vector."""
    return {name: [row[name] for row in rows] for name in (*schema.SHOWN, *schema.HIDDEN)}
