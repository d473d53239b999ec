"""Conversational memory: an agent proposes, a person confirms. The command `olav drafts`, and `Curator`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import CommandSpec, hookimpl
from olav_curator.commit import Committed as Committed
from olav_curator.confirmation import confirms as confirms
from olav_curator.curator import Confirmation as Confirmation
from olav_curator.curator import Curator as Curator
from olav_curator.curator import Proposal as Proposal

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
