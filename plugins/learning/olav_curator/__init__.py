"""Conversational memory: an agent proposes, a person confirms. `olav drafts`, tools, agents."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from olav_core import CommandSpec, hookimpl

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
_NEEDS = ("langchain", "langchain_core", "langgraph")
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'olav_curator' has no attribute {name!r}")
    try:
        value = getattr(import_module(f"olav_curator.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDS:
            raise
        raise ModuleNotFoundError(
            f"olav_curator.{name} needs LangChain (no module {error.name!r}). "
            "Install it: pip install 'olav-core[langchain]'.",
            name=error.name,
        ) from error
    globals()[name] = value
    return value


def _drafts() -> click.Command:
    from olav_curator.command import drafts

    return drafts


@hookimpl
def olav_register_commands() -> list[CommandSpec]:
    return [
        CommandSpec(id="drafts", help="Memories that wait for your word: show, commit, reject.", load=_drafts)
    ]
