"""Rows as the table hands them over to the recall index."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from olav_core.index.lexical_sync import digest
from olav_core.records import MemoryRecord
from olav_core.store import schema

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray


class RowSource(Protocol):
    """What the index needs of a store; `olav_core.store.store.Store` is one."""

    uri: str

    def refresh(self) -> int: ...
    def count(self) -> int: ...
    def row_ids(self) -> NDArray[np.uint64]: ...
    def changed_since(self, version: int | None) -> Iterator[pa.RecordBatch]: ...
    def take_present(self, rowids: Sequence[int]) -> dict[int, MemoryRecord]: ...


class ChangedRows:
    """A batch's columns as Python lists and float arrays; metadata is parsed only when asked for."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        rowids = batch.column("_rowid").to_numpy(zero_copy_only=False)
        self.rowids: NDArray[np.uint64] = np.asarray(rowids, dtype=np.uint64)
        self.ids: list[str] = batch.column("id").to_pylist()
        self.texts: list[str] = [text or "" for text in batch.column("search_text").to_pylist()]
        self.categories: list[str] = batch.column("category").to_pylist()
        self.scopes: list[str] = batch.column("scope").to_pylist()
        self.confidence = np.nan_to_num(
            batch.column("confidence").to_numpy(zero_copy_only=False).astype(np.float32)
        )
        self.timestamps = _seconds(batch.column("timestamp"), missing=0.0)
        self.expires = _seconds(batch.column("expires_at"), missing=np.inf)
        rows = zip(self.categories, self.scopes, self.texts, strict=True)
        self.digests = np.array([digest(*row) for row in rows], dtype=np.uint64)
        self._batch = batch
        self._metadata = batch.column("metadata")
        self._vectors = batch.column("vector")

    def vectors(self) -> FloatArray:
        """Return the raw vectors, float32 [n, d]."""
        flat = self._vectors.flatten().to_numpy(zero_copy_only=False)
        return np.asarray(flat, dtype=np.float32).reshape(len(self.ids), self._vectors.type.list_size)

    def lexical(
        self, positions: NDArray[np.int64]
    ) -> tuple[list[int], list[str], list[str], list[str], list[int]]:
        """Return (row ids, texts, scopes, categories, digests) of the rows at `positions`."""
        chosen = positions.tolist()
        return (
            self.rowids[positions].tolist(),
            [self.texts[i] for i in chosen],
            [self.scopes[i] for i in chosen],
            [self.categories[i] for i in chosen],
            self.digests[positions].tolist(),
        )

    def cells(self) -> Iterable[tuple[int, Sequence[Any]]]:
        """Return (row id, cells in the order of SHOWN) of every row; a text that is also the indexed text is
        one object, so that `marshal` writes it once."""
        columns = {name: schema.cells(self._batch, name) for name in schema.SHOWN}
        columns["search_text"] = [
            text if text == searched else searched
            for text, searched in zip(columns["text"], columns["search_text"], strict=True)
        ]
        return zip(self.rowids.tolist(), zip(*columns.values(), strict=True), strict=True)

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


def _seconds(column: pa.Array, *, missing: float) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    microseconds = pc.cast(pc.cast(column, pa.timestamp("us", tz="UTC")), pa.int64())
    seconds = np.asarray(microseconds.to_numpy(zero_copy_only=False), dtype=np.float64) / 1e6
    return np.where(np.isnan(seconds), missing, seconds)
