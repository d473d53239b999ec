"""Conversational memory: an agent proposes, a person confirms. The command `olav drafts`, and `Curator`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from olav_core import CommandSpec, hookimpl

if TYPE_CHECKING:
    import click

    from olav_curator.commit import Committed as Committed
    from olav_curator.confirmation import confirms as confirms
    from olav_curator.curator import Confirmation as Confirmation
    from olav_curator.curator import Curator as Curator
    from olav_curator.curator import Proposal as Proposal

#: Public name -> its module. They load when asked for: `olav --help` needs none of the engine.
_HOMES = {
    "Committed": "commit",
    "Confirmation": "curator",
    "Curator": "curator",
    "Proposal": "curator",
    "confirms": "confirmation",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'olav_curator' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"olav_curator.{_HOMES[name]}"), name)
    return value


def _drafts() -> click.Command:
    from olav_curator.command import drafts

    return drafts


@hookimpl
def olav_register_commands() -> list[CommandSpec]:
    return [
        CommandSpec(id="drafts", help="Memories that wait for your word: show, commit, reject.", load=_drafts)
    ]
