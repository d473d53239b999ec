"""Moving a store to another embedder: resumable, proven, switched in one commit.

Vectors of one space are kept in a side table `vectors_<space>` as (id, revision, vector). A revision names
one state of one row, so the table answers "which rows still need a vector": after a kill, after rows changed
meanwhile, and on the way back. The vectors of the space that is left are kept the same way, until `purge`:
going back then embeds only what changed since. (A tag on the old version would stop every clean-up of
versions, and would bring back erased texts.)
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from attrs import frozen

from olav_core.errors import StoreError
from olav_core.store import maintenance, schema, tables
from olav_core.store.lock import WriteLock
from olav_core.store.store import dimension_of

if TYPE_CHECKING:
    import pyarrow as pa

    from olav_core.store.store import Store

#: Catch-up rounds before the lock; the last round, under the lock, embeds what changed during the one before.
ROUNDS = 4
#: Seconds to wait for maintenance, which holds the lock while it compacts the vectors of other spaces.
PATIENCE = 3.0

Embed = Callable[[list[str]], Any]
#: Called with (rows done, rows in all) after every batch.
Progress = Callable[[int, int], None]


@frozen(kw_only=True)
class ReembedReport:
    """`rows` in the store after the switch; `embedded` by this run, `reused` from an earlier one; `kept`: the
    side table that holds the vectors of the space that was left, None when nothing had to be switched."""

    rows: int
    embedded: int
    reused: int
    kept: str | None


def reembed(
    store: Store,
    embed: Embed,
    fingerprint_json: str,
    *,
    on_progress: Progress | None = None,
    batch: int = 256,
) -> ReembedReport:
    """Move `store` to the space of `fingerprint_json`; `embed(texts)` gives passage vectors float32 [n, d].

    Readers see the old store whole until the switch, writers wait only during it. A killed run resumes.
    Raises StoreError when another re-embed runs or the proof of ids and counts fails: nothing is switched.
    On a remote URI there is no lock: stop the writers first (a write during the switch makes it start over).
    """
    with WriteLock.beside(store.uri, "reembed").exclusive(wait=False, patience=PATIENCE):
        store.refresh()
        if store.fingerprint == fingerprint_json:
            store.adopt()
            return ReembedReport(rows=store.count(), embedded=0, reused=0, kept=None)
        target = _VectorTable(store, fingerprint_json, dimension_of(fingerprint_json))
        embedded = 0
        for _ in range(ROUNDS):
            news = target.fill(embed, batch, on_progress)
            embedded += news
            if news <= batch:
                break
        old = _VectorTable(store, store.fingerprint, store.dimension)
        old.keep()
        for _ in range(tables.ATTEMPTS):
            with store.lock.exclusive():
                embedded += target.fill(embed, batch, on_progress)
                rows = _switch(store, target, fingerprint_json)
            if rows is not None:
                break
        else:
            raise StoreError(
                f"{store.uri} was written during every attempt to switch; it is unchanged. Stop the writers, "
                "then run `olav kb reembed` again: it resumes."
            )
        store.database.drop_table(target.name)
        return ReembedReport(rows=rows, embedded=embedded, reused=rows - min(rows, embedded), kept=old.name)


def purge(store: Store) -> list[str]:
    """Drop the vectors of every other space (kept or half made); returns the names of the dropped tables."""
    with WriteLock.beside(store.uri, "reembed").exclusive(wait=False, patience=PATIENCE):
        names = kept(store)
        for name in names:
            store.database.drop_table(name)
    return names


def kept(store: Store) -> list[str]:
    """The side tables that hold vectors of other spaces."""
    return [name for name in tables.table_names(store.database) if name.startswith(tables.VECTORS_PREFIX)]


class _VectorTable:
    """Vectors of one space, by row revision."""

    def __init__(self, store: Store, fingerprint_json: str, dimension: int) -> None:
        self.store = store
        self.dimension = dimension
        self.name = tables.VECTORS_PREFIX + hashlib.sha256(fingerprint_json.encode()).hexdigest()[:16]
        self._schema = _vector_schema(dimension, fingerprint_json)
        listed = self.name in tables.table_names(store.database)
        table = tables.open_if_whole(store.database, self.name) if listed else None
        if listed and table is None:
            store.database.drop_table(self.name)
        if table is None:
            table = tables.create(store.database, self.name, self._schema)
        self.table: Any = table

    def known(self) -> tuple[Any, Any]:
        """(revisions int64 [n] sorted, row ids uint64 [n]) of what the table holds."""
        import numpy as np

        self.table.checkout_latest()
        rows = self.table.search().select(["revision"]).with_row_id(True).to_arrow()
        revisions = rows.column("revision").to_numpy()
        order = np.argsort(revisions, kind="stable")
        return revisions[order], rows.column("_rowid").to_numpy()[order]

    def fill(self, embed: Embed, batch: int, on_progress: Progress | None) -> int:
        """Embed the rows whose revision has no vector yet; returns how many. One commit per batch."""
        self.store.refresh()
        revisions, _ = self.known()
        total = self.store.count()
        rows = self.store.scan(["revision"], row_ids=True)
        missing = ~_among(rows.column("revision").to_numpy(), revisions)
        rowids = rows.column("_rowid").to_numpy()[missing]
        done, embedded = rows.num_rows - len(rowids), 0
        # By row id, not as one stream: that would hold off clean-up for as long as the embedder takes.
        for start in range(0, len(rowids), batch):
            part = self.store.texts(rowids[start : start + batch])
            if part:
                ids, part_revisions, texts = map(list, zip(*part, strict=True))
                array = schema.check_vectors(embed(texts), ids, self.dimension, store=self.name)
                self._append(ids, part_revisions, array)
                embedded += len(part)
                if on_progress is not None:
                    on_progress(min(done + embedded, total), total)
        if on_progress is not None:
            on_progress(total, total)
        return embedded

    def keep(self) -> None:
        """Copy the store's own vectors, in a stream, in one commit."""
        import pyarrow as pa

        self.store.refresh()
        revisions, _ = self.known()

        def stream() -> Iterator[pa.RecordBatch]:
            for part in self.store.batches(["id", "revision", "vector"]):
                missing = part.filter(~_among(part.column("revision").to_numpy(), revisions))
                yield pa.RecordBatch.from_arrays(
                    [missing.column(name) for name in self._schema.names], schema=self._schema
                )

        self.table.add(pa.RecordBatchReader.from_batches(self._schema, stream()))

    def take(self, ids: list[str], revisions: Any, known: tuple[Any, Any]) -> Any:
        """Vectors float32 [n, d] of rows by revision; StoreError when one is missing or of another id."""
        import numpy as np

        sorted_revisions, rowids = known
        found = _among(revisions, sorted_revisions)
        if not found.all():
            raise StoreError(
                f"{int((~found).sum())} rows of {self.store.uri} have no new vector; nothing was switched. "
                "Run `olav kb reembed` again: it resumes."
            )
        wanted = rowids[np.searchsorted(sorted_revisions, revisions)]
        rows = self.table.take_row_ids(wanted.tolist()).select(["id", "vector"]).with_row_id().to_arrow()
        have = rows.column("_rowid").to_numpy()
        order = np.argsort(have)
        place = order[np.searchsorted(have, wanted, sorter=order)]
        names = rows.column("id").to_pylist()
        if [names[n] for n in place] != ids:
            raise StoreError(
                f"{self.name} pairs vectors with other rows than {self.store.uri}; nothing was switched. "
                "Run `olav kb reembed --purge`, then start again."
            )
        return schema.matrix(rows.column("vector"))[place]

    def _append(self, ids: list[str], revisions: list[int], vectors: Any) -> None:
        import pyarrow as pa

        flat = pa.array(vectors.reshape(-1), pa.float32())
        column = pa.FixedSizeListArray.from_arrays(flat, self.dimension)
        rows = pa.Table.from_arrays(
            [pa.array(ids), pa.array(revisions, pa.int64()), column], schema=self._schema
        )
        tables.retrying(lambda: self.table.add(rows), what=f"writing {self.name}")


