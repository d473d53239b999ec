"""RunErrors: a run that ends in an error (recursion limit, a model that raised) becomes an audit row."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from threading import Lock
from typing import Any, Final
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.errors import GraphBubbleUp

from olav_audit_trail.trail import ERROR, AuditTrail
from olav_core import Memory, check_scope, last_user_text

_log = logging.getLogger("olav.audit")
#: What stands where a call's tool would.
ACTION: Final = "agent_run"
#: Characters of the question that are kept, and runs at once whose question is.
QUESTION, RUNS = 500, 1_000


class RunErrors(BaseCallbackHandler):
    """A callback of runs: `agent.invoke(…, config={"callbacks": [RunErrors(memory, agent="netops")]})`.

    No middleware sees a run's own end: the recursion limit is the graph's. Only whole runs count, not those
    inside them. `user`: on whose behalf; None: the `user_id` or `user` of the run's metadata. What cannot be
    written is logged and counted in `failures`; the run's error stays its own.
    """

    def __init__(self, memory: Memory, *, agent: str = "core", user: str | None = None) -> None:
        self.trail = AuditTrail(memory)
        self.agent = check_scope(agent)
        self.failures = 0
        self._user = user
        self._runs: dict[UUID, dict[str, str]] = {}
        self._lock = Lock()

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Keep what a run was asked."""
        if parent_run_id is not None:
            return
        told = metadata or {}
        with self._lock:
            while len(self._runs) >= RUNS:
                self._runs.pop(next(iter(self._runs)))
            self._runs[run_id] = {
                "question": _question(inputs),
                "run": str(told.get("thread_id") or ""),
                "user": str(self._user or told.get("user_id") or told.get("user") or "unknown"),
            }

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **options: Any) -> None:
        """Forget a run that went well."""
        with self._lock:
            self._runs.pop(run_id, None)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **options: Any) -> None:
        """Write the row."""
        with self._lock:
            told = self._runs.pop(run_id, None)
        if told is None or isinstance(error, GraphBubbleUp):  # a run inside another, or one that waits
            return
        try:
            self.trail.record(
                agent=self.agent,
                action=ACTION,
                tool=ACTION,
                args={"question": told["question"]},
                outcome=ERROR,
                error=f"{type(error).__name__}: {error}".removesuffix(": "),
                run=told["run"],
                user=told["user"],
            )
        except Exception as problem:
            self.failures += 1
            _log.warning("a run's error was not audited: %s", type(problem).__name__)


def _question(inputs: Any) -> str:
    messages = inputs.get("messages") if isinstance(inputs, Mapping) else None
    for message in reversed(messages if isinstance(messages, list) else []):
        role, content = message if isinstance(message, tuple) and len(message) == 2 else ("", None)
        role = getattr(message, "type", role)
        content = getattr(message, "content", content)
        if role in ("human", "user") and content:
            return last_user_text([{"role": "user", "content": content}])[:QUESTION]
    return ""
