"""create_agent: create_deep_agent with recall and capture in the main agent and in every subagent."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

from deepagents import FilesystemPermission, create_deep_agent
from deepagents.middleware import FilesystemMiddleware
from deepagents.middleware.subagents import GENERAL_PURPOSE_SUBAGENT
from olav_langchain import AutoRecallMiddleware, OperationalEventCapture, memory_tools

from olav_core import ConfigError, Memory
from olav_deepagents.compiled import RememberingRunnable
from olav_deepagents.export import export_tool

_log = logging.getLogger("olav.deepagents")
#: What stays of the virtual file system when reports go to the real disk.
READING_TOOLS = ("ls", "read_file", "glob", "grep")
_NO_WRITES = FilesystemPermission(operations=["write"], paths=["/**"], mode="deny")


def create_agent(
    memory: Memory,
    model: Any,
    *,
    tools: Sequence[Any] = (),
    subagents: Sequence[Mapping[str, Any]] = (),
    agent: str = "core",
    agents: Mapping[str, str] | None = None,
    middleware: Sequence[Any] = (),
    recall: Mapping[str, Any] | None = None,
    capture: bool = True,
    tool_marks: Mapping[str, bool] | None = None,
    own_tools: bool = True,
    compiled: bool = True,
    export_to: str | os.PathLike[str] | None = None,
    backend: Any = None,
    permissions: Sequence[Any] = (),
    **options: Any,
) -> Any:
    """Return a deep agent (a compiled graph) with memory.

    - `agent`: the main agent's name in the memory; subagents recall and are captured under their own names,
      the general-purpose one under `agent`. `agents` maps a subagent's name to another.
    - `recall`: options of AutoRecallMiddleware for all of them (tier, token_budget, extra_scopes …).
    - `capture`: take write-class tool calls; `tool_marks`: tool name -> always (True) or never (False).
    - `own_tools`: give all of them `olav_recall_memory` and `olav_remember`.
    - `export_to`: a folder on the real disk. All agents get `format_and_export` for it, and the write tools
      of the virtual file system are hidden and denied: a model that sees both takes the wrong one.
    - `backend`, `permissions` and `options` are those of `deepagents.create_deep_agent`.

    - `compiled`: let subagents that are compiled already recall once, when they are called, and capture what
      they return (see RememberingRunnable). With a checkpointer the block then lies in the checkpoints of
      that call, beside its task; False for those that were built with the middleware themselves.

    A remote subagent gets nothing, which is logged. Raises ConfigError for `agents` that names no subagent.
    """
    specs = [dict(spec) for spec in subagents]
    if not any(spec.get("name") == GENERAL_PURPOSE_SUBAGENT["name"] for spec in specs):
        # Left out, deepagents adds its own, which would neither recall nor be captured.
        specs.insert(0, dict(GENERAL_PURPOSE_SUBAGENT))
    names = {GENERAL_PURPOSE_SUBAGENT["name"]: agent, **(agents or {})}
    unknown = sorted(set(names) - {spec.get("name") for spec in specs})
    if unknown:
        raise ConfigError(f"agents names {', '.join(unknown)}, but there is no such subagent.")
    all_tools = list(tools)
    if export_to is not None:
        all_tools.append(export_tool(export_to))
        permissions = [_NO_WRITES, *permissions]

    def capturing(name: str) -> OperationalEventCapture | None:
        return OperationalEventCapture(memory, agent=name, tools=tool_marks) if capture else None

    def memory_middleware(name: str) -> list[Any]:
        added: list[Any] = [
            AutoRecallMiddleware(
                memory,
                agent=name,
                tools=memory_tools(memory, agent=name) if own_tools else (),
                **(recall or {}),
            )
        ]
        if capture:
            added.append(capturing(name))
        if export_to is not None:
            added.append(FilesystemMiddleware(backend=backend, tools=list(READING_TOOLS)))
        return added

    def prepared(spec: dict[str, Any]) -> dict[str, Any]:
        name = str(spec.get("name"))
        if "runnable" in spec and not compiled:
            return spec
        if "runnable" in spec:
            own = names.get(name, name)
            recalling = AutoRecallMiddleware(memory, agent=own, **(recall or {}))
            spec["runnable"] = RememberingRunnable(spec["runnable"], recalling, capturing(own))
            return spec
        if "graph_id" in spec:
            _log.warning(
                "subagent %s runs elsewhere: it gets no recall and no capture from here. Where it runs, "
                "build its graph with olav_langchain.AutoRecallMiddleware and OperationalEventCapture.",
                name,
            )
            return spec
        spec["middleware"] = _merged(memory_middleware(names.get(name, name)), spec.get("middleware", ()))
        if export_to is not None:
            if "tools" in spec:
                spec["tools"] = [*spec["tools"], all_tools[-1]]
            if "permissions" in spec:
                spec["permissions"] = [_NO_WRITES, *spec["permissions"]]
        return spec

    return create_deep_agent(
        model,
        all_tools,
        subagents=[prepared(spec) for spec in specs],
        middleware=_merged(memory_middleware(agent), middleware),
        backend=backend,
        permissions=list(permissions) or None,
        **options,
    )


def _merged(ours: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    """Ours first; one that the host gives under the same name takes the place of ours."""
    names = {middleware.name for middleware in given}
    return [*(middleware for middleware in ours if middleware.name not in names), *given]
