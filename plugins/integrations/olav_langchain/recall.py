"""AutoRecallMiddleware: the memories that matter, beside the user's query, in every model call."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from threading import Lock
from typing import Any, Literal

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse

from olav_core import Context, Memory, Recall, check_scope, check_tier
from olav_langchain.chat_model import model_name
from olav_langchain.messages import last_query, with_files, with_memories

_log = logging.getLogger("olav.langchain")
#: Seconds that a recall may take: enough for a cold start of the default embedder.
TIME_BUDGET = 10.0
#: Recalls of one middleware that run at once; more of them wait within their time budget.
WORKERS = 4


class AutoRecallMiddleware(AgentMiddleware[Any, Any, Any]):
    """Puts the block of memories directly before the user's query, in the request of each model call only.

    State, checkpoints and history never hold a block, so calls, turns and retries each see exactly one.
    Keeps nothing between calls. A recall that fails or takes longer than `time_budget` seconds is logged,
    counted in `failures`, told to the stream, and the model is called without the block.

    - `agent`: whose scopes are recalled from. `scopes` replaces them; `teams` and `extra_scopes` add to them.
    - `tier`, else `model`, else the workspace's setting, else the request's model name: how many memories.
    - `limit`: that number itself. `token_budget`: tokens of the block, estimated; default: the tier's.
    - `trace`: what goes to the stream writer as `{"type": "olav_recall", …}` (stream mode `custom`):
      "summary", "full" (every candidate and why) or None.
    - `context`: with True the agent's files, too (static_context, references that the query means), at the
      end of the request's system message; `token_budget` is then for everything together.
    - `tools`: tools to add to the agent, for example `memory_tools(memory)`.

    Raises RecordError (a scope) and ConfigError (a tier) when it is made, not in a model call.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        agent: str = "core",
        scopes: Sequence[str] | None = None,
        teams: Sequence[str] = (),
        extra_scopes: Sequence[str] = (),
        tier: str | None = None,
        model: str | None = None,
        limit: int | None = None,
        token_budget: int | None = None,
        time_budget: float = TIME_BUDGET,
        trace: Literal["summary", "full"] | None = "summary",
        context: bool = False,
        tools: Sequence[Any] = (),
    ) -> None:
        super().__init__()
        self.memory = memory
        self.agent = agent
        self.tools = list(tools)
        self.failures = 0
        self.last_error = ""
        self._trace = trace
        self._with_files = context
        self._time_budget = time_budget
        named = [team if team.startswith("team:") else f"team:{team}" for team in teams]
        base = memory.scopes_of(agent) if scopes is None else scopes
        self.scopes = tuple(dict.fromkeys(check_scope(scope) for scope in (*base, *named, *extra_scopes)))
        self._options = {
            "agent": agent,
            "scopes": self.scopes,
            "tier": tier,
            "model": model,
            "limit": limit,
            "token_budget": token_budget,
        }
        if tier is not None:
            check_tier(tier)
        settings = (memory.settings.agents.get(agent), memory.settings.recall)
        configured = any(source is not None and (source.tier or source.model) for source in settings)
        self._follow_request = tier is None and model is None and not configured
        self._lock = Lock()
        self._pool: ThreadPoolExecutor | None = None

    # --- the two hooks ----------------------------------------------------------------------------

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Call the model with the block in place."""
        future = self._start(request)
        recall = None
        if future is not None:
            try:
                recall = future.result(self._time_budget)
            except Exception as error:
                self._failed(request, error, future)
        return handler(self._enriched(request, recall))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model with the block in place, without blocking the event loop."""
        future = self._start(request)
        recall = None
        if future is not None:
            try:
                recall = await asyncio.wait_for(asyncio.wrap_future(future), self._time_budget)
            except Exception as error:
                self._failed(request, error, future)
        return await handler(self._enriched(request, recall))

    # --- steps ------------------------------------------------------------------------------------

    def _start(self, request: ModelRequest[Any]) -> Future[Any] | None:
        """Start the recall; None when there is nothing to ask."""
        try:
            # A summary may have swallowed the user's message in the request, not in the state.
            query = last_query(request.messages) or last_query((request.state or {}).get("messages", ()))
            if not query:
                return None
            options = dict(self._options)
            if self._follow_request:
                options["model"] = model_name(request.model)
            ask = self.memory.context if self._with_files else self.memory.recall
            return self._executor().submit(ask, query, **options)
        except Exception as error:
            self._failed(request, error, None)
            return None

    def _enriched(self, request: ModelRequest[Any], found: Recall | Context | None) -> ModelRequest[Any]:
        try:
            changes: dict[str, Any] = {
                "messages": with_memories(request.messages, found.block if found else "")
            }
            if found is not None:
                recall = found.recall if isinstance(found, Context) else found
                event = self._summary(recall)
                if isinstance(found, Context):
                    changes["system_message"] = with_files(request.system_message, found.files)
                    if event is not None:
                        event["context"] = [
                            part.to_dict() for part in found.parts if part.layer != "recalled"
                        ]
                self._tell(request, event)
            return request.override(**changes)
        except Exception as error:
            self._failed(request, error, None)
            return request

    def _summary(self, recall: Recall) -> dict[str, Any] | None:
        if self._trace is None:
            return None
        if self._trace == "full":
            return recall.to_dict(explain=True)
        return {
            "agent": recall.agent,
            "tier": recall.tier,
            "ids": [item.id for item in recall.items],
            "tokens": recall.tokens,
            "degraded": list(recall.degraded),
            "warnings": list(recall.warnings),
            "timings_ms": dict(recall.timings_ms),
        }

    def _failed(self, request: ModelRequest[Any], error: Exception, future: Future[Any] | None) -> None:
        if future is not None:
            future.cancel()  # one that still waits for a worker need not run
        late = isinstance(error, (TimeoutError, FutureTimeout)) and not str(error)
        said = f"no answer within {self._time_budget:g} s" if late else f"{type(error).__name__}: {error}"
        with self._lock:
            self.failures += 1
            self.last_error = said
        _log.warning("recall for agent %s failed, the model is called without memories: %s", self.agent, said)
        try:
            self._tell(request, {"agent": self.agent, "error": said})
        except Exception as problem:
            _log.warning("the stream writer failed: %s", type(problem).__name__)

    def _tell(self, request: ModelRequest[Any], event: dict[str, Any] | None) -> None:
        writer = getattr(request.runtime, "stream_writer", None)
        if event is not None and writer is not None:
            writer({"type": "olav_recall", **event})

    def _executor(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="olav-recall")
            return self._pool
