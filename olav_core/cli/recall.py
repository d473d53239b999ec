"""`olav recall` and `olav why`: what a query brings back, and why a memory was or was not among it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from olav_core import clock
from olav_core.cli.options import json_option, stdin_text, workspace_option
from olav_core.cli.session import open_memory
from olav_core.cli.terminal import Terminal
from olav_core.cli.unknown_agent import unknown_agent_note
from olav_core.recall.tier import TIERS

if TYPE_CHECKING:
    from olav_core.memory import Memory
    from olav_core.recall.recall import Recall
    from olav_core.records import MemoryRecord

_agent = click.option(
    "--agent", "-a", default="core", show_default=True, help="Agent that asks: its scopes apply."
)
_tier = click.option("--tier", "-t", type=click.Choice(TIERS), help="Memories per call: 1, 2 or 13.")
_model = click.option("--model", "-m", metavar="NAME", help="Model that asks; its name gives the tier.")
_limit = click.option(
    "--limit", "-k", type=click.IntRange(min=1), help="Most memories to inject, instead of the tier's."
)
_category = click.option("--category", "-c", metavar="ID", help="Only this category.")
_scopes = click.option(
    "--scope", "-s", "scopes", multiple=True, help="These scopes instead of the agent's; repeatable."
)


@click.command()
@click.argument("query", nargs=-1, required=True)
@_agent
@_tier
@_model
@_limit
@_category
@_scopes
@click.option(
    "--explain", "-x", is_flag=True, help="Add the trace: every candidate, its scores and the decision."
)
@workspace_option
@json_option
def recall(
    query: tuple[str, ...],
    agent: str,
    tier: str | None,
    model: str | None,
    limit: int | None,
    category: str | None,
    scopes: tuple[str, ...],
    explain: bool,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Show what a query brings back for an agent, as its model would read it.

    QUERY may be several words; `-` reads it from stdin.

    The trace: rank and strength by words (bm25) and by meaning (vector), the boost by keywords, the score of
    all; dist, the distance in this embedder's space, and canon, the same under every embedder, which gates
    compare.

    With --json: {"query", "agent", "scopes", "tier", "limit", "items": [{"id", "category", "scope", "text",
    "score", "distance", "canonical_distance"}], "block", "tokens", "degraded", "warnings", "timings_ms"}, and
    with --explain "trace": [{"id", "category", "scope", "leg_ranks", "leg_scores", "fused", "boost", "score",
    "distance", "canonical_distance", "decision", "reason"}]. No items and an empty "degraded" means: nothing
    fits. A distance is the squared L2 in the centred space; the canonical one is null for an embedder without
    a measured scale.
    """
    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory:
        result = memory.recall(
            _text(query),
            agent=agent,
            tier=tier,
            model=model,
            limit=limit,
            category=category,
            scopes=scopes or None,
        )
        note = "" if scopes else unknown_agent_note(memory, agent)
        if as_json:
            out = result.to_dict(explain=explain)
            terminal.result(out | {"warnings": [*out["warnings"], *([note] if note else [])]})
            return
        from olav_core.cli.view import recall_view

        if note:
            terminal.note(note)

        terminal.print(*recall_view(result, explain=explain, memory=memory))


@click.command()
@click.argument("identifier", metavar="ID")
@click.argument("query", nargs=-1, required=True)
@_agent
@_tier
@_model
@_limit
@_scopes
@workspace_option
@json_option
def why(
    identifier: str,
    query: tuple[str, ...],
    agent: str,
    tier: str | None,
    model: str | None,
    limit: int | None,
    scopes: tuple[str, ...],
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Tell why a memory is, or is not, injected for a query.

    ID may be the unique beginning of one.

    A memory that superseded another, or was superseded, is shown with it.

    With --json: {"id", "decision", "reason", "trace", "injected": [ids], "query", "agent", "tier", "limit",
    "degraded", "linked": [{"id", "relation", "text", "decision", "reason"}]}; "trace" is as in `olav recall
    --explain`, null when the memory was not even a candidate; "relation" is "superseded_by", "supersedes" or
    "beside".
    """
    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory:
        record = memory.get(identifier)
        trace, result = memory.why(
            record.id, _text(query), agent=agent, tier=tier, model=model, limit=limit, scopes=scopes or None
        )
        decision, reason = (
            (trace.decision, trace.reason) if trace else ("no candidate", _absence(memory, record, result))
        )
        if as_json:
            out: dict[str, Any] = {"id": record.id, "decision": decision, "reason": reason}
            out |= {
                "trace": trace.to_dict() if trace else None,
                "injected": [item.id for item in result.items],
            }
            out |= {name: getattr(result, name) for name in ("query", "agent", "tier", "limit")}
            linked = [
                {
                    "id": other.id,
                    "relation": relation,
                    "text": other.text,
                    "decision": fate[0],
                    "reason": fate[1],
                }
                for relation, other, fate in _linked(memory, record, result)
            ]
            terminal.result(out | {"degraded": list(result.degraded), "linked": linked})
            return
        from rich.text import Text

        from olav_core.cli.view import recall_view, short_id, title, trace_table

        yes = decision == "injected"
        verdict = "Injected" if yes else f"Not injected ({decision})"
        terminal.print(
            Text.assemble((verdict, "bold green" if yes else "bold red"), f": {reason}" if reason else ""),
            trace_table([trace], {record.id: title(record)})
            if trace
            else Text(title(record), no_wrap=True, overflow="ellipsis"),
            *(
                Text(f"{relation.replace('_', ' ')} {short_id(other.id)} ({fate[0]}): {title(other)}")
                for relation, other, fate in _linked(memory, record, result)
            ),
            Text("\nThe recall it was judged in:", style="dim"),
            *recall_view(result),
        )


def _linked(
    memory: Memory, record: MemoryRecord, result: Recall
) -> Iterator[tuple[str, MemoryRecord, tuple[str, str]]]:
    """Yield (relation, memory, (decision, reason)) of the memories that `record` is linked with."""
    traces = {trace.id: trace for trace in result.trace}
    for relation in ("superseded_by", "supersedes", "beside"):
        held = record.metadata.get(relation) or ()
        for id in [held] if isinstance(held, str) else held:
            other = memory.store.get(id) if isinstance(id, str) else None
            if other is None:
                continue
            trace = traces.get(other.id)
            fate = (
                (trace.decision, trace.reason) if trace else ("no candidate", _absence(memory, other, result))
            )
            yield relation, other, fate


def _absence(memory: Memory, record: MemoryRecord, result: Recall) -> str:
    """Return why a memory was not even a candidate."""
    spec = memory.categories.get(record.category)
    if record.scope not in result.scopes:
        return f"its scope {record.scope!r} is not among {', '.join(result.scopes)}"
    if spec is None:
        return f"the plug-in of its category {record.category!r} is not in force; see `olav plugins`"
    if not spec.recallable or spec.cap == 0:
        return f"memories of the category {record.category!r} are not injected by themselves"
    if record.expires_at is not None and record.expires_at <= clock.now():
        return f"it expired on {record.expires_at.date().isoformat()}"
    if record.metadata.get("status") == "superseded":
        return f"superseded by {record.metadata.get('superseded_by') or 'a later one'}"
    return "other memories of its category, or in all, are nearer to the query"


def _text(words: tuple[str, ...]) -> str:
    if words == ("-",):
        return stdin_text().strip()
    return " ".join(words)
