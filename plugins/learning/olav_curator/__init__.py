"""Conversational memory: an agent proposes, a person confirms. `olav drafts`, tools, agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import CommandSpec, hookimpl

if TYPE_CHECKING:
    import click


def _drafts() -> click.Command:
    from olav_curator.command import drafts

    return drafts


@hookimpl
def olav_register_commands() -> list[CommandSpec]:
    return [
        CommandSpec(id="drafts", help="Memories that wait for your word: show, commit, reject.", load=_drafts)
    ]
