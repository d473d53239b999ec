"""Finished tool calls, read from LangChain's requests, results and messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen
from langchain.agents.middleware import ToolCallRequest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.config import get_config
from langgraph.types import Command

from olav_langchain.messages import is_from_user


@frozen(kw_only=True)
class FinishedCall:
    """A call and what came of it; `status` as LangChain gives it, "success" or "error"."""

    tool: str
    id: str
    args: Any
    result: Any
    status: str


def finished_call(request: ToolCallRequest, result: Any) -> FinishedCall:
    """Return the call of a request with its result, a ToolMessage or a Command that may hold one."""
    wanted = request.tool_call
    id = str(wanted.get("id") or "")
    message = result if isinstance(result, ToolMessage) else _message_in(result, id)
    return FinishedCall(
        tool=str(wanted["name"]),
        id=id,
        args=wanted.get("args"),
        result=None if message is None else message.content,
        status="success" if message is None else message.status,
    )


def calls_of_turn(messages: Sequence[BaseMessage]) -> Iterator[FinishedCall]:
    """Yield the finished calls after the last message from the user."""
    start = max((at for at, message in enumerate(messages) if is_from_user(message)), default=0)
    wanted: dict[str, Any] = {}
    for message in messages[start:]:
        if isinstance(message, AIMessage):
            wanted.update({call["id"]: call for call in message.tool_calls if call["id"]})
        elif isinstance(message, ToolMessage) and (call := wanted.get(message.tool_call_id)) is not None:
            yield FinishedCall(
                tool=call["name"],
                id=message.tool_call_id,
                args=call["args"],
                result=message.content,
                status=message.status,
            )


def mark_of(request: ToolCallRequest) -> bool | None:
    """Return what the tool says of itself: `metadata={"olav_capture": True}` or False, None without."""
    mark = (getattr(request.tool, "metadata", None) or {}).get("olav_capture")
    return mark if isinstance(mark, bool) else None


def thread_of(runtime: Any) -> str:
    """Return the id of the thread that a tool's runtime belongs to, "" without a checkpointer."""
    config = getattr(runtime, "config", None) or {}
    return str((config.get("configurable") or {}).get("thread_id") or "")


def current_thread() -> str:
    """Return the id of the thread that runs now, "" outside a graph or without a checkpointer."""
    try:
        configurable = get_config().get("configurable") or {}
    except RuntimeError:
        return ""
    return str(configurable.get("thread_id") or "")


def _message_in(result: Any, id: str) -> ToolMessage | None:
    """Return the call's own message in a Command, None when it has none."""
    update = result.update if isinstance(result, Command) else None
    messages = update.get("messages", ()) if isinstance(update, Mapping) else ()
    listed = messages if isinstance(messages, (list, tuple)) else (messages,)
    return next((m for m in listed if isinstance(m, ToolMessage) and m.tool_call_id == id), None)
