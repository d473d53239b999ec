"""AuditMiddleware: every tool call of an agent becomes an audit row, whatever came of it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from threading import Lock
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from olav_audit_trail.call import AuditedCall, calls_of_turn, config_of, finished, run_of, user_of
from olav_audit_trail.run_error import RunErrors
from olav_audit_trail.trail import CANCELLED, ERROR, AuditTrail
from olav_core import Memory, OlavError, check_scope

_log = logging.getLogger("olav.audit")
LOOKED_AT = 4096
#: Rows that could not be written and wait for the next call: a store that is away for a minute loses none.
MAX_WAITING = 1000


class AuditMiddleware(AgentMiddleware[Any, Any, Any]):
    """Writes a row for each tool call where it runs, and after the turn for calls that never ran (a person
    said no). The row is stored before the result reaches the model.

    - `agent`: who acts. `user`: on whose behalf; a name, a function of the runtime, or None: the `user_id` or
      `user` of the run's configuration.
    - A failing write never fails the call: it is logged, counted in `failures`, tried again with the next.

    Put it last in `middleware`, so that it sees what really ran, and into every subagent.
    """

    def __init__(
        self, memory: Memory, *, agent: str = "core", user: str | Callable[[Any], str] | None = None
    ) -> None:
        super().__init__()
        self.tools = []
        self.trail = AuditTrail(memory)
        self.agent = check_scope(agent)
        self.failures = 0
        self.last_error = ""
        #: For `config={"callbacks": …}`: a run's own error is seen by no middleware.
        self.run_callbacks = [RunErrors(memory, agent=agent, user=user if isinstance(user, str) else None)]
        self._memory = memory
        self._user = user
        self._waiting: list[AuditedCall] = []
        self._looked_at: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._lock = Lock()

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """Run the call, then write its row."""
        started = time.monotonic()
        try:
            result = handler(request)
        except GraphBubbleUp:  # it waits for a person, and is not finished
            raise
        except BaseException as error:
            self._take([self._raised(request, error, started)])
            raise
        self._take([self._returned(request, result, started)])
        return result

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run the call, then write its row, without blocking the event loop."""
        started = time.monotonic()
        try:
            result = await handler(request)
        except GraphBubbleUp:
            raise
        except Exception as error:
            await asyncio.to_thread(self._take, [self._raised(request, error, started)])
            raise
        except BaseException as error:  # cancelled: who is cancelled again while waiting would lose the row
            self._take([self._raised(request, error, started)])
            raise
        await asyncio.to_thread(self._take, [self._returned(request, result, started)])
        return result

    def after_agent(self, state: Any, runtime: Any) -> None:
        """Write rows of the turn's calls that did not run here."""
        self._take(self._of_turn(state.get("messages", ()), runtime))

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        """Write rows of the turn's calls that did not run here, without blocking the event loop."""
        await asyncio.to_thread(self._take, self._of_turn(state.get("messages", ()), runtime))

    # --- one call ---------------------------------------------------------------------------------

    def _returned(self, request: ToolCallRequest, result: Any, started: float) -> AuditedCall:
        call = finished(request, result, self._memory.registry)
        return self._signed(call, request.runtime, started)

    def _raised(self, request: ToolCallRequest, error: BaseException, started: float) -> AuditedCall:
        wanted = request.tool_call
        call = AuditedCall(
            tool=str(wanted["name"]),
            call=str(wanted.get("id") or ""),
            args=wanted.get("args") or {},
            outcome=ERROR if isinstance(error, Exception) else CANCELLED,
            error=f"{type(error).__name__}: {error}".removesuffix(": "),
            run=run_of(request.runtime, (request.state or {}).get("messages", ())),
        )
        return self._signed(call, request.runtime, started)

    def _of_turn(self, messages: Sequence[BaseMessage], runtime: Any) -> list[AuditedCall]:
        run = run_of(runtime, messages)
        calls = calls_of_turn(messages, run, self._memory.registry)
        return [self._signed(call, runtime, None) for call in calls]

    def _signed(self, call: AuditedCall, runtime: Any, started: float | None) -> AuditedCall:
        try:
            user = self._user(runtime) if callable(self._user) else self._user or user_of(config_of(runtime))
        except Exception as error:
            self._note(call.tool, error)
            user = ""
        seconds = None if started is None else time.monotonic() - started
        return call.signed(str(user or "unknown"), seconds)

    def _take(self, calls: Sequence[AuditedCall]) -> None:
        with self._lock:
            fresh = []
            for call in calls:
                key = (call.run, call.call)
                if call.call and key in self._looked_at:
                    continue
                self._looked_at[key] = None
                fresh.append(call)
            while len(self._looked_at) > LOOKED_AT:
                self._looked_at.popitem(last=False)
            due, self._waiting = [*self._waiting, *fresh], []
        for at, call in enumerate(due):
            try:
                self.trail.record(agent=self.agent, **call.fields())
            except Exception as error:
                self._note(call.tool, error)
                if isinstance(error, (OlavError, OSError)):
                    with self._lock:
                        self._waiting = [*due[at:], *self._waiting][:MAX_WAITING]
                    return

    def _note(self, tool: str, error: Exception) -> None:
        # An unforeseen error may quote the call in its text.
        said = f"{type(error).__name__}: {error}" if isinstance(error, OlavError) else type(error).__name__
        with self._lock:
            self.failures += 1
            self.last_error = said
        _log.warning("a call of %s was not audited yet: %s", tool, said)
