"""The reflector: failed runs -> rows of `reflection`, merged, refreshed, superseded and resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from attrs import field, frozen

from olav_core import Draft, ErasedTextError, Memory, MemoryRecord, RecordError, query_terms
from olav_learn.instructions import gives_orders
from olav_learn.lesson import Lesson, lessons
from olav_learn.run_record import RunCall, cause_key

MAX_SOURCES = 200
#: Share of the words of two causes of one tool from which on they are one.
NEAR_CAUSE = 0.6

Outcome = Literal["written", "refreshed", "superseding", "unchanged", "closed", "quarantined", "forgotten"]


@frozen(kw_only=True)
class ReflectionItem:
    """What became of one lesson. `closed`: a person or a later success closed it, and nothing new was seen.

    `quarantined`: its failure carries instructions, so it is no lesson. `superseding`: it took an older
    row's place.
    """

    tool: str
    text: str
    outcome: Outcome
    failures: int
    id: str = ""


@frozen(kw_only=True)
class ReflectionReport:
    """What one run did; `resolved` are the ids that a later success closed."""

    applied: bool
    items: tuple[ReflectionItem, ...] = field(factory=tuple)
    resolved: tuple[str, ...] = ()

    def count(self, outcome: Outcome) -> int:
        return sum(item.outcome == outcome for item in self.items)


def learn_reflections(memory: Memory, calls: Sequence[RunCall], *, dry_run: bool = False) -> ReflectionReport:
    """Turn the failures among `calls` (in their order) into reflections, without a model; return the report.

    Telling the same calls again changes nothing. Raises the store's and the embedder's errors.
    """
    rows = [row for row in memory.list(category="reflection") if row.metadata.get("tool")]
    resolved = []
    for row in rows:
        if row.metadata["status"] == "active" and _succeeded_since(row, calls):
            resolved.append(row.id)
            if not dry_run:
                resolve(memory, row.id)
    rows = [row for row in memory.list(category="reflection") if row.metadata.get("tool")]
    items = [_learn(memory, lesson, rows, dry_run) for lesson in lessons(calls)]
    return ReflectionReport(applied=not dry_run, items=tuple(items), resolved=tuple(resolved))


def resolve(memory: Memory, id: str) -> str:
    """Close a reflection whose cause is gone; it is not injected any more. Returns its id."""
    return _close(memory, _reflection(memory, id), {"status": "resolved"})


def supersede(memory: Memory, id: str, by: str) -> str:
    """Close a reflection in favour of another one; returns its id. Raises RecordError for a circle."""
    row, other = _reflection(memory, id), _reflection(memory, by)
    if row.id == other.id or other.metadata["superseded_by"] == row.id:
        raise RecordError(f"{row.id} cannot be superseded by {other.id}: name the one that holds now.")
    return _close(memory, row, {"status": "superseded", "superseded_by": other.id})


def _learn(memory: Memory, lesson: Lesson, rows: list[MemoryRecord], dry_run: bool) -> ReflectionItem:
    def item(outcome: Outcome, id: str = "") -> ReflectionItem:
        return ReflectionItem(
            tool=lesson.tool, text=lesson.text, outcome=outcome, failures=len(lesson.failures), id=id
        )

    if gives_orders(lesson.text) or any(gives_orders(call.said) for call in lesson.failures):
        return item("quarantined")
    old = next((row for row in rows if _same(row, lesson)), None)
    known = list(old.metadata["sources"]) if old is not None else []
    fresh = [call for call in lesson.failures if call.source not in known]
    newest = max(call.time for call in lesson.failures)
    if old is not None:
        status = old.metadata["status"]
        if not fresh:
            return item("unchanged" if status == "active" else "closed", old.id)
        closed = old.metadata["closed_at"]
        if status == "superseded" or (closed and newest <= datetime.fromisoformat(closed)):
            return item("closed", old.id)
    better = old is not None and lesson.corrected and old.text != lesson.text
    text = lesson.text if old is None or better else old.text
    sources = list(dict.fromkeys([*known, *(call.source for call in lesson.failures)]))
    metadata = {
        "trigger": lesson.trigger if old is None or better else old.metadata["trigger"],
        "cause": lesson.cause,
        "tool": lesson.tool,
        "seen": (int(old.metadata["seen"]) if old is not None else 0) + len(fresh),
        "sources": sources[-MAX_SOURCES:],
    }
    draft = Draft(
        text=text,
        category="reflection",
        origin="agent",
        metadata=metadata,
        confidence=round(len(sources) / (len(sources) + 1), 3),
        timestamp=newest if old is None else max(newest, old.timestamp),
    )
    outcome: Outcome = "written" if old is None else "superseding" if better else "refreshed"
    if dry_run:
        return item(outcome)
    (written,) = memory.remember_many([draft])
    if isinstance(written.error, ErasedTextError):
        return item("forgotten")
    if written.error is not None:
        raise written.error
    if better and old is not None and old.id != written.id:
        _close(memory, old, {"status": "superseded", "superseded_by": written.id})
    rows.append(memory.get(written.id))
    return item(outcome, written.id)


def _same(row: MemoryRecord, lesson: Lesson) -> bool:
    """Whether a row tells of this tool and this cause, in the same or in nearly the same words."""
    if row.metadata["tool"] != lesson.tool or row.metadata["status"] == "superseded":
        return False
    cause = str(row.metadata["cause"])
    if cause_key(cause) == cause_key(lesson.cause):
        return True
    ours, theirs = (set(query_terms(cause_key(text))) for text in (lesson.cause, cause))
    return bool(ours | theirs) and len(ours & theirs) / len(ours | theirs) >= NEAR_CAUSE


def _succeeded_since(row: MemoryRecord, calls: Sequence[RunCall]) -> bool:
    """Whether one of the very calls that failed went through after the last failure."""
    failed = {source.partition(":")[0] for source in row.metadata["sources"]}
    return any(
        not call.failed
        and call.tool == row.metadata["tool"]
        and call.args_key in failed
        and call.time > row.timestamp
        for call in calls
    )


def _reflection(memory: Memory, id: str) -> MemoryRecord:
    row = memory.get(id)
    if row.category != "reflection":
        raise RecordError(f"{row.id} is no reflection. `olav kb list --category reflection` shows them.")
    return row


def _close(memory: Memory, row: MemoryRecord, changes: Mapping[str, Any]) -> str:
    metadata = {**row.metadata, **changes, "closed_at": datetime.now(UTC).isoformat()}
    draft = Draft(
        text=row.text,
        category=row.category,
        origin=row.origin,
        metadata=metadata,
        confidence=row.confidence,
        tags=row.tags,
        timestamp=row.timestamp,
        expires_at=row.expires_at,
    )
    (written,) = memory.remember_many([draft])
    if written.error is not None:
        raise written.error
    return written.id
