"""Subagents that are compiled already: memory at their entrance, capture of what they did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain.agents.middleware import ModelRequest, ModelResponse
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from olav_langchain import AutoRecallMiddleware, OperationalEventCapture, without_memories

_NO_ANSWER: ModelResponse[Any] = ModelResponse(result=[])


class RememberingRunnable(Runnable[Any, Any]):
    """Runs a compiled subagent with the block beside the task that its parent wrote.

    Middleware cannot be put into a compiled graph, so recall happens once, when it is called: every model
    call of its run sees that block in its history, and the state that it returns holds none. Where a parent's
    checkpointer keeps the run's own steps, these hold it; no later call or turn reads them. Its tool calls
    are captured from the messages that it returns, so a run that raises leaves no event.
    """

    def __init__(
        self, runnable: Any, recall: AutoRecallMiddleware, capture: OperationalEventCapture | None
    ) -> None:
        self._runnable = runnable
        self._recall = recall
        self._capture = capture

    def invoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Run it."""
        given = input
        if isinstance(input, Mapping) and input.get("messages"):
            seen: list[BaseMessage] = []

            def take(request: ModelRequest[Any]) -> ModelResponse[Any]:
                seen.extend(request.messages)
                return _NO_ANSWER

            self._recall.wrap_model_call(_request(input), take)
            given = {**input, "messages": seen}
        result = self._runnable.invoke(given, config, **options)
        if self._capture is not None and isinstance(result, Mapping):
            self._capture.after_agent(result, None)
        return _clean(result)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Run it without blocking the event loop."""
        given = input
        if isinstance(input, Mapping) and input.get("messages"):
            seen: list[BaseMessage] = []

            async def take(request: ModelRequest[Any]) -> ModelResponse[Any]:
                seen.extend(request.messages)
                return _NO_ANSWER

            await self._recall.awrap_model_call(_request(input), take)
            given = {**input, "messages": seen}
        result = await self._runnable.ainvoke(given, config, **options)
        if self._capture is not None and isinstance(result, Mapping):
            await self._capture.aafter_agent(result, None)
        return _clean(result)


def _request(state: Mapping[str, Any]) -> ModelRequest[Any]:
    return ModelRequest(model=None, messages=list(state["messages"]))  # type: ignore[arg-type]


def _clean(result: Any) -> Any:
    if not isinstance(result, Mapping) or not isinstance(result.get("messages"), list):
        return result
    return {**result, "messages": without_memories(result["messages"])}
