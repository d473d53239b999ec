"""deepagents: agents whose every part recalls and is captured, and tools strict enough for small models.

A library that a host imports: it registers nothing, so it has no entry point.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from olav_deepagents.agent import create_agent as create_agent
    from olav_deepagents.export import export_tool as export_tool
    from olav_deepagents.strict import strict_tool as strict_tool

_HOMES = {"create_agent": "agent", "export_tool": "export", "strict_tool": "strict"}
_NEEDS = ("deepagents", "langchain", "langchain_core", "langgraph", "pydantic")
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'olav_deepagents' has no attribute {name!r}")
    try:
        value = getattr(import_module(f"olav_deepagents.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDS:
            raise
        raise ModuleNotFoundError(
            f"olav_deepagents.{name} needs deepagents (no module {error.name!r}). "
            "Install it: pip install 'olav-core[deepagents]'.",
            name=error.name,
        ) from error
    globals()[name] = value
    return value
