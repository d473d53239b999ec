"""`olav kb list`, `show` and `status`: look, change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from olav_core.cli.options import json_option, workspace_option
from olav_core.cli.session import open_memory
from olav_core.cli.terminal import Terminal
from olav_core.records import ORIGINS


@click.command("list")
@click.option("--category", "-c", metavar="ID", help="Only this category.")
@click.option("--scope", "-s", "scopes", multiple=True, help="Only this scope; repeatable.")
@click.option("--origin", type=click.Choice(ORIGINS), help="Only this origin.")
@click.option("--limit", "-k", type=click.IntRange(min=1), default=50, show_default=True, help="Most rows.")
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Rows to pass over.")
@workspace_option
@json_option
def list_memories(
    category: str | None,
    scopes: tuple[str, ...],
    origin: str | None,
    limit: int,
    offset: int,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """List memories.

    With --json: {"items": [memory…], "offset", "limit", "more"}; a memory is as in `olav kb show`, "more"
    tells that there are rows beyond.
    """
    from olav_core.cli.view import record_object, records_listing

    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory:
        rows = memory.list(
            category=category, scopes=scopes or None, origin=origin, limit=limit + 1, offset=offset
        )
    more, rows = len(rows) > limit, rows[:limit]
    if as_json:
        items = [record_object(row) for row in rows]
        terminal.result({"items": items, "offset": offset, "limit": limit, "more": more})
        return
    terminal.print(records_listing(rows) if rows else "No memories.")
    if more:
        terminal.note(f"There are more: --offset {offset + limit}.", style="dim")


@click.command()
@click.argument("identifier", metavar="ID")
@workspace_option
@json_option
def show(identifier: str, workspace: Path | None, as_json: bool) -> None:
    """Show one memory whole.

    ID may be the unique beginning of one.

    With --json: {"id", "text", "category", "scope", "search_text", "metadata", "origin", "confidence",
    "tags", "timestamp", "created_at", "access_count", "expires_at"}.
    """
    from olav_core.cli.view import record_object, record_view

    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory:
        record = memory.get(identifier)
    if as_json:
        terminal.result(record_object(record))
    else:
        terminal.print(*record_view(record))


@click.command()
@workspace_option
@json_option
def status(workspace: Path | None, as_json: bool) -> None:
    """Show what the store holds, its embedder and the state of its index.

    With --json: {"workspace", "uri", "rows", "categories": {id: rows}, "scopes": {scope: rows}, "orphans":
    {category: rows}, "embedder": {"configured", "stored", "model", "dimension", "kept_spaces": [name]},
    "versions", "maintenance": {"at", "seconds", "failures", "failed_in_a_row", "left"}, "bytes", "index":
    {"rows", "version", "lexical_rows", "lexical_version", "lexical_behind", "languages": {code: rows}}}.
    "orphans" are rows whose category no plug-in has: kept, not injected.
    """
    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory:
        found = memory.status()
    if as_json:
        terminal.result(found)
    else:
        terminal.print(*_status_view(found))


def _status_view(found: dict[str, Any]) -> list[Any]:
    from rich.text import Text

    from olav_core.cli.view import facts_table

    space, index = found["embedder"], found["index"]
    size = "" if found["bytes"] is None else f", {found['bytes'] / 1e6:.1f} MB"
    behind = f", {index['lexical_behind']} behind in the lexical index" if index["lexical_behind"] else ""
    facts = {
        "workspace": found["workspace"],
        "store": f"{found['uri']} ({found['versions']} versions{size})",
        "embedder": f"{space['stored']} ({space['model']}, {space['dimension']} dimensions)",
        "memories": found["rows"],
        "  by category": _counts(found["categories"]),
        "  by scope": _counts(found["scopes"]),
        "  by language": _counts(index["languages"]),
        "index": f"{index['rows']} of {found['rows']} rows{behind}",
    }
    out: list[Any] = [facts_table({name: value for name, value in facts.items() if value != ""})]
    if found["orphans"]:
        text = f"No plug-in for {_counts(found['orphans'])}: kept, not injected. See `olav plugins`."
        out.append(Text(text, style="yellow"))
    if space["configured"] != space["stored"]:
        text = (
            f"The configuration names the embedder {space['configured']}, the store was made with "
            f"{space['stored']}. Correct the configuration, or `olav kb reembed --to {space['configured']}`."
        )
        out.append(Text(text, style="bold red"))
    for failure in found["maintenance"]["failures"]:
        out.append(Text(f"Maintenance failed: {failure}. See `olav doctor`.", style="bold red"))
    if space["kept_spaces"]:
        out.append(Text("Vectors of earlier embedders are kept: `olav kb reembed --purge`.", style="dim"))
    return out


def _counts(rows: dict[str, int]) -> str:
    ordered = sorted(rows.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {count}" for name, count in ordered)
