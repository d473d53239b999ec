"""Subagents that are compiled already: memory at their entrance, capture of what they did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig

from olav_core import with_block

_NO_ANSWER: ModelResponse[Any] = ModelResponse(result=[])


class RememberingRunnable(Runnable[Any, Any]):
    """Runs a compiled subagent as if it were one model call and one turn of the middleware `around` it.

    Middleware cannot be put into a compiled graph, so recall happens once, when it is called: every model
    call of its run sees that block in its history, and the state that it returns holds none. Where a parent's
    checkpointer keeps the run's own steps, these hold it; no later call or turn reads them. Its tool calls
    are captured from the messages that it returns, so a run that raises leaves no event.
    """

    def __init__(self, runnable: Any, around: Sequence[AgentMiddleware[Any, Any, Any]]) -> None:
        self._runnable = runnable
        self._around = tuple(around)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Run it."""
        given = input
        if isinstance(input, Mapping) and input.get("messages"):
            seen: list[BaseMessage] = []

            def take(request: ModelRequest[Any]) -> ModelResponse[Any]:
                seen[:] = request.messages
                return _NO_ANSWER

            call: Any = take
            for one in self._having("wrap_model_call"):
                call = partial(one.wrap_model_call, handler=call)
            call(_request(input))
            given = {**input, "messages": seen}
        result = self._runnable.invoke(given, config, **options)
        if isinstance(result, Mapping):
            for one in self._having("after_agent"):
                one.after_agent(result, None)  # type: ignore[arg-type]
        return _clean(result)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Run it without blocking the event loop."""
        given = input
        if isinstance(input, Mapping) and input.get("messages"):
            seen: list[BaseMessage] = []

            async def take(request: ModelRequest[Any]) -> ModelResponse[Any]:
                seen[:] = request.messages
                return _NO_ANSWER

            call: Any = take
            for one in self._having("awrap_model_call"):
                call = partial(one.awrap_model_call, handler=call)
            await call(_request(input))
            given = {**input, "messages": seen}
        result = await self._runnable.ainvoke(given, config, **options)
        if isinstance(result, Mapping):
            for one in self._having("aafter_agent"):
                await one.aafter_agent(result, None)  # type: ignore[arg-type]
        return _clean(result)

    def _having(self, hook: str) -> list[AgentMiddleware[Any, Any, Any]]:
        """Those with this hook, innermost first."""
        plain = getattr(AgentMiddleware, hook)
        return [one for one in reversed(self._around) if getattr(type(one), hook) is not plain]


def _request(state: Mapping[str, Any]) -> ModelRequest[Any]:
    return ModelRequest(model=None, messages=list(state["messages"]))  # type: ignore[arg-type]


def _clean(result: Any) -> Any:
    if not isinstance(result, Mapping) or not isinstance(result.get("messages"), list):
        return result
    return {**result, "messages": [_without_block(message) for message in result["messages"]]}


def _without_block(message: Any) -> Any:
    if message.type not in ("human", "HumanMessageChunk") and getattr(message, "role", "") != "user":
        return message
    bare = with_block([{"role": "user", "content": message.content}], "")[0]["content"]
    return message if bare == message.content else message.model_copy(update={"content": bare})
