"""deepagents: agents whose every part recalls and is captured, and tools strict enough for small models.

A library that a host imports: it registers nothing, so it has no entry point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import lazy_names

if TYPE_CHECKING:
    from olav_deepagents.agent import create_agent as create_agent
    from olav_deepagents.export import export_tool as export_tool
    from olav_deepagents.strict import strict_tool as strict_tool

_HOMES = {"create_agent": "agent", "export_tool": "export", "strict_tool": "strict"}
_NEEDS = dict.fromkeys(
    ("deepagents", "langchain", "langchain_core", "langgraph", "pydantic"), "olav-core[deepagents]"
)
__all__ = sorted(_HOMES)
__getattr__ = lazy_names(__name__, _HOMES, needs=_NEEDS)
