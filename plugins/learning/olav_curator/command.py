"""The command `olav drafts`."""

from __future__ import annotations

from pathlib import Path

import attrs
import click

import olav_core
from olav_core import Confirmation, Drafts, Terminal, clock, json_option, workspace_option


@click.group()
def drafts() -> None:
    """Memories that wait for your word: list, show, commit, reject."""


@drafts.command("list")
@workspace_option
@json_option
def list_drafts(workspace: Path | None, as_json: bool) -> None:
    """List what was proposed and not yet answered.

    With --json: {"drafts": [{"intent", "category", "agent", "scope", "path", "proposer", "reason",
    "created_at", "expires_at", "expired"}]}.
    """
    terminal = Terminal(as_json=as_json)
    with terminal.guarded(), olav_core.open(workspace) as memory:
        found = Drafts(memory).list()
    now = clock.now()
    names = ("intent", "category", "agent", "scope", "path", "proposer", "reason", "created_at", "expires_at")
    rows = [{name: getattr(d, name) for name in names} | {"expired": d.expired(now)} for d in found]
    lines = [
        f"{row['intent']}  {row['category']}  {row['scope']}  "
        + ("expired" if row["expired"] else f"until {str(row['expires_at'])[:16]}Z")
        for row in rows
    ]
    terminal.result({"drafts": rows}, *(lines or ["Nothing is pending."]))


@drafts.command()
@click.argument("intent", required=False)
@workspace_option
@json_option
def show(intent: str | None, workspace: Path | None, as_json: bool) -> None:
    """Show a draft exactly as it would be written.

    Without INTENT the only one.

    With --json: {"intent", "preview", "question", "hash", "expires_at"}.
    """
    terminal = Terminal(as_json=as_json)
    with terminal.guarded(), olav_core.open(workspace) as memory:
        pending = Drafts(memory)
        proposal = pending.show(pending.get(intent))
    terminal.result(attrs.asdict(proposal), proposal.preview)


@drafts.command()
@click.argument("intent", required=False)
@click.option("--yes", "-y", is_flag=True, help="You have seen it; do not ask.")
@workspace_option
@json_option
def commit(intent: str | None, yes: bool, workspace: Path | None, as_json: bool) -> None:
    """Show a draft, ask, and write it.

    That is its file, its memory and its archive; all three or none. Without INTENT the only one.

    With --json (needs --yes): {"intent", "ids", "path", "archive"}.
    """
    if as_json and not yes:
        raise click.UsageError("--json cannot ask; add --yes if a person has seen the draft.")
    terminal = Terminal(as_json=as_json)
    with terminal.guarded(), olav_core.open(workspace) as memory:
        pending = Drafts(memory)
        proposal = pending.show(pending.get(intent))
        terminal.print(proposal.preview)
        if not yes:
            click.confirm("Remember this?", abort=True, err=True)
        word = Confirmation(text="yes", in_person=True)
        done = pending.commit(proposal.intent, confirmation=word, hash=proposal.hash)
    terminal.result(
        attrs.asdict(done), f"Remembered {' · '.join(filter(None, (', '.join(done.ids), done.path)))}"
    )


@drafts.command()
@click.argument("intent", required=False)
@workspace_option
@json_option
def reject(intent: str | None, workspace: Path | None, as_json: bool) -> None:
    """Put a draft away unwritten; without INTENT the only one.

    With --json: {"intent"}.
    """
    terminal = Terminal(as_json=as_json)
    with terminal.guarded(), olav_core.open(workspace) as memory:
        name = Drafts(memory).reject(intent)
    terminal.result({"intent": name}, f"Rejected {name}")
