"""The rows of reflections: what a lesson becomes, and how one is closed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from olav_core import Draft, Memory, MemoryRecord, RecordError, clock
from olav_learn.lesson import Lesson
from olav_learn.run_call import RunCall

MAX_SOURCES: Final = 200


def resolve(memory: Memory, id: str) -> str:
    """Close a reflection whose cause is gone; it is not injected any more. Returns its id."""
    return _write(memory, closed(reflection(memory, id), {"status": "resolved"}))


def supersede(memory: Memory, id: str, by: str) -> str:
    """Close a reflection in favour of another one; returns its id. Raises RecordError for a circle."""
    row, other = reflection(memory, id), reflection(memory, by)
    if row.id == other.id or other.metadata["superseded_by"] == row.id:
        raise RecordError(f"{row.id} cannot be superseded by {other.id}: name the one that holds now.")
    return _write(memory, closed(row, {"status": "superseded", "superseded_by": other.id}))


def reflection(memory: Memory, id: str) -> MemoryRecord:
    """Return the reflection with this id, or raise UnknownIdError or RecordError."""
    row = memory.get(id)
    if row.category != "reflection":
        raise RecordError(f"{row.id} is no reflection. `olav kb list --category reflection` shows them.")
    return row


def closed(row: MemoryRecord, changes: Mapping[str, Any]) -> Draft:
    """Return the row as it is once it is closed."""
    return Draft(
        text=row.text,
        category=row.category,
        origin=row.origin,
        metadata={**row.metadata, **changes, "closed_at": clock.now().isoformat()},
        confidence=row.confidence,
        tags=row.tags,
        timestamp=row.timestamp,
        expires_at=row.expires_at,
    )


def drafted(lesson: Lesson, old: MemoryRecord | None, *, keep_text: bool) -> Draft:
    """Return the row of a lesson; with `old` it goes on from there, under its text or under a better one."""
    known = dict(old.metadata) if old is not None else {}
    sources = list(dict.fromkeys([*known.get("sources", ()), *(call.source for call in lesson.failures)]))
    fresh = len(sources) - len(known.get("sources", ()))
    newest = max(call.time for call in lesson.failures)
    metadata = {
        "trigger": known["trigger"] if keep_text else lesson.trigger,
        "cause": lesson.cause,
        "tool": lesson.tool,
        "seen": int(known.get("seen", 0)) + fresh,
        "sources": sources[-MAX_SOURCES:],
    }
    return Draft(
        text=old.text if old is not None and keep_text else lesson.text,
        category="reflection",
        origin="agent",
        metadata=metadata,
        confidence=round(len(sources) / (len(sources) + 1), 3),
        timestamp=newest if old is None else max(newest, old.timestamp),
    )


def succeeded_since(row: MemoryRecord, calls: Sequence[RunCall]) -> bool:
    """Whether one of the very calls that failed went through after the last failure."""
    failed = {source.partition(":")[0] for source in row.metadata["sources"]} - {""}
    same = [c for c in calls if c.tool == row.metadata["tool"] and c.args_key in failed]
    # Records without times are dated when they are read: the failure in the same record still comes last.
    last = max([row.timestamp, *(call.time for call in same if call.failed)])
    return any(not call.failed and call.time > last for call in same)


def _write(memory: Memory, draft: Draft) -> str:
    (written,) = memory.remember_many([draft])
    if written.error is not None:
        raise written.error
    return written.id
