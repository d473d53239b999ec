"""create_agent: create_deep_agent with the registered middleware in the main agent and in every subagent."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

from deepagents import FilesystemPermission, create_deep_agent
from deepagents.middleware import FilesystemMiddleware
from deepagents.middleware.subagents import GENERAL_PURPOSE_SUBAGENT

from olav_core import ConfigError, Memory, agent_middleware
from olav_deepagents.compiled import RememberingRunnable
from olav_deepagents.export import export_tool

#: Whose middleware a deep agent runs.
FRAMEWORK = "langchain"
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
    use: Mapping[str, bool | Mapping[str, Any]] | None = None,
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
    - `use`: which registered agent middleware all of them get, besides the defaults: id -> True, False or its
      options, such as `{"tool_audit": True}`. `middleware`: objects for the main agent alone.
    - `recall`: options of `auto_recall` (tier, token_budget, extra_scopes …); `own_tools`: with its tools
      `olav_recall_memory` and `olav_remember`.
    - `capture`: take write-class tool calls (`event_capture`); `tool_marks`: tool name -> always (True) or
      never (False).
    - `export_to`: a folder on the real disk. All agents get `format_and_export` for it, and the write tools
      of the virtual file system are hidden and denied: a model that sees both takes the wrong one.
    - `backend`, `permissions` and `options` are those of `deepagents.create_deep_agent`.

    - `compiled`: put middleware around subagents that are compiled already: they recall once, when they are
      called, and what they return is captured (see RememberingRunnable). With a checkpointer the block then
      lies in the checkpoints of that call, beside its task; False for those that were built with the
      middleware themselves.

    A remote subagent gets nothing, which is logged. Raises ConfigError for `agents` that names no subagent,
    UnknownIdError for `use` that names no middleware.
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

    chosen: dict[str, bool | Mapping[str, Any]] = {
        "auto_recall": {"own_tools": own_tools, **(recall or {})},
        "event_capture": {"tools": tool_marks} if capture else False,
    }
    for id, wish in (use or {}).items():
        settled = chosen.get(id, True)
        chosen[id] = settled if wish is True and settled else wish
        if isinstance(wish, Mapping) and isinstance(settled, Mapping):
            chosen[id] = {**settled, **wish}

    def memory_middleware(name: str) -> list[Any]:
        added = agent_middleware(memory, FRAMEWORK, agent=name, use=chosen)
        if export_to is not None:
            added.append(FilesystemMiddleware(backend=backend, tools=list(READING_TOOLS)))
        return added

    def prepared(spec: dict[str, Any]) -> dict[str, Any]:
        name = str(spec.get("name"))
        if "runnable" in spec and not compiled:
            return spec
        if "runnable" in spec:
            around = agent_middleware(
                memory, FRAMEWORK, agent=names.get(name, name), use=chosen, compiled=True
            )
            spec["runnable"] = RememberingRunnable(spec["runnable"], around)
            return spec
        if "graph_id" in spec:
            _log.warning(
                "subagent %s runs elsewhere: it gets no recall and no capture from here. Where it runs, "
                'build its graph with middleware=olav_core.agent_middleware(memory, "langchain", agent=…).',
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

    own = _merged(memory_middleware(agent), middleware)
    graph = create_deep_agent(
        model,
        all_tools,
        subagents=[prepared(spec) for spec in specs],
        middleware=own,
        backend=backend,
        permissions=list(permissions) or None,
        **options,
    )
    callbacks = [callback for one in own for callback in getattr(one, "run_callbacks", ())]
    return graph.with_config({"callbacks": callbacks}) if callbacks else graph


def _merged(ours: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    """Ours first; one that the host gives under the same name takes the place of ours."""
    names = {middleware.name for middleware in given}
    return [*(middleware for middleware in ours if middleware.name not in names), *given]
