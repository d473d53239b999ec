"""The audit trail as calls of past runs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from olav_core import Memory, clock
from olav_learn.call_outcome import FINE, NO_FAILURE, first_line
from olav_learn.run_call import RunCall


def audited_calls(memory: Memory) -> list[RunCall]:
    """Return the audit trail within `learning.window_days` as calls, oldest first.

    Of a row's metadata: `tool` (else `action`), `args` of a tool, `error` (else the text), `outcome`, `run`.
    """
    since = clock.now() - timedelta(days=memory.settings.learning.window_days)
    calls = []
    for row in memory.list(category="audit"):
        data = row.metadata
        outcome = str(data.get("outcome", "")).strip().casefold()
        if outcome in NO_FAILURE or row.timestamp < since:
            continue
        failed = outcome not in FINE
        args = data.get("args") if data.get("tool") else None
        said = str(data.get("error") or row.text)
        calls.append(
            RunCall(
                uid=row.id.rpartition(":")[2][:16],
                tool=str(data.get("tool") or data.get("action", "")),
                args=args if isinstance(args, Mapping) else None,
                failed=first_line(said) if failed else None,
                said=said,
                run=str(data.get("run", "")),
                time=row.timestamp,
            )
        )
    return sorted(calls, key=lambda call: (call.time, call.uid))
