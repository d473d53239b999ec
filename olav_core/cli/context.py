"""`olav context`: everything that an agent reads for a query, layer by layer, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from olav_core.cli.options import json_option, stdin_text, workspace_option
from olav_core.cli.session import open_memory
from olav_core.cli.terminal import Terminal
from olav_core.cli.unknown_agent import unknown_agent_note
from olav_core.recall.tier import TIERS

if TYPE_CHECKING:
    from olav_core.context.context import Context


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--agent", "-a", default="core", show_default=True, help="Agent that asks.")
@click.option("--tier", "-t", type=click.Choice(TIERS), help="Size of the model that asks.")
@click.option("--model", "-m", metavar="NAME", help="Model that asks; its name gives the tier.")
@click.option("--budget", "-b", type=click.IntRange(min=1), help="Tokens of all layers; default: the tier's.")
@click.option(
    "--explain",
    "-x",
    "--why",
    "explain",
    is_flag=True,
    help="Only what is in and out, and why; not the texts.",
)
@workspace_option
@json_option
def context(
    query: tuple[str, ...],
    agent: str,
    tier: str | None,
    model: str | None,
    budget: int | None,
    explain: bool,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Show everything that an agent reads for a query, and why.

    Three layers: always, the files that the agent's SKILL.md or AGENT.md names; on_intent, the files that
    the query means; recalled, the memories. QUERY may be several words; `-` reads it from stdin.

    With --json: {"query", "agent", "folder", "tier", "budget", "tokens", "files", "block", "parts":
    [{"layer", "name", "included", "reason", "tokens", "distance", "keywords"}], "degraded", "warnings"};
    "files" is for the system prompt, "block" goes directly before the query, "name" is a path in "folder" or
    a memory's id, "distance" is canonical.
    """
    text = stdin_text() if query == ("-",) else " ".join(query)
    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory:
        found = memory.context(text, agent=agent, tier=tier, model=model, token_budget=budget)
        note = unknown_agent_note(memory, agent)
    notes = (note,) if note else ()
    if as_json:
        out = found.to_dict()
        terminal.result(out | {"warnings": [*out["warnings"], *notes]})
        return
    for warning in (*found.recall.degraded, *found.warnings, *notes):
        terminal.note(warning)
    terminal.print(*_view(found, texts=not explain))


def _view(found: Context, *, texts: bool) -> list[Any]:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0))
    for header in ("", "layer", "tokens", "part", "why"):
        justify = "right" if header == "tokens" else "left"
        table.add_column(header, overflow="fold", no_wrap=header in ("", "layer"), justify=justify)  # type: ignore[arg-type]
    for part in found.parts:
        mark = Text("in", style="green") if part.included else Text("out", style="dim")
        tokens = str(part.tokens) if part.tokens else ""
        table.add_row(mark, part.layer, tokens, Text(part.name), Text(part.reason))
    head = Text.assemble(
        (f"{found.tokens} of {found.budget} tokens", "bold"), f", agent {found.agent}, tier {found.tier}"
    )
    out: list[Any] = [head, table if found.parts else Text("Nothing: no files, and no memory fits.")]
    if texts:
        out += [Text(f"\n{block}") for block in (found.files, found.block) if block]
    return out
