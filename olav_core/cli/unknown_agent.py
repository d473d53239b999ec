"""A note about an agent that nobody knows: a mistyped name would find only what is global, without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core.agents import DEFAULT_AGENT
from olav_core.errors import did_you_mean
from olav_core.records import GLOBAL_SCOPE

if TYPE_CHECKING:
    from olav_core.memory import Memory

#: So many known agents are named in the note.
NAMED = 12


def unknown_agent_note(memory: Memory, agent: str) -> str:
    """Return what to tell a person about `agent`; empty when it is configured, installed, or has memories."""
    from olav_core.packages.agents import list_agents

    if agent == DEFAULT_AGENT or agent in memory.settings.agents:
        return ""
    scopes = {scope for _, scope in memory.store.counts() if not scope.startswith("team:")}
    installed = {found.name for found in list_agents(memory.workspace)}
    known = {DEFAULT_AGENT, *memory.settings.agents, *scopes, *installed} - {GLOBAL_SCOPE}
    if agent in known:
        return ""
    names = ", ".join(sorted(known)[:NAMED]) + (", …" if len(known) > NAMED else "")
    return (
        f"Agent {agent!r} is not known and has no memories of its own: it sees what is global."
        f"{did_you_mean(agent, known)} Known: {names}."
    )
