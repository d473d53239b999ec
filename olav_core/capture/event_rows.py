"""Rows of captured events: written exactly once, embedding only what is new."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from attrs import evolve

from olav_core.capture.drain_report import DrainReport
from olav_core.capture.event import Event
from olav_core.capture.volatile import same_result
from olav_core.errors import (
    EmbedderUnavailableError,
    ErasedTextError,
    OlavError,
    PluginError,
    RecordError,
    StoreError,
    UnknownIdError,
)
from olav_core.records import MemoryRecord
from olav_core.store.tombstones import text_hash

if TYPE_CHECKING:
    from olav_core.memory import Memory

#: Shorter passages ("ok", "true") are no memory anybody erased.
_MIN_PASSAGE: Final = 12
_MAX_PASSAGES: Final = 2_000
_SENTENCE = re.compile(r"(?<=[.!?。！？;；])\s*")
_BULLET = re.compile(r"^[\s\-*•·>#]*(?:\d+[.)、]\s*)?")
#: Hashes that are asked for in one query.
_CHUNK: Final = 1_000
#: What stands where a passage was that had been erased before.
ERASED: Final = "(erased)"


Failures = list[tuple[Event, OlavError]]


def store_events(memory: Memory, events: Sequence[Event]) -> tuple[DrainReport, Failures]:
    """Write a batch of events; returns what became of them, and those that were refused.

    Raises EmbedderUnavailableError, StoreError, PluginError or UnknownIdError when none can be stored now.
    """
    report = DrainReport()
    failures: Failures = []
    groups: dict[str, tuple[MemoryRecord, list[Event]]] = {}
    memory.store.refresh()
    for event in _without_erased_passages(memory, events):
        try:
            record = memory.prepare(
                event.draft(result=event.result, count=1, calls=[event.uid], time=event.time)
            )
        except RecordError as error:
            failures.append((event, error))
            continue
        groups.setdefault(record.id, (record, []))[1].append(event)
    erased = memory.store.tombstones.erased_ids(groups)
    report.erased += sum(len(groups.pop(id)[1]) for id in erased)
    existing = memory.store.existing(list(groups))
    records: list[MemoryRecord] = []
    for id, (record, same) in groups.items():
        merged = _merged(memory, record, existing.get(id), same)
        if merged is None:
            report.known += len(same)
        else:
            records.append(merged)
    for outcome in memory.write(records) if records else []:
        _, same = groups[outcome.id]
        if isinstance(outcome.error, ErasedTextError):
            report.erased += len(same)
        elif outcome.error is not None:
            failures += [(event, outcome.error) for event in same]
        elif outcome.created:
            report.stored += 1
            report.repeated += len(same) - 1
        else:
            report.repeated += len(same)
    report.failed = len(failures)
    return report, failures


#: Errors that pass, or that a person mends: the events wait for it.
WAITING = (EmbedderUnavailableError, StoreError, PluginError, UnknownIdError)


def _merged(
    memory: Memory, record: MemoryRecord, old: MemoryRecord | None, events: list[Event]
) -> MemoryRecord | None:
    """Return the row after these events, None when it has counted them all before."""
    stored: Mapping[str, Any] = old.metadata if old is not None else {}
    calls = list(stored.get("calls", ()))
    fresh = list({event.uid: event for event in events if event.uid not in calls}.values())
    if not fresh:
        return None
    if old is None and len(events) == 1:
        return record
    latest = max(fresh, key=lambda event: event.time)
    result = latest.result
    if old is not None and same_result(stored.get("result"), result):
        result = stored.get("result")  # the same words: the row's vector stays right, nothing is embedded
    times = [event.time for event in fresh] + ([old.timestamp] if old is not None else [])
    count = (int(stored.get("count", 1)) if old is not None else 0) + len(fresh)
    draft = latest.draft(
        result=result, count=count, calls=calls + [event.uid for event in fresh], time=max(times)
    )
    merged = memory.prepare(draft)
    return evolve(merged, id=record.id)


def _without_erased_passages(memory: Memory, events: Sequence[Event]) -> list[Event]:
    """Take out of the events what was erased before: a tool that prints a forgotten memory must not bring it
    back."""
    hashes: dict[str, set[str]] = {}
    for event in events:
        for passage in _passages((event.args, event.result)):
            hashes.setdefault(text_hash(passage), set()).add(passage)
    wanted = list(hashes)
    erased: set[str] = set()
    for start in range(0, len(wanted), _CHUNK):
        erased |= memory.store.erased(wanted[start : start + _CHUNK])
    if not erased:
        return list(events)
    doomed = sorted({passage for digest in erased for passage in hashes[digest]}, key=len, reverse=True)
    return [
        evolve(event, args=_replaced(event.args, doomed), result=_replaced(event.result, doomed))
        for event in events
    ]


def _passages(value: Any) -> list[str]:
    out: dict[str, None] = {}
    for text in _strings(value):
        lines = text.splitlines() if "\n" in text else []
        for part in (text, *lines, *(s for line in lines or [text] for s in _SENTENCE.split(line))):
            for passage in (part.strip(), _BULLET.sub("", part).strip(" \t\"'`“”")):
                if len(passage) >= _MIN_PASSAGE:
                    out[passage] = None
        if len(out) > _MAX_PASSAGES:
            break
    return list(out)


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _strings(item)


def _replaced(value: Any, doomed: Sequence[str]) -> Any:
    if isinstance(value, str):
        for passage in doomed:
            value = value.replace(passage, ERASED)
        return value
    if isinstance(value, Mapping):
        return {key: _replaced(item, doomed) for key, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, doomed) for item in value]
    return value
