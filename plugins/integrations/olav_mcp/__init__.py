"""The command `olav mcp`: the memory as a Model Context Protocol server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import CommandSpec, hookimpl

if TYPE_CHECKING:
    import click


def _load() -> click.Command:
    from olav_mcp.command import mcp

    return mcp


@hookimpl
def olav_register_commands() -> list[CommandSpec]:
    return [CommandSpec(id="mcp", help="Serve the memory to MCP clients (stdio or HTTP).", load=_load)]
