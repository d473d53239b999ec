"""Tools that an agent calls itself: recall across what it is allowed to see, and remember."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from olav_core import Memory, OlavError, check_scope, fit_budget, render_block

_log = logging.getLogger("olav.langchain")
RECALL, REMEMBER = "olav_recall_memory", "olav_remember"
MAX_LIMIT = 50
_RECALL_HELP = """Search the long-term memory: guides, past operations, lessons, facts.

Relevant memories are already shown beside the user's question; call this for anything else.
- query: what you want to know, in plain words.
- category: only this kind, one of: {categories}.
- limit: how many memories, 1 to {most}.{scopes}"""
_SCOPES_HELP = "\n- scopes: look in these scopes instead of your own, {allowed}."
_REMEMBER_HELP = """Keep one fact, preference or decision in long-term memory, for later conversations.

- text: one self-contained sentence; names and numbers in full.
- category: one of: {categories}.
Use it when the user asks you to remember something. Never store passwords, keys or tokens."""


def recall_tool(
    memory: Memory,
    *,
    agent: str = "core",
    allowed_scopes: Sequence[str] | None = (),
    limit: int = 5,
    token_budget: int = 2000,
) -> BaseTool:
    """Return the tool `olav_recall_memory(query, category?, scopes?, limit?)`.

    It gives the best in ranked order, without the caps and gates of automatic recall, `limit` of them unless
    the model says otherwise, in at most `token_budget` estimated tokens.
    `allowed_scopes`: scopes beyond the agent's own that the model may name; None: any (an operator's tool).
    What it returns is fenced as a block, so that capture and `remember` take it out of whatever repeats it.
    """
    own = memory.scopes_of(agent)
    allowed = None if allowed_scopes is None else frozenset({*own, *map(check_scope, allowed_scopes)})
    crosses = allowed is None or bool(allowed - set(own))

    def search(
        query: str,
        category: str | None = None,
        scopes: list[str] | str | None = None,
        limit: int = limit,
    ) -> str:
        asked = [scopes] if isinstance(scopes, str) and scopes.strip() else list(scopes or ())
        refused = sorted(set(asked) - allowed) if allowed is not None else []
        if refused:
            return _answer(
                error=f"You may not look into {', '.join(refused)}. Use: {', '.join(sorted(allowed or ()))}."
            )
        try:
            found = memory.search(
                query,
                agent=agent,
                category=category or None,
                scopes=asked or None,
                limit=max(1, min(int(limit), MAX_LIMIT)),
            )
        except Exception as error:
            return _failed(error)
        notes = f"Not everything could be searched: {'; '.join(found.degraded)}\n" if found.degraded else ""
        if not found.items:
            return f"{notes}No memory matches. Scopes searched: {', '.join(found.scopes)}."
        items, _ = fit_budget(found.items, token_budget)
        block = render_block(items or found.items[:1])
        return notes + block.replace("<relevant-memories>", f'<relevant-memories source="{RECALL}">', 1)

    categories = ", ".join(id for id, spec in memory.categories.items() if spec.recallable)
    named = "any of them" if allowed is None else "of: " + ", ".join(sorted(allowed))
    help_text = _RECALL_HELP.format(
        categories=categories,
        most=MAX_LIMIT,
        scopes=_SCOPES_HELP.format(allowed=named) if crosses else "",
    )
    return StructuredTool.from_function(
        search, name=RECALL, description=help_text, metadata={"olav_capture": False}
    )


def remember_tool(
    memory: Memory,
    *,
    agent: str = "core",
    scope: str | None = None,
    categories: Sequence[str] = ("fact", "preference", "decision"),
) -> BaseTool:
    """Return the tool `olav_remember(text, category?, tags?)`.

    It writes into `scope` (default: the agent's own) as origin `agent`, so what it kept is shown as data, not
    as an instruction. Blocks are taken out and secrets redacted, as on every write.
    """
    target = check_scope(agent if scope is None else scope)
    offered = [
        id for id in categories if (spec := memory.categories.get(id)) is not None and "agent" in spec.origins
    ]

    def remember(text: str, category: str = "fact", tags: list[str] | None = None) -> str:
        if category not in offered:
            return _answer(error=f"There is no category {category!r} here. Use one of: {', '.join(offered)}.")
        try:
            kept = memory.remember(text, category=category, scope=target, origin="agent", tags=tags or ())
        except Exception as error:
            return _failed(error)
        status = "remembered" if kept.created else "updated" if kept.changed else "known already"
        against = [{"id": c.id, "text": c.text, "outcome": c.outcome} for c in kept.conflicts]
        if any(c.outcome == "stands" for c in kept.conflicts):
            status = "not in force: a person said otherwise; tell the user, who may reinstate it"
        return _answer(status=status, id=kept.id, **({"conflicts": against} if against else {}))

    return StructuredTool.from_function(
        remember,
        name=REMEMBER,
        description=_REMEMBER_HELP.format(categories=", ".join(offered)),
        metadata={"olav_capture": False},
    )


def memory_tools(memory: Memory, *, agent: str = "core", **options: Any) -> list[BaseTool]:
    """Return both tools; `options` are those of `recall_tool`."""
    return [recall_tool(memory, agent=agent, **options), remember_tool(memory, agent=agent)]


def _failed(error: Exception) -> str:
    """A tool that raises would end the run: the model is told; of an unforeseen error only its kind."""
    if isinstance(error, OlavError):
        return _answer(error=str(error))
    _log.exception("a memory tool failed")
    return _answer(error=f"The memory failed ({type(error).__name__}). Go on without it.")


def _answer(**parts: Any) -> str:
    return json.dumps(parts, ensure_ascii=False)
