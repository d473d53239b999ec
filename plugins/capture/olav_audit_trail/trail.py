"""The audit trail as functions: write a row, read rows. There is none to change or delete one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from olav_core import Draft, Memory, MemoryRecord, OlavError, RecordError

CATEGORY: Final = "audit"
#: Of arguments and errors: enough to see what was done, and for a lesson to be learnt from it.
MAX_VALUE_CHARS: Final = 500
MAX_ARGS_CHARS: Final = 4_000
MAX_ERROR_CHARS: Final = 2_000
#: Outcomes that this package writes. Anything else that a host gives is kept as it is.
SUCCESS, ERROR, DENIED, CANCELLED = "success", "error", "denied", "cancelled"


class AuditTrail:
    """Appends to and reads the audit rows of a memory. Thread-safe.

    A row that is written stays as it is until it expires: retention is `categories.audit.ttl_days` of the
    settings, for rows written from then on. Rows are never injected into a prompt.
    """

    def __init__(self, memory: Memory) -> None:
        if CATEGORY not in memory.categories:
            raise OlavError(
                "the category 'audit' is switched off, so nothing can be audited. See `olav plugins`."
            )
        self._memory = memory

    def record(
        self,
        *,
        user: str,
        action: str,
        outcome: str = SUCCESS,
        agent: str = "",
        run: str = "",
        tool: str = "",
        args: Mapping[str, Any] | None = None,
        error: str = "",
        call: str = "",
        seconds: float | None = None,
        scope: str | None = None,
        time: datetime | str | None = None,
    ) -> str:
        """Write one row and return its id; the same `run` and `call` again, or the same act at the same time,
        is the row that is there. Secrets are masked. Raises RecordError for what cannot be stored."""
        metadata = {
            "user": user,
            "action": action,
            "outcome": outcome,
            "run": run,
            "agent": agent,
            "tool": tool,
            "args": bounded(self._memory.registry.redact(dict(args or {}))[0]),
            "error": _cut(str(self._memory.registry.redact(error)[0]), MAX_ERROR_CHARS),
            "call": call,
            "seconds": None if seconds is None else round(float(seconds), 3),
        }
        draft = Draft(
            text=sentence(metadata),
            category=CATEGORY,
            scope=scope or agent or None,
            origin="audit",
            metadata=metadata,
            timestamp=time,
        )
        # An audit row that was purged by name may come again with the next act in the same words.
        (done,) = self._memory.write([self._memory.prepare(draft)], revive=True)
        if done.error is not None:
            raise done.error
        return done.id

    def rows(
        self,
        *,
        user: str | None = None,
        agent: str | None = None,
        tool: str | None = None,
        action: str | None = None,
        outcome: str | None = None,
        run: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
    ) -> list[MemoryRecord]:
        """Return the rows that match, newest first."""
        wanted = {
            "user": user,
            "agent": agent,
            "tool": tool,
            "action": action,
            "outcome": outcome,
            "run": run,
        }
        wanted = {name: value for name, value in wanted.items() if value is not None}
        found = [
            row
            for row in self._memory.list(category=CATEGORY)
            if all(row.metadata.get(name) == value for name, value in wanted.items())
            and (since is None or row.timestamp >= since)
            and (until is None or row.timestamp < until)
        ]
        return found if limit is None else found[:limit]

    def get(self, id: str) -> MemoryRecord:
        """Return one row by its id or a unique beginning of it; raises UnknownIdError, RecordError."""
        row = self._memory.get(id)
        if row.category != CATEGORY:
            raise RecordError(f"{row.id} is no audit row. `olav audit list` shows them.")
        return row


def sentence(data: Mapping[str, Any]) -> str:
    """Return what happened as one line for people: who, by which agent, did what, and how it ended."""
    who = f"user {data['user']}" + (f" · agent {data['agent']}" if data["agent"] else "")
    ended = f"{data['outcome']}: {_first_line(data['error'])}" if data["error"] else data["outcome"]
    return f"{who} · {data['action']} · {ended}" if ended else f"{who} · {data['action']}"


def bounded(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return redacted arguments small enough to keep: long texts cut, big structures as cut JSON."""
    plain: dict[str, Any] = json.loads(json.dumps(args, ensure_ascii=False, default=str))
    kept: dict[str, Any] = {}
    left = MAX_ARGS_CHARS
    for name, value in plain.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if len(text) > MAX_VALUE_CHARS:
            value = _cut(text, MAX_VALUE_CHARS)
        left -= len(name) + min(len(text), MAX_VALUE_CHARS)
        if left < 0:
            kept["…"] = f"{len(plain) - len(kept)} more"
            break
        kept[name] = value
    return kept


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def _first_line(text: str) -> str:
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    line = (lines[-1] if lines and lines[0].startswith("Traceback") else lines[0]) if lines else ""
    return _cut(line, 160)
