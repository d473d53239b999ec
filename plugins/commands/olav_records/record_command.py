"""What the commands of all records share: their options, and how they add and list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import attrs
import click

import olav_core
from olav_core import Memory, MemoryRecord, Remembered, Terminal, json_option, workspace_option
from olav_records.record import FIELDS

F = TypeVar("F", bound=Callable[..., Any])


def adding(function: F) -> F:
    """The options that every `add` has."""
    for option in (
        json_option,
        workspace_option,
        click.option("--tag", "tags", multiple=True, help="A tag; repeatable."),
        click.option("--scope", "-s", help="global, an agent's name, or team:ID; default: global."),
    ):
        function = option(function)
    return function


def listing(function: F) -> F:
    """The options that every `list` has."""
    for option in (
        json_option,
        workspace_option,
        click.option(
            "--limit", "-k", type=click.IntRange(min=1), default=50, show_default=True, help="Most rows."
        ),
        click.option("--scope", "-s", "scopes", multiple=True, help="Only this scope; repeatable."),
    ):
        function = option(function)
    return function


def add_record(workspace: Path | None, as_json: bool, keep: Callable[[Memory], Remembered]) -> None:
    terminal = Terminal(as_json=as_json)
    with terminal.guarded(), olav_core.open(workspace) as memory:
        done = keep(memory)
    conflicts = [attrs.asdict(conflict) for conflict in done.conflicts]
    lines = [f"{'Remembered' if done.created else 'Known already:'} {done.id}"]
    for other in done.conflicts:
        said = "Supersedes" if other.outcome == "superseded" else "Not in force; against it stands"
        lines.append(f"{said} {other.id}: {other.text}")
    value = {"id": done.id, "created": done.created, "conflicts": conflicts}
    terminal.result(value, *lines)


def list_records(
    category: str,
    fits: Callable[[MemoryRecord], bool],
    *,
    scopes: tuple[str, ...],
    limit: int,
    workspace: Path | None,
    as_json: bool,
) -> None:
    terminal = Terminal(as_json=as_json)
    with terminal.guarded(), olav_core.open(workspace) as memory:
        rows = [row for row in memory.list(category=category, scopes=scopes or None) if fits(row)][:limit]
    names = () if category == "decision" else ("status", "superseded_by", "supersedes")
    items = [
        {
            "id": row.id,
            "text": row.text,
            "scope": row.scope,
            "origin": row.origin,
            "time": row.timestamp.isoformat(),
            **{name: row.metadata.get(name) for name in (*names, *FIELDS[category])},
        }
        for row in rows
    ]
    lines = [f"{item['id']}  {item['scope']}  {item['text']}{_state(item)}" for item in items]
    terminal.result({"items": items}, *(lines or [f"No {category}s."]))


def _state(item: dict[str, Any]) -> str:
    if item.get("status") == "superseded":
        return f"  (superseded by {item['superseded_by']})"
    facts = [str(item[name]) for name in ("decided_on", "approver", "ticket") if item.get(name)]
    return f"  ({', '.join(facts)})" if facts else ""
