"""The command `olav decision`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from olav_core import MemoryRecord
from olav_records.record import keep_decision
from olav_records.record_command import add_record, adding, list_records, listing


@click.group()
def decision() -> None:
    """Decisions of change control: what, why, who approved, which ticket, when, which devices."""


@decision.command("add")
@click.argument("text")
@click.option("--approver", required=True, help="Who approved it.")
@click.option("--why", default="", help="The reason.")
@click.option("--ticket", default="", help="The change's number.")
@click.option("--date", "decided_on", default="", metavar="YYYY-MM-DD", help="When; default: today.")
@click.option("--device", "devices", multiple=True, help="A device that it touches; repeatable.")
@adding
def add_decision(workspace: Path | None, as_json: bool, text: str, **values: Any) -> None:
    """Write down a decision.

    With --json: {"id", "created", "conflicts": []}.
    """
    add_record(workspace, as_json, lambda memory: keep_decision(memory, text, **values))


@decision.command("list")
@click.option("--device", help="Only what touches this device.")
@click.option("--approver", help="Only what this person approved.")
@click.option("--ticket", help="Only this ticket.")
@listing
def list_decisions(device: str | None, approver: str | None, ticket: str | None, **options: Any) -> None:
    """List decisions, the latest first.

    With --json: {"items": [{"id", "text", "scope", "origin", "time", "approver", "ticket", "why",
    "decided_on", "devices"}]}.
    """

    def fits(row: MemoryRecord) -> bool:
        data = row.metadata
        return (
            (device is None or device in data.get("devices", ()))
            and (approver is None or data.get("approver") == approver)
            and (ticket is None or data.get("ticket") == ticket)
        )

    list_records("decision", fits, **options)
