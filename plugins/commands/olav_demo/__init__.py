"""The command `olav demo`: a small network-operations workspace, filled and queried before your eyes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import CommandSpec, hookimpl

if TYPE_CHECKING:
    import click


def _load() -> click.Command:
    from olav_demo.command import demo

    return demo


@hookimpl
def olav_register_commands() -> list[CommandSpec]:
    return [
        CommandSpec(id="demo", help="Make a demo workspace and show what it recalls, and why.", load=_load)
    ]
