"""Ready agents: the curator as an agent of its own, and as a sub-agent of a deep agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain.agents import create_agent

from olav_core import Memory
from olav_curator.middleware import CuratorMiddleware
from olav_curator.tools import PROMPT, curator_tools

NAME = "memory_curator"
DESCRIPTION = (
    "Remembers what the user asks to remember: proposes a draft, or commits, rejects and lists drafts. Pass "
    "on the user's request and all that should be remembered. Show the user its answer word for word; when "
    "the user then says yes, call it again to commit."
)


def curator_agent(
    memory: Memory,
    model: Any,
    *,
    confirms: Callable[[str], bool] | None = None,
    interrupt: bool = False,
    middleware: Sequence[Any] = (),
    **options: Any,
) -> Any:
    """Return the curator as a LangChain agent (a compiled graph).

    `confirms` and `interrupt` are those of curator_tools. `options` go to `langchain.agents.create_agent`,
    such as `checkpointer`, which an agent that gets only the new message of each turn needs.
    """
    return create_agent(
        model,
        tools=curator_tools(memory, confirms=confirms, interrupt=interrupt),
        system_prompt=PROMPT,
        middleware=[CuratorMiddleware(memory), *middleware],
        **options,
    )


def curator_subagent(
    memory: Memory,
    *,
    name: str = NAME,
    model: Any = None,
    confirms: Callable[[str], bool] | None = None,
    interrupt: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Return the curator as a sub-agent of `deepagents.create_deep_agent(subagents=[…])`.

    It never sees the user's messages, so give the main agent `middleware=[CuratorMiddleware(memory)]`, or
    pass the user's words in the run's configuration, or set `interrupt`; without any of them it can propose
    and not commit. `model`: default the main agent's. `options`: further keys of the specification.
    """
    return {
        "name": name,
        "description": DESCRIPTION,
        "system_prompt": PROMPT,
        "tools": curator_tools(memory, confirms=confirms, interrupt=interrupt),
        "middleware": [CuratorMiddleware(memory, sub=True)],
        **({} if model is None else {"model": model}),
        **options,
    }
