"""The recall log: who was shown what. Buffered, and written in the background, off the recall path."""

from __future__ import annotations

import atexit
import hashlib
import logging
import threading
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from attrs import frozen

from olav_core.errors import OlavError
from olav_core.store.tables import retrying

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

FLUSH_SECONDS = 1.0
FLUSH_HITS = 256
#: While the log cannot be written, the oldest hits beyond this are dropped, and counted.
MAX_BUFFERED = 65_536
_log = logging.getLogger("olav")
_open_logs: weakref.WeakSet[RecallLog] = weakref.WeakSet()


@frozen
class Hit:
    """One memory shown to one agent: `ts` in epoch seconds, `rank` from 1, `tier` as in the recall."""

    ts: float
    query_hash: str
    agent: str
    memory_id: str
    rank: int
    tier: str


def query_hash(text: str) -> str:
    """128 bits of sha256 (hex) of a query: the log tells that two queries are the same, not what they say."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def recall_log_schema() -> pa.Schema:
    """Columns of table `recall_log`."""
    import pyarrow as pa

    return pa.schema(
        [
            ("ts", pa.timestamp("us", tz="UTC")),
            ("query_hash", pa.string()),
            ("agent", pa.string()),
            ("memory_id", pa.string()),
            ("rank", pa.int32()),
            ("tier", pa.string()),
        ]
    )


class RecallLog:
    """The side table `recall_log` behind a buffer; `table()` gives its handle, `on_flush()` follows commits.
    `encode` makes the table's rows; `query_log` is written by one of these too.

    Hits are on disk after FLUSH_SECONDS or FLUSH_HITS, whichever comes first, at `flush`, `close` and the
    interpreter's exit. `error` holds the last failure of a background flush, `dropped` what it cost.
    """

    def __init__(
        self,
        table: Callable[[], Any],
        on_flush: Callable[[], None] = lambda: None,
        encode: Callable[[Sequence[Any]], pa.Table] | None = None,
    ) -> None:
        self._table = table
        self._on_flush = on_flush
        self._encode = encode or _to_table
        self._buffer: list[Any] = []
        self._wake = threading.Condition()
        self._flushing = threading.Lock()
        self._writer: threading.Thread | None = None
        self._closed = False
        self.dropped = 0
        self.error: OlavError | None = None
        _open_logs.add(self)

    def add(self, hits: Sequence[Any]) -> None:
        """Buffer hits; returns at once."""
        if not hits:
            return
        with self._wake:
            self._buffer.extend(hits)
            surplus = len(self._buffer) - MAX_BUFFERED
            if surplus > 0:
                del self._buffer[:surplus]
                self.dropped += surplus
            if self._writer is None and not self._closed:
                self._writer = threading.Thread(target=self._write, name="olav-recall-log", daemon=True)
                self._writer.start()
            elif len(self._buffer) >= FLUSH_HITS:
                self._wake.notify_all()

    def flush(self) -> int:
        """Write what is buffered and wait for it; returns the number of hits. Raises StoreError."""
        with self._flushing:
            with self._wake:
                hits, self._buffer = self._buffer, []
            if not hits:
                return 0
            try:
                rows = self._encode(hits)
                retrying(lambda: self._table().add(rows), what="writing the recall log")
            except OlavError as error:
                self.error = error
                with self._wake:
                    self._buffer[:0] = hits
                raise
            self.error = None
            self._on_flush()
            return len(hits)

    def close(self) -> None:
        """Flush and stop the background writer. Hits that cannot be written, as in a folder that may only be
        read, are dropped, counted and logged: who only recalled must not fail for them."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        try:
            self.flush()
        except OlavError as error:
            with self._wake:
                lost, self._buffer = len(self._buffer), []
            self.dropped += lost
            _log.warning("%d hits of the recall log are lost: %s", lost, error)

    def _write(self) -> None:
        # The thread ends when the buffer stays empty for one interval, so an idle store holds none.
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._closed or len(self._buffer) >= FLUSH_HITS, FLUSH_SECONDS)
                if self._closed or not self._buffer:
                    self._writer = None
                    return
            try:
                self.flush()
            except OlavError as error:
                _log.warning("the recall log could not be written and is kept in memory: %s", error)
                time.sleep(FLUSH_SECONDS)


def _to_table(hits: Sequence[Hit]) -> pa.Table:
    import pyarrow as pa

    schema = recall_log_schema()
    columns = [[getattr(hit, name) for hit in hits] for name in schema.names]
    columns[0] = [round(ts * 1_000_000) for ts in columns[0]]
    return pa.Table.from_arrays(
        [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)], schema=schema
    )


@atexit.register
def _flush_all() -> None:
    for log in list(_open_logs):
        with suppress(Exception):
            log.close()
