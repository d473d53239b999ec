"""The events of one tool and scope, the pattern that tells of them, and whether a new one is due."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import timedelta
from functools import cached_property
from typing import Final, Literal

from attrs import frozen

from olav_core import Memory, MemoryRecord, clock
from olav_learn.instructions import gives_orders
from olav_learn.journal import GroupHistory
from olav_learn.pattern_row import MAX_SOURCES, pattern_draft
from olav_learn.samples import facts_of

#: Failures in a row after which `olav learn run` waits for new events instead of paying for the next one.
GIVE_UP: Final = 3

State = Literal["few", "unchanged", "forgotten", "due", "waiting", "rejected", "given up"]


@frozen(kw_only=True, slots=False)
class EventGroup:
    """Events oldest first. `row`: the pattern that they have. `erased`: a person forgot it."""

    tool: str
    scope: str
    id: str
    events: tuple[MemoryRecord, ...]
    row: MemoryRecord | None = None
    erased: bool = False

    @cached_property
    def known(self) -> frozenset[str]:
        return frozenset(self.row.metadata.get("sources", ())) if self.row is not None else frozenset()

    @cached_property
    def planted(self) -> frozenset[str]:
        """Ids of new events whose arguments or result give orders: no sample, and no reason to learn."""
        new = (event for event in self.events[-MAX_SOURCES:] if event.id not in self.known)
        return frozenset(e.id for e in new if gives_orders(f"{self.tool} {facts_of(e)}"))

    @cached_property
    def samples(self) -> tuple[MemoryRecord, ...]:
        """The newest events, at most 1,000, without those."""
        return tuple(event for event in self.events[-MAX_SOURCES:] if event.id not in self.planted)

    @cached_property
    def new(self) -> int:
        return sum(event.id not in self.known for event in self.samples)

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256("\n".join(event.id for event in self.samples).encode()).hexdigest()[:16]

    def state(self, least: int, history: GroupHistory) -> State:
        """Return whether the model is to be asked: `due`; or `waiting` for review, `given up`, …"""
        if len(self.events) < least or len(self.samples) < least:
            return "few"
        if self.row is None and self.erased:
            return "forgotten"
        if not self.new:
            return "unchanged"
        if history.events == self.digest:
            if history.outcome in ("waiting", "rejected"):
                return "waiting" if history.outcome == "waiting" else "rejected"
            if history.failed_in_a_row >= GIVE_UP:
                return "given up"
        return "due"


def event_groups(
    memory: Memory,
    *,
    tool: str | None = None,
    scope: str | None = None,
    window_days: float | None = None,
) -> list[EventGroup]:
    """Return the groups of events within the window (default: the setting), ordered by tool and scope."""
    days = memory.settings.learning.window_days if window_days is None else window_days
    since = clock.now() - timedelta(days=days)
    memory.captures.drain()
    found: dict[tuple[str, str], list[MemoryRecord]] = {}
    for event in memory.list(category="operational_event", scopes=None if scope is None else [scope]):
        name = str(event.metadata.get("tool", ""))
        if event.timestamp >= since and tool in (None, name):
            found.setdefault((name, event.scope), []).append(event)
    ids = {key: memory.prepare(pattern_draft(*key, "-")).id for key in found}
    rows = memory.store.existing(list(ids.values())) if ids else {}
    erased = memory.store.tombstones.erased_ids(list(ids.values())) if ids else ()
    return [
        EventGroup(
            tool=key[0],
            scope=key[1],
            id=ids[key],
            events=tuple(_ordered(events)),
            row=rows.get(ids[key]),
            erased=ids[key] in erased,
        )
        for key, events in sorted(found.items())
    ]


def _ordered(events: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    return sorted(events, key=lambda event: (event.timestamp, event.id))
