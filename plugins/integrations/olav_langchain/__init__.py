"""LangChain and LangGraph: recall before model calls, capture after writes, memory tools, a BaseStore."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from olav_core import CategorySpec, MiddlewareSpec, hookimpl, lazy_names
from olav_langchain.item import ITEM

if TYPE_CHECKING:
    from olav_core import Memory
    from olav_langchain.capture import OperationalEventCapture as OperationalEventCapture
    from olav_langchain.messages import without_memories as without_memories
    from olav_langchain.recall import AutoRecallMiddleware as AutoRecallMiddleware
    from olav_langchain.store import OlavStore as OlavStore
    from olav_langchain.tools import memory_tools as memory_tools
    from olav_langchain.tools import recall_tool as recall_tool
    from olav_langchain.tools import remember_tool as remember_tool

_HOMES = {
    "AutoRecallMiddleware": "recall",
    "OperationalEventCapture": "capture",
    "OlavStore": "store",
    "memory_tools": "tools",
    "recall_tool": "tools",
    "remember_tool": "tools",
    "without_memories": "messages",
}
_NEEDS = dict.fromkeys(("langchain", "langchain_core", "langgraph"), "olav-core[langchain]")
__all__ = sorted(_HOMES)
__getattr__ = lazy_names(__name__, _HOMES, needs=_NEEDS)


@hookimpl
def olav_register_categories() -> list[CategorySpec]:
    return [ITEM]


def _auto_recall(memory: Memory, agent: str, *, own_tools: bool = False, **options: Any) -> Any:
    from olav_langchain import AutoRecallMiddleware, memory_tools

    if own_tools:
        options["tools"] = [*memory_tools(memory, agent=agent), *options.get("tools", ())]
    return AutoRecallMiddleware(memory, agent=agent, **options)


def _event_capture(memory: Memory, agent: str, **options: Any) -> Any:
    from olav_langchain import OperationalEventCapture

    return OperationalEventCapture(memory, agent=agent, **options)


@hookimpl
def olav_register_agent_middleware() -> list[MiddlewareSpec]:
    return [
        MiddlewareSpec(
            id="auto_recall",
            framework="langchain",
            purpose="Put the memories that matter beside the query in every model call",
            factory=_auto_recall,
            default=True,
            compiled=True,
            priority=10,
        ),
        MiddlewareSpec(
            id="event_capture",
            framework="langchain",
            purpose="Keep every successful tool call that changes something",
            factory=_event_capture,
            default=True,
            compiled=True,
            priority=20,
        ),
    ]
