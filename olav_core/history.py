"""The history of one memory store: what was asked, what was shown, and what people thought of it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from attrs import evolve

from olav_core import clock
from olav_core.errors import OlavError, RecordError, did_you_mean
from olav_core.recall.user_words import user_words
from olav_core.records import clean_text
from olav_core.store import filters, tables
from olav_core.store.query_log import (
    VERDICTS,
    Feedback,
    LoggedQuery,
    Verdict,
    feedback_schema,
    from_rows,
    query_log_schema,
    to_table,
)
from olav_core.store.recall_log import Hit, RecallLog, query_hash

if TYPE_CHECKING:
    from olav_core.memory import Memory
    from olav_core.recall.recall import Recall

#: Of a longer query the beginning is kept.
MAX_QUERY_CHARS = 4_000
_log = logging.getLogger("olav")


class History:
    """Reads the recall log, and keeps queries (`recall.log_queries`) and thumbs. Thread-safe. Reading makes
    no table and writes nothing."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        store = memory.store
        self._queries = RecallLog(
            lambda: store.side_table(tables.QUERY_LOG), store.upkeep.committed, encode=self._redacted
        )

    def asked(self, recall: Recall, ts: float) -> None:
        """Keep the words of a recall. They are redacted and written in the background."""
        logged = LoggedQuery(
            ts=ts,
            query_hash=query_hash(recall.query),
            query=recall.query,
            agent=recall.agent,
            scopes=recall.scopes,
            tier=recall.tier,
            limit=recall.limit,
        )
        self._queries.add([logged])

    def thumb(self, id: str, verdict: Verdict, *, query: str | None = None, agent: str = "") -> Feedback:
        """Keep what somebody thinks of the memory `id` (or a unique prefix) as an answer to `query`.

        Without a query it is about the last one that the memory was shown for. Raises UnknownIdError and
        RecordError (verdict, query).
        """
        if verdict not in VERDICTS:
            raise RecordError(
                f"A thumb is up or down, not {verdict!r}.{did_you_mean(str(verdict), VERDICTS)}"
            )
        record = self._memory.get(id)
        if query is not None and not (isinstance(query, str) and clean_text(query).strip()):
            raise RecordError("The query of a thumb is blank. Give its words, or leave it out.")
        if query is None:
            digest, words, agent = self._last_query(record.id, agent)
        else:
            words = user_words(clean_text(query))
            digest = query_hash(words)
            words = self._kept(words)
        given = Feedback(
            ts=clock.now().timestamp(),
            memory_id=record.id,
            verdict=verdict,
            query=words,
            query_hash=digest,
            agent=agent,
        )
        table = self._memory.store.side_table(tables.FEEDBACK)
        tables.retrying(lambda: table.add(to_table([given], feedback_schema())), what="keeping a thumb")
        return given

    def queries(self, since: datetime | None = None) -> list[LoggedQuery]:
        """Return the queries that were kept, oldest first, after `since` on request."""
        return from_rows(LoggedQuery, self._read(tables.QUERY_LOG, since))

    def thumbs(self, since: datetime | None = None) -> list[Feedback]:
        """Return the thumbs, oldest first."""
        return from_rows(Feedback, self._read(tables.FEEDBACK, since))

    def hits(self, since: datetime | None = None) -> list[Hit]:
        """Return who was shown what, oldest first."""
        found: list[Hit] = from_rows(Hit, self._read(tables.RECALL_LOG, since))
        return found

    def flush(self) -> None:
        """Write what is buffered, the recall log too."""
        self._queries.flush()
        self._memory.store.flush()

    def close(self) -> None:
        """Write what is buffered and stop the writer."""
        self._queries.close()

    def _last_query(self, id: str, agent: str) -> tuple[str, str, str]:
        """Return (hash, words, agent) of the last recall that showed the memory; blanks when none is
        logged."""
        self.flush()
        shown = [hit for hit in self.hits() if hit.memory_id == id and agent in ("", hit.agent)]
        if not shown:
            return "", "", agent
        words = [row.query for row in self.queries() if row.query_hash == shown[-1].query_hash]
        return shown[-1].query_hash, words[-1] if words else "", shown[-1].agent

    def _read(self, name: str, since: datetime | None) -> list[dict[str, Any]]:
        store = self._memory.store
        if name not in tables.table_names(store.database):
            return []
        table = store.database.open_table(name)
        where = None if since is None else filters.after("ts", since)

        def rows() -> list[dict[str, Any]]:
            query = table.search()
            found: list[dict[str, Any]] = (query.where(where) if where else query).to_arrow().to_pylist()
            return found

        return tables.retrying(rows, what=f"reading table {name}", refresh=table.checkout_latest)

    def _kept(self, words: str) -> str:
        """Return a query as it is kept; a cut before the redaction would halve a secret and hide it."""
        return str(self._memory.registry.redact(words)[0])[:MAX_QUERY_CHARS]

    def _redacted(self, rows: Sequence[LoggedQuery]) -> Any:
        kept = []
        for row in rows:
            try:
                kept.append(evolve(row, query=self._kept(row.query)))
            except OlavError as error:
                _log.warning("a query is not kept: %s", error)
        return to_table(kept, query_log_schema())
