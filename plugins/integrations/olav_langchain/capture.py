"""OperationalEventCapture: every successful write-class tool call becomes an operational event."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.types import Command

from olav_core import Memory, OlavError, check_scope
from olav_langchain.tool_calls import (
    FinishedCall,
    calls_of_turn,
    current_thread,
    finished_call,
    mark_of,
    thread_of,
)

_log = logging.getLogger("olav.langchain")
#: Calls that are remembered as looked at, so that the scan after a turn does no work twice.
LOOKED_AT = 4096


class OperationalEventCapture(AgentMiddleware[Any, Any, Any]):
    """Hands finished tool calls to `Memory.capture`, which decides, redacts and spools them.

    Calls are taken where they run; after the agent's turn, the turn's messages are looked through for calls
    that ran elsewhere (`scan=False` leaves that out). A call counts once, by its id within its thread. A
    failing capture never fails the call: it is logged and counted in `failures`.

    - `agent`, `scope`: whose events they are; scope defaults to the workspace's `capture.scope`.
    - `tools`: tool name -> True (always) or False (never). A tool says so itself with
      `metadata={"olav_capture": True}`.

    Put it into every subagent too: middleware of the main agent does not run there.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        agent: str = "core",
        scope: str | None = None,
        tools: Mapping[str, bool] | None = None,
        scan: bool = True,
    ) -> None:
        super().__init__()
        self.tools = []
        self.memory = memory
        self.agent = check_scope(agent)
        self.scope = None if scope is None else check_scope(scope)
        self.failures = 0
        self.last_error = ""
        self._marks = dict(tools or {})
        self._scan = scan
        self._looked_at: OrderedDict[tuple[str, str, str], None] = OrderedDict()
        self._lock = Lock()

    # --- where calls run --------------------------------------------------------------------------

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """Run the call, then capture it."""
        result = handler(request)
        self._take(finished_call(request, result), thread_of(request.runtime), mark_of(request))
        return result

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run the call, then capture it, without blocking the event loop."""
        result = await handler(request)
        call = finished_call(request, result)
        await asyncio.to_thread(self._take, call, thread_of(request.runtime), mark_of(request))
        return result

    # --- after a turn -----------------------------------------------------------------------------

    def after_agent(self, state: Any, runtime: Any) -> None:
        """Look through the turn's messages."""
        if self._scan:
            self.scan(state.get("messages", ()), thread=current_thread())

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        """Look through the turn's messages, without blocking the event loop."""
        if self._scan:
            await asyncio.to_thread(self.scan, state.get("messages", ()), thread=current_thread())

    def scan(self, messages: Sequence[BaseMessage], *, thread: str = "") -> None:
        """Capture the calls of the last turn in `messages`: for hosts that give nothing but messages."""
        for call in calls_of_turn(messages):
            self._take(call, thread, None)

    # --- one call ---------------------------------------------------------------------------------

    def _take(self, call: FinishedCall, thread: str, mark: bool | None) -> None:
        key = (thread, call.tool, call.id)
        with self._lock:
            seen = bool(call.id) and key in self._looked_at
            self._looked_at[key] = None
            while len(self._looked_at) > LOOKED_AT:
                self._looked_at.popitem(last=False)
        if seen:
            return
        try:
            self.memory.capture(
                tool=call.tool,
                args=call.args,
                result=call.result,
                status=call.status,
                agent=self.agent,
                scope=self.scope,
                run=thread,
                call=call.id,
                mark=self._marks.get(call.tool, mark),
            )
        except Exception as error:
            # An unforeseen error may quote the call in its text; ours never quote what they hold back.
            said = (
                f"{type(error).__name__}: {error}" if isinstance(error, OlavError) else type(error).__name__
            )
            with self._lock:
                self.failures += 1
                self.last_error = said
            _log.warning("a call of %s was not captured: %s", call.tool, said)
