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
    from olav_core.cli.view import record_object, records_table

    terminal = Terminal(as_json=as_json)
    with open_memory(workspace) as memory:
        rows = memory.list(
            category=category, scopes=scopes or None, origin=origin, limit=limit + 1, offset=offset
        )
    more, rows = len(rows) > limit, rows[:limit]
    if as_json:
        items = [record_object(row) for row in rows]
        terminal.result({"items": items, "offset": offset, "limit": limit, "more": more})
        return
    terminal.print(records_table(rows) if rows else "No memories.")
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
    with open_memory(workspace) as memory:
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

    With --json: the object of `Memory.status()`.
    """
    terminal = Terminal(as_json=as_json)
    with open_memory(workspace) as memory:
        found = memory.status()
    if as_json:
        terminal.result(found)
    else:
        terminal.print(*_status_view(found))


def _status_view(found: dict[str, Any]) -> list[Any]:
    from olav_core.cli.view import facts_table

    return [facts_table(found)]
