"""Capture: from a tool's return to an acknowledged event, and the state of what waits."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from attrs import frozen

from olav_core.capture.call import Call, tool_name
from olav_core.capture.decision import Decider, Decision
from olav_core.capture.drainer import Drainer
from olav_core.capture.event import CATEGORY, Event
from olav_core.capture.spool import SEGMENT_EVENTS, Spool
from olav_core.errors import CaptureError, PluginError
from olav_core.records import MemoryRecord, memory_id
from olav_core.specs import Finding

if TYPE_CHECKING:
    from olav_core.capture.drain_report import DrainReport
    from olav_core.memory import Memory

_log = logging.getLogger(__name__)
#: How many failures `status` tells of; all are in the spool's `failed.jsonl`.
SHOWN_FAILURES = 10


@frozen(kw_only=True)
class Captured:
    """A call that was acknowledged: redacted, on disk. `id`: the row that it becomes or confirms; `findings`:
    what was masked."""

    id: str
    uid: str
    tool: str
    verb: str
    findings: tuple[Finding, ...] = ()


class Capture:
    """The capture of one open memory. Thread-safe; several processes may work on one workspace."""

    def __init__(self, memory: Memory) -> None:
        settings = memory.settings.capture
        self._memory = memory
        self._settings = settings
        self._decider = Decider(settings, memory.registry)
        self.spool = Spool(
            memory.workspace.spool_directory, max_bytes=settings.spool_mb * 2**20, durable=settings.durable
        )
        self._drainer = Drainer(memory, self.spool)
        self.spool.on_fork = self._drainer.after_fork

    @property
    def enabled(self) -> bool:
        """Whether anything is captured: the setting, and the category's plug-in."""
        return self._settings.enabled and CATEGORY in self._memory.categories

    def is_write(self, tool: str, args: Any = None, *, mark: bool | None = None) -> Decision:
        """Return whether the call is write-class, whatever becomes of it."""
        return self._decider.is_write(tool, args, mark=mark)

    def decide(
        self, tool: str, args: Any, result: Any, *, status: str | None = None, mark: bool | None = None
    ) -> Decision:
        """Return whether the call is captured, under which verb, and why or why not."""
        if not self.enabled:
            return Decision(False, "", "capture is switched off")
        return self._decider.decide(tool, args, result, status=status, mark=mark)

    def capture(
        self,
        *,
        tool: str,
        args: Any = None,
        result: Any = None,
        agent: str,
        scope: str | None = None,
        run: str = "",
        call: str = "",
        status: str | None = None,
        time: Any = None,
        mark: bool | None = None,
    ) -> Captured | None:
        """See Memory.capture."""
        tool = tool_name(tool)
        decision = self.decide(tool, args, result, status=status, mark=mark)
        if not decision.captured:
            return None
        if scope is None:
            scope = agent if self._settings.scope == "agent" else self._settings.scope
        told = Call(
            tool=tool, args=args, result=result, agent=agent, scope=scope, run=run, call=call, time=time
        )
        try:
            event, findings = told.event(decision.verb, self._memory.registry)
        except PluginError as error:
            self._drainer.note_failure(tool, error)
            raise
        self._append(event)
        return Captured(
            id=self._row_id(event), uid=event.uid, tool=tool, verb=decision.verb, findings=findings
        )

    def _append(self, event: Event) -> None:
        line = event.to_line()
        try:
            lines = self.spool.append(line)
        except CaptureError:
            # Back-pressure: the caller makes room itself, once, before the call is given up.
            self._drainer.drain()
            try:
                lines = self.spool.append(line)
            except CaptureError as error:
                self._drainer.note_failure(event.tool, error)
                raise
        self._drainer.start(now=lines >= SEGMENT_EVENTS)

    def _row_id(self, event: Event) -> str:
        spec = self._memory.categories[CATEGORY]
        metadata = event.metadata(result=event.result, count=1, calls=[])
        record = MemoryRecord(id="", text=event.tool, category=CATEGORY, scope=event.scope, metadata=metadata)
        return memory_id(CATEGORY, None if spec.global_scope else event.scope, spec.dedupe_key(record))

    def drain(self, *, retry_failed: bool = False) -> DrainReport:
        """Store what waits now, also what other processes left; returns what was done.

        `retry_failed` tries the events again that were refused before.
        """
        return self._drainer.drain(retry_failed=retry_failed)

    def resume(self) -> None:
        """Let the background take up what an earlier process left; a broken spool stops no recall."""
        try:
            waiting = self.spool.waiting()
        except CaptureError as error:
            _log.warning("Captured calls wait: %s", error)
            return
        if waiting:
            self._drainer.start(now=True)

    def close(self) -> None:
        """Store what waits if that is possible now; what is left waits for a later process."""
        self._drainer.close()

    def status(self) -> dict[str, Any]:
        """Return the object of `olav capture status --json`."""
        backlog = self.spool.backlog()
        failures = self.spool.failed.read()[-SHOWN_FAILURES:]
        return {
            "enabled": self.enabled,
            "spool": str(self.spool.directory),
            "waiting": backlog.events,
            "segments": backlog.segments,
            "bytes": backlog.bytes,
            "max_bytes": self.spool.max_bytes,
            "oldest_seconds": round(backlog.oldest_seconds, 1),
            "last_error": self.spool.last_error(),
            "failed": backlog.failed,
            "failures": [
                {name: str(entry.get(name, "")) for name in ("time", "tool", "error")} for entry in failures
            ],
            "stored": self._memory.store.count(category=CATEGORY),
            "matchers": list(self._memory.registry.verb_matchers),
        }
