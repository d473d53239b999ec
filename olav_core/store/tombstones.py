"""Tombstones: hashes of erased texts, so that an erased memory does not come back by itself."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from olav_core import clock
from olav_core.store import filters
from olav_core.store.tables import delete, retrying

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa


def text_hash(text: str) -> str:
    """sha256 (hex) of the text as people compare it: NFKC, case folded, runs of blanks as one."""
    normal = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return hashlib.sha256(normal.encode("utf-8", "surrogatepass")).hexdigest()


def tombstone_schema() -> pa.Schema:
    """Columns of table `tombstone`: no text, only its hash."""
    import pyarrow as pa

    return pa.schema(
        [("text_hash", pa.string()), ("memory_id", pa.string()), ("erased_at", pa.timestamp("us", tz="UTC"))]
    )


class Tombstones:
    """The side table `tombstone`; `table()` returns its handle."""

    def __init__(self, table: Callable[[], Any]) -> None:
        self._table = table

    def add(self, texts: Sequence[tuple[str, str]]) -> None:
        """Lay a tombstone for every (id, text)."""
        import pyarrow as pa

        now = clock.now()
        rows = pa.Table.from_pylist(
            [{"text_hash": text_hash(text), "memory_id": row_id, "erased_at": now} for row_id, text in texts],
            schema=tombstone_schema(),
        )
        retrying(lambda: self._table().add(rows), what="laying tombstones")

    def erased(self, hashes: Iterable[str]) -> set[str]:
        """Those of `hashes` (see `text_hash`) that were erased, by any process until now."""
        return self._laid("text_hash", hashes)

    def erased_ids(self, ids: Iterable[str]) -> set[str]:
        """Those of `ids` whose memory was erased, by any process until now."""
        return self._laid("memory_id", ids)

    def _laid(self, column: str, values: Iterable[str]) -> set[str]:
        wanted = filters.in_(column, values)
        if wanted == "false":
            return set()

        def read() -> set[str]:
            table = self._table()
            table.checkout_latest()
            return set(table.search().where(wanted).select([column]).to_arrow()[column].to_pylist())

        return retrying(read, what="reading tombstones")

    def lift(self, hashes: Iterable[str]) -> int:
        """Allow texts again; returns how many tombstones went. Hold the store's lock (`tables.delete`)."""
        wanted = filters.in_("text_hash", hashes)
        table = self._table()
        return delete(table, wanted, "lifting tombstones")
