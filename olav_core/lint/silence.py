"""Rule `never_fired`: guides that no recall has shown since they were written, from the recall log."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final

from olav_core.agents import scopes_of
from olav_core.lint.finding import LintFinding
from olav_core.lint.guide import Guide

if TYPE_CHECKING:
    from olav_core.memory import Memory

#: Recalls by agents that see a guide before its silence says anything.
MIN_RECALLS: Final = 100


class RecallHistory:
    """Who recalled when, and which memories were shown. Recalls that showed nothing are not in the log."""

    def __init__(self, memory: Memory) -> None:
        memory.store.flush()
        rows = memory.store.recall_log_table().search().limit(None).to_arrow().to_pylist()
        self.shown = {row["memory_id"] for row in rows}
        #: (agent, time) of every recall.
        distinct = {(row["agent"], row["ts"], row["query_hash"]) for row in rows}
        self.recalls: list[tuple[str, datetime]] = [(agent, ts) for agent, ts, _ in distinct]

    def __len__(self) -> int:
        return len(self.recalls)


def find_silent(
    memory: Memory, guides: list[Guide], history: RecallHistory, least: int = MIN_RECALLS
) -> Iterator[LintFinding]:
    """Yield guides that were never shown although agents that see them recalled `least` times since."""
    for guide in guides:
        row = guide.record
        if row.access_count or row.id in history.shown:
            continue
        since = sum(
            ts > row.created_at and guide.scope in scopes_of(agent, memory.settings)
            for agent, ts in history.recalls
        )
        if since < least:
            continue
        yield LintFinding(
            rule="never_fired",
            severity="warning",
            message=f"'{guide.name}' was never shown in {since} recalls since {row.created_at:%Y-%m-%d}.",
            mend="Give it the words of the questions that it is for (`olav why ID QUERY` says what keeps it "
            "out), or remove its file.",
            guides=(guide.ref,),
        )
