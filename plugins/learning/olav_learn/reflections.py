"""The reflector: failed runs -> rows of `reflection`, merged, refreshed, superseded and resolved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Literal

from olav_core import ChatModel, ErasedTextError, Memory, MemoryRecord, as_chat, clock
from olav_learn.advice import Advice, advise
from olav_learn.instructions import gives_orders
from olav_learn.journal import journal, read_journal
from olav_learn.lesson import Lesson, lessons
from olav_learn.near_lesson import same_lesson
from olav_learn.reflection_report import ReflectionItem, ReflectionOutcome, ReflectionReport
from olav_learn.reflection_row import closed, drafted, resolve, succeeded_since
from olav_learn.review import propose
from olav_learn.run_call import RunCall


def learn_reflections(
    memory: Memory,
    calls: Sequence[RunCall],
    chat: ChatModel | Any | None = None,
    *,
    dry_run: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> ReflectionReport:
    """Turn the failures among `calls` (in their order) into reflections; return the report.

    What the calls show themselves needs no model. With `chat`, an `olav_core.Chat` or a LangChain chat model,
    the other failures are asked about, many in one call and each once; without it the report has the prompts.
    `on_progress(calls made, calls in all)`.
    Telling the same calls again changes nothing. Raises the store's and the embedder's errors.
    """
    model = as_chat(chat) if chat is not None else None
    resolved = []
    for row in _rows(memory):
        if row.metadata["status"] == "active" and succeeded_since(row, calls):
            resolved.append(row.id)
            if not dry_run:
                resolve(memory, row.id)
    rows = _rows(memory)
    items, open_ones = [], []
    known = set(read_journal(memory).reflections.asked)
    for lesson in lessons(calls):
        item = _learn(memory, lesson, rows, dry_run)
        if item.outcome != "unsettled":
            items.append(item)
        elif not {call.uid for call in lesson.failures} <= known:
            open_ones.append(lesson)
            if model is None:
                items.append(item)
    if model is not None and open_ones and not dry_run:
        memory.check_space()  # an answer that could not be stored would have been paid for nothing
    advice = advise(memory, model, open_ones, on_progress)
    items += [_learn(memory, lesson, rows, dry_run, source="model") for lesson in advice.lessons]
    if not dry_run:
        _record(memory, advice, sum(item.outcome == "quarantined" for item in items))
    return ReflectionReport(
        applied=not dry_run,
        items=tuple(items),
        resolved=tuple(resolved),
        asked=len(advice.asked),
        calls=advice.calls,
        failed=advice.failed,
        prompt_tokens=advice.prompt_tokens,
        reply_tokens=advice.reply_tokens,
        estimated_tokens=advice.estimated_tokens,
        faults=tuple(advice.faults),
        prompts=tuple(advice.prompts),
    )


def _rows(memory: Memory) -> list[MemoryRecord]:
    return [row for row in memory.list(category="reflection") if row.metadata.get("tool")]


def _learn(
    memory: Memory,
    lesson: Lesson,
    rows: list[MemoryRecord],
    dry_run: bool,
    source: Literal["calls", "model"] = "calls",
) -> ReflectionItem:
    def item(outcome: ReflectionOutcome, id: str = "") -> ReflectionItem:
        return ReflectionItem(
            tool=lesson.tool, text=lesson.text, outcome=outcome, failures=len(lesson.failures), id=id,
            source=source,
        )  # fmt: skip

    if gives_orders(lesson.text) or any(gives_orders(call.said) for call in lesson.failures):
        return ReflectionItem(
            tool=lesson.tool, text="", outcome="quarantined", failures=len(lesson.failures), source=source
        )
    old = same_lesson(memory, rows, lesson)
    if old is not None and (settled := _known(old, lesson)):
        return item(settled, old.id)
    if old is None and not lesson.settled:
        return item("unsettled")
    better = old is not None and lesson.corrected and old.text != lesson.text
    draft = drafted(lesson, old, keep_text=old is not None and not better)
    outcome: ReflectionOutcome = "written" if old is None else "superseding" if better else "refreshed"
    if dry_run:
        return item(outcome)
    id = memory.prepare(draft).id
    drafts = [draft]
    if better and old is not None and old.id != id:
        drafts.append(closed(old, {"status": "superseded", "superseded_by": id}))
    if memory.settings.learning.review and outcome != "refreshed":
        reason = f"{len(lesson.failures)} failures of {lesson.tool}: {lesson.cause}"
        waits = propose(memory, f"reflection {lesson.tool} {id}", drafts, reason)
        return item("waiting" if waits else "rejected", id)
    for written in memory.remember_many(drafts):
        if isinstance(written.error, ErasedTextError):
            return item("forgotten", id)
        if written.error is not None:
            raise written.error
    rows[:] = [row for row in rows if row.id not in (id, old.id if old else "")] + [memory.get(id)]
    return item(outcome, id)


def _known(old: MemoryRecord, lesson: Lesson) -> ReflectionOutcome | None:
    """Return what there is to say when the row knows it all, or was closed after the last failure."""
    status = old.metadata["status"]
    if status == "superseded":
        return "closed"
    if all(call.source in old.metadata["sources"] for call in lesson.failures):
        return "unchanged" if status == "active" else "closed"
    shut = old.metadata["closed_at"]
    newest = max(call.time for call in lesson.failures)
    return "closed" if shut and newest <= datetime.fromisoformat(shut) else None


def _record(memory: Memory, advice: Advice, quarantined: int) -> None:
    with journal(memory) as kept:
        history = kept.reflections
        history.last_run = clock.now().isoformat()
        history.asked = list(dict.fromkeys([*history.asked, *_uids(advice.asked)]))
        history.failures += advice.failed
        history.quarantined = quarantined
        history.fault = advice.faults[0] if advice.failed else ""
        history.calls += advice.calls
        history.prompt_tokens += advice.prompt_tokens
        history.reply_tokens += advice.reply_tokens


def _uids(asked: Iterable[Lesson]) -> list[str]:
    return [call.uid for lesson in asked for call in lesson.failures]