def _switch(store: Store, target: _VectorTable, fingerprint_json: str) -> int | None:
    """Overwrite `memory` with its rows and new vectors; None when somebody wrote meanwhile (remote only)."""
    import pyarrow as pa

    start = store.refresh()
    known = target.known()
    before = set(store.scan(["id"]).column("id").to_pylist())
    if len(before) != store.count():
        raise StoreError(f"{store.uri} holds some id twice; nothing was switched. Run `olav doctor`.")
    layout = schema.memory_schema(target.dimension, fingerprint_json)
    seen: set[str] = set()

    def stream() -> Iterator[pa.RecordBatch]:
        for part in store.batches([name for name in layout.names if name != "vector"]):
            ids = part.column("id").to_pylist()
            seen.update(ids)
            vectors = target.take(ids, part.column("revision").to_numpy(), known)
            yield maintenance.fresh(part, layout, vectors)
        if seen != before:  # raised inside the stream: the engine then commits nothing
            raise StoreError(f"the rows of {store.uri} changed while they were copied; nothing was switched.")

    writer = store.database.open_table(tables.MEMORY)
    try:
        writer.add(pa.RecordBatchReader.from_batches(layout, stream()), mode="overwrite")
    except Exception as error:
        tables.lost_race(error, f"switching {store.uri}")
        return None
    if writer.version != start + 1:
        writer.checkout(writer.version - 1)
        writer.restore()
        return None
    store.adopt()
    after = set(store.scan(["id"]).column("id").to_pylist())
    if after != before or store.count() != len(before) or store.fingerprint != fingerprint_json:
        store.table.checkout(start)
        store.table.restore()
        raise StoreError(f"the switch of {store.uri} lost rows and was taken back. Run `olav doctor`.")
    return len(before)


def _among(values: Any, ordered: Any) -> Any:
    """bool [n]: which of `values` are in the sorted array `ordered`."""
    import numpy as np

    if not len(ordered):
        return np.zeros(len(values), dtype=bool)
    place = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return ordered[place] == values


def _vector_schema(dimension: int, fingerprint_json: str) -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            ("id", pa.string()),
            ("revision", pa.int64()),
            ("vector", pa.list_(pa.float32(), dimension)),
        ],
        metadata={schema.FINGERPRINT_KEY: fingerprint_json.encode()},
    )
