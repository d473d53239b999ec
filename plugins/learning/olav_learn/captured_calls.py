"""Captured events as calls of past runs that went through: evidence against a lesson, or the better way."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from olav_core import Memory, clock
from olav_learn.run_call import RunCall


def captured_calls(memory: Memory) -> list[RunCall]:
    """Return the `operational_event`s within `learning.window_days` as calls; an event is dated when it was
    seen last."""
    since = clock.now() - timedelta(days=memory.settings.learning.window_days)
    calls = []
    for row in memory.list(category="operational_event"):
        args = row.metadata.get("args")
        if row.timestamp >= since:
            calls.append(
                RunCall(
                    uid=row.id.rpartition(":")[2][:16],
                    tool=str(row.metadata.get("tool", "")),
                    args=args if isinstance(args, Mapping) else None,
                    run=str(row.metadata.get("run", "")),
                    time=row.timestamp,
                )
            )
    return calls
