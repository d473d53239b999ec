"""Conversational memory: an agent proposes, a person confirms. `olav drafts`, tools, agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import CommandSpec, hookimpl, lazy_names

if TYPE_CHECKING:
    import click

    from olav_curator.agents import curator_agent as curator_agent
    from olav_curator.agents import curator_subagent as curator_subagent
    from olav_curator.middleware import CuratorMiddleware as CuratorMiddleware
    from olav_curator.tools import curator_tools as curator_tools

#: Public name -> its module. They load when asked for: `olav --help` needs no LangChain.
_HOMES = {
    "CuratorMiddleware": "middleware",
    "curator_agent": "agents",
    "curator_subagent": "agents",
    "curator_tools": "tools",
}
_NEEDS = dict.fromkeys(("langchain", "langchain_core", "langgraph"), "olav-core[langchain]")
__all__ = sorted(_HOMES)
__getattr__ = lazy_names(__name__, _HOMES, needs=_NEEDS)


def _drafts() -> click.Command:
    from olav_curator.command import drafts

    return drafts


@hookimpl
def olav_register_commands() -> list[CommandSpec]:
    return [
        CommandSpec(id="drafts", help="Memories that wait for your word: show, commit, reject.", load=_drafts)
    ]
