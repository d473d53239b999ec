"""The command `olav learn`, and how a person closes a lesson."""

from __future__ import annotations

from pathlib import Path

import click

from olav_core import Terminal, json_option, workspace_option
from olav_learn.pattern_command import patterns
from olav_learn.reflection_command import reflections
from olav_learn.reflection_row import resolve, supersede
from olav_learn.run_command import run, status
from olav_learn.session import session


@click.group()
def learn() -> None:
    """Learn patterns from events, lessons from failures.

    `run` does what is due, for a timer. The chat model is that of the settings `chat`; see
    docs/howto-learning.md. Exit code 75 when another learner works in the workspace: try again later.
    """


for _command in (run, status, patterns, reflections):
    learn.add_command(_command)


@learn.command("resolve")
@click.argument("identifier", metavar="ID")
@workspace_option
@json_option
def resolve_command(identifier: str, workspace: Path | None, as_json: bool) -> None:
    """Close a reflection whose cause is gone.

    It is kept, and not injected any more.

    With --json: {"id"}.
    """
    terminal = Terminal(as_json=as_json)
    with session(terminal, workspace, alone=False) as memory:
        done = resolve(memory, identifier)
    terminal.result({"id": done}, f"Resolved {done}")


@learn.command("supersede")
@click.argument("identifier", metavar="ID")
@click.argument("by", metavar="BY_ID")
@workspace_option
@json_option
def supersede_command(identifier: str, by: str, workspace: Path | None, as_json: bool) -> None:
    """Close the reflection ID in favour of the reflection BY_ID.

    With --json: {"id"}.
    """
    terminal = Terminal(as_json=as_json)
    with session(terminal, workspace, alone=False) as memory:
        done = supersede(memory, identifier, by)
    terminal.result({"id": done}, f"Superseded {done}")
