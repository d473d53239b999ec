"""Folding the recall log into `memory.access_count`.

A row's pair (access_count, access_mark) says "so many hits up to this version of the log". A fold reads the
log as of one version and moves pairs forward, only where the stored mark is older: running it again, or in
two processes at once, or dying half way, changes no count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from olav_core.errors import ConflictError
from olav_core.store import filters, schema, upsert
from olav_core.store.tables import ATTEMPTS, delete, lost_race, pause, retrying

if TYPE_CHECKING:
    from olav_core.store.store import Store

#: Rows per commit: whole rows are read and written, vectors included (about 2 MB at 384 dimensions).
CHUNK = 1000


def fold(store: Store) -> int:
    """Count the hits that were flushed until now; returns the number of rows whose count moved."""
    log = store.recall_log_table()
    log.checkout_latest()
    through = int(log.version)
    shown = retrying(
        lambda: (
            log.search()
            .where(filters.greater("_row_created_at_version", store.folded_through))
            .select(["memory_id", "_row_created_at_version"])
            .to_arrow()
        ),
        what="reading the recall log",
        refresh=log.checkout_latest,
    )
    hits: dict[str, list[int]] = defaultdict(list)
    for memory_id, version in zip(
        shown["memory_id"].to_pylist(), shown["_row_created_at_version"].to_pylist(), strict=True
    ):
        if version <= through:
            hits[memory_id].append(version)
    ids = list(hits)
    moved = sum(_fold_chunk(store, ids[n : n + CHUNK], hits, through) for n in range(0, len(ids), CHUNK))
    store.folded_through = through
    return moved


def forget_before(store: Store, cutoff: datetime) -> int:
    """Delete log rows older than `cutoff` that a complete fold has counted; returns how many."""
    log = store.recall_log_table()
    where = filters.all_of(
        filters.at_most("_row_created_at_version", store.folded_through), filters.until("ts", cutoff)
    )
    with store.lock.shared():
        return delete(log, where, "shortening the recall log")


def _fold_chunk(store: Store, ids: Sequence[str], hits: dict[str, list[int]], through: int) -> int:
    pending, moved = set(ids), 0
    for attempt in range(ATTEMPTS):
        with store.lock.turn(attempt):
            store.refresh()
            try:
                rows = _due(store, pending, hits, through)
                table = _whole_rows(store, rows)
                if not rows:
                    return moved
                written = upsert.merge(store, table, expected=[row["revision"] for row in rows], fold=True)
                moved += written
                if written == len(rows):
                    return moved
            except Exception as error:
                lost_race(error, "folding access counts")
        pause(attempt)
    raise ConflictError(
        f"folding access counts in {store.uri} kept losing races. Run `olav kb optimize` again."
    )


def _due(store: Store, ids: set[str], hits: dict[str, list[int]], through: int) -> list[dict[str, Any]]:
    due = []
    for row_id, row in upsert.read(store, dict.fromkeys(ids)).items():
        news = sum(version > row["access_mark"] for version in hits[row_id])
        if row["access_mark"] >= through or not news:
            ids.discard(row_id)
            continue
        row["access_count"] += news
        row["access_mark"] = through
        row["content_version"] = row["content_version"] or row["_row_last_updated_at_version"]
        due.append(row)
    return due


def _whole_rows(store: Store, rows: list[dict[str, Any]]) -> Any:
    import numpy as np

    vectors = store.vectors([row["id"] for row in rows])
    rows[:] = [row for row in rows if row["id"] in vectors]
    columns = {name: [row[name] for row in rows] for name in (*schema.SHOWN, *schema.HIDDEN)}
    width = store.dimension
    matrix = np.stack([vectors[row["id"]] for row in rows]) if rows else np.empty((0, width), np.float32)
    return schema.to_table(columns, matrix, store.schema)
