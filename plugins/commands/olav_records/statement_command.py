"""The commands `olav fact` and `olav preference`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from olav_core import MemoryRecord
from olav_records.record import keep_fact, keep_preference
from olav_records.record_command import add_record, adding, list_records, listing


@click.group()
def fact() -> None:
    """Facts: stable knowledge. A fact that contradicts an earlier one supersedes it; both are kept."""


@fact.command("add")
@click.argument("text")
@click.option("--subject", default="", help="What it is about, such as R1.")
@click.option("--attribute", default="", help="What of it, such as loopback: one value at a time.")
@click.option("--value", default="", help="What that is; default: all of TEXT.")
@click.option("--source", default="", help="Where it was read.")
@adding
def add_fact(workspace: Path | None, as_json: bool, text: str, **values: Any) -> None:
    """Write down a fact.

    What it contradicts is told and superseded; `olav kb reinstate` undoes that.

    With --json: {"id", "created", "conflicts": [{"id", "text", "topic", "ours", "theirs", "outcome"}]}.
    """
    add_record(workspace, as_json, lambda memory: keep_fact(memory, text, **values))


@fact.command("list")
@click.option("--subject", help="Only what is about this.")
@click.option("--all", "with_superseded", is_flag=True, help="Also what was superseded.")
@listing
def list_facts(subject: str | None, with_superseded: bool, **options: Any) -> None:
    """List facts, the latest first.

    With --json: {"items": [{"id", "text", "scope", "origin", "time", "status", "superseded_by",
    "supersedes", "subject", "attribute", "value", "source"}]}.
    """
    list_records("fact", _in_force("subject", subject, with_superseded), **options)


@click.group()
def preference() -> None:
    """Preferences: how people want things. One that contradicts an earlier one supersedes it."""


@preference.command("add")
@click.argument("text")
@click.option("--user", "-u", default="", help="Whose it is.")
@click.option("--subject", default="", help="What it is about, such as answers.")
@click.option("--attribute", default="", help="What of it, such as language: one value at a time.")
@click.option("--value", default="", help="What that is; default: all of TEXT.")
@adding
def add_preference(workspace: Path | None, as_json: bool, text: str, **values: Any) -> None:
    """Write down a preference.

    With --json: {"id", "created", "conflicts": [{"id", "text", "topic", "ours", "theirs", "outcome"}]}.
    """
    add_record(workspace, as_json, lambda memory: keep_preference(memory, text, **values))


@preference.command("list")
@click.option("--user", "-u", help="Only this person's.")
@click.option("--all", "with_superseded", is_flag=True, help="Also what was superseded.")
@listing
def list_preferences(user: str | None, with_superseded: bool, **options: Any) -> None:
    """List preferences, the latest first.

    With --json: {"items": [{"id", "text", "scope", "origin", "time", "status", "superseded_by",
    "supersedes", "user", "subject", "attribute", "value"}]}.
    """
    list_records("preference", _in_force("user", user, with_superseded), **options)


def _in_force(name: str, value: str | None, with_superseded: bool) -> Callable[[MemoryRecord], bool]:
    def fits(row: MemoryRecord) -> bool:
        current = with_superseded or row.metadata.get("status") != "superseded"
        return current and (value is None or row.metadata.get(name) == value)

    return fits
