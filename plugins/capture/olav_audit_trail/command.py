"""The command `olav audit`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

import olav_core
from olav_audit_trail.trail import AuditTrail
from olav_core import MemoryRecord, Terminal, json_option, workspace_option

_NAMES = ("user", "agent", "action", "tool", "args", "outcome", "error", "run", "call", "seconds")


def _time(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    if value is None:
        return None
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(
            "an ISO 8601 date or time is needed, such as 2026-04-29.", ctx, param
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


@click.group()
def audit() -> None:
    """The audit trail: who did what and when.

    Rows are only ever added. How long they live is `categories.audit.ttl_days` of the settings.
    """


@audit.command("list")
@click.option("--user", "-u", metavar="NAME", help="Only what this user did.")
@click.option("--agent", "-a", metavar="NAME", help="Only what this agent did.")
@click.option("--tool", metavar="NAME", help="Only calls of this tool.")
@click.option("--outcome", metavar="WORD", help="Only this outcome: success, error, denied …")
@click.option("--run", "-r", metavar="ID", help="Only this run.")
@click.option("--since", metavar="TIME", callback=_time, help="From then on (ISO 8601, UTC).")
@click.option("--until", metavar="TIME", callback=_time, help="Before then.")
@click.option("--limit", "-k", type=click.IntRange(min=1), default=50, show_default=True, help="Most rows.")
@workspace_option
@json_option
def list_rows(limit: int, workspace: Path | None, as_json: bool, **filters: Any) -> None:
    """List what was done, newest first.

    With --json: {"rows": [{"id", "time", "text", "user", "agent", "action", "tool", "args", "outcome",
    "error", "run", "call", "seconds"}], "limit", "more"}; "more" tells that there are rows beyond.
    """
    terminal = Terminal(as_json=as_json)
    with terminal.guarded(), olav_core.open(workspace) as memory:
        rows = AuditTrail(memory).rows(limit=limit + 1, **filters)
    more, rows = len(rows) > limit, rows[:limit]
    lines = [f"{row.timestamp:%Y-%m-%d %H:%M:%S}Z  {row.text}" for row in rows]
    terminal.result(
        {"rows": [audit_object(row) for row in rows], "limit": limit, "more": more},
        *(lines or ["Nothing was audited."]),
    )
    if more:
        terminal.note(f"There are more: --limit {2 * limit}.", style="dim")


@audit.command()
@click.argument("identifier", metavar="ID")
@workspace_option
@json_option
def show(identifier: str, workspace: Path | None, as_json: bool) -> None:
    """Show one row whole.

    ID may be the unique beginning of one.

    With --json: a row as in `olav audit list`, and "expires_at".
    """
    terminal = Terminal(as_json=as_json)
    with terminal.guarded(), olav_core.open(workspace) as memory:
        row = AuditTrail(memory).get(identifier)
    value = audit_object(row) | {"expires_at": row.expires_at and row.expires_at.isoformat()}
    terminal.result(value, *(f"{name}: {item}" for name, item in value.items() if item not in (None, "", {})))


def audit_object(row: MemoryRecord) -> dict[str, Any]:
    """Return the `--json` form of a row."""
    data = {name: row.metadata.get(name) for name in _NAMES}
    return {"id": row.id, "time": row.timestamp.isoformat(), "text": row.text, **data}
