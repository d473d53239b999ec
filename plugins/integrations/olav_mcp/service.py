"""What the tools do, in the scopes of one agent."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Sequence
from threading import Lock

from olav_core import Memory, MemoryRecord, OlavError, UnknownIdError, check_scope
from olav_mcp.results import Contradicted, Forgotten, Remembered, Why, found

#: Seconds for which a forget waits for its second step.
CONFIRM_SECONDS = 600.0


class RefusedError(OlavError):
    """A call that this server does not carry out."""


class MemoryService:
    """The tools' work. Thread-safe. Methods raise OlavError subclasses."""

    def __init__(self, memory: Memory, agent: str, scopes: Sequence[str], any_scope: bool) -> None:
        self.memory = memory
        self.agent = agent
        self.own = tuple(dict.fromkeys((*memory.scopes_of(agent), *map(check_scope, scopes))))
        self.any_scope = any_scope
        self._waiting: dict[str, tuple[str, float]] = {}
        self._lock = Lock()

    def scopes(self, asked: Sequence[str] | None) -> tuple[str, ...]:
        """Return the scopes to search; RefusedError for one that this server may not show."""
        if not asked:
            return self.own
        refused = [] if self.any_scope else sorted(set(asked) - set(self.own))
        if refused:
            raise RefusedError(
                f"This server does not show scope {', '.join(refused)}. Leave scopes out, or use: "
                f"{', '.join(self.own)}."
            )
        return tuple(asked)

    def get(self, id: str) -> MemoryRecord:
        """Return the memory with this id or unique prefix if its scope may be shown."""
        record = self.memory.get(id)
        if not self.any_scope and record.scope not in self.own:
            raise UnknownIdError(f"There is no memory {id!r} in {', '.join(self.own)}.")
        return record

    def shown(self, record: MemoryRecord) -> str:
        spec = self.memory.categories.get(record.category)
        return record.text if spec is None else spec.render(record)

    def remember(self, text: str, category: str, tags: Sequence[str]) -> Remembered:
        kept = self.memory.remember(text, category=category, scope=self.agent, origin="agent", tags=tags)
        record = self.memory.get(kept.id)
        status = "remembered" if kept.created else "updated" if kept.changed else "known"
        against: list[Contradicted] = [
            {"id": other.id, "text": other.text, "outcome": other.outcome} for other in kept.conflicts
        ]
        return {"id": kept.id, "scope": record.scope, "status": status, "conflicts": against}  # type: ignore[typeddict-item]

    def why(self, id: str, query: str) -> Why:
        record = self.get(id)
        trace, recall = self.memory.why(record.id, query, agent=self.agent, scopes=self.own)
        missed = "another scope, expired, not recallable, or outranked by many of its own category"
        return {
            "id": record.id,
            "query": recall.query,
            "decision": trace.decision if trace else "not a candidate",
            "reason": trace.reason if trace else missed,
            "trace": json.loads(json.dumps(trace.to_dict(), default=str)) if trace else None,
            "degraded": list(recall.degraded),
        }

    def forget(self, id: str, confirm: str) -> Forgotten:
        record = self.get(id)
        about = found(record, self.shown(record))
        if not confirm:
            code = secrets.token_hex(4)
            with self._lock:
                now = time.monotonic()
                self._waiting = {c: (i, end) for c, (i, end) in self._waiting.items() if end > now}
                self._waiting[code] = (record.id, now + CONFIRM_SECONDS)
            then = "Show this memory to the user. If they agree, call forget again with this id and confirm."
            return {"status": "confirm", "memory": about, "confirm": code, "next": then}
        with self._lock:
            waiting, end = self._waiting.pop(confirm, ("", 0.0))
        if waiting != record.id or end < time.monotonic():
            raise RefusedError(
                f"confirm {confirm!r} does not belong to {record.id}, or is older than "
                f"{CONFIRM_SECONDS / 60:g} minutes; nothing was erased. Call forget without confirm first."
            )
        self.memory.forget(record.id)
        done = "It is erased and its text does not come back by itself."
        return {"status": "forgotten", "memory": about, "confirm": "", "next": done}
