"""Commands that plug-ins bring, found without importing the plug-ins that bring none."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from olav_core.cli.options import named_workspace
from olav_core.errors import OlavError, PluginError
from olav_core.specs import CommandSpec

if TYPE_CHECKING:
    from olav_core.host.registry import Registry

_HOOK = "olav_register_commands"
_KEY = "olav.commands"


def plugin_commands(ctx: click.Context, taken: Collection[str]) -> Mapping[str, CommandSpec]:
    """Return the plug-ins' commands by id. Faults are told on stderr, once, and keep nothing else away.

    `taken` are the ids that `olav` has itself.
    """
    meta = ctx.find_root().meta
    if _KEY not in meta:
        found: dict[str, CommandSpec] = {}
        try:
            found = _find(taken, named_workspace(ctx))
        except (OlavError, OSError) as error:
            _tell(str(error))
        meta[_KEY] = found
    commands: Mapping[str, CommandSpec] = meta[_KEY]
    return commands


def load_command(spec: CommandSpec) -> click.Command:
    """Import a plug-in's command or raise PluginError that names it."""
    try:
        command = spec.load()
    except Exception as error:
        raise PluginError(
            f"The command '{spec.id}' cannot be loaded: {type(error).__name__}: {error}. "
            "`olav plugins` shows which plug-in brings it."
        ) from error
    if not isinstance(command, click.Command):
        raise PluginError(
            f"The command '{spec.id}' is a {type(command).__name__}, not a click command. "
            "Its CommandSpec.load must return one."
        )
    return command


def survey(workspace: Path | None, kinds: tuple[str, ...] | None = None) -> Registry:
    """Load the plug-ins of the machine and of the workspace; no fault raises, not even a built-in's."""
    from olav_core.host.assembly import assemble

    disabled = frozenset(os.environ.get("OLAV_DISABLE", "").replace(",", " ").split())
    return assemble(None, plugin_dir=_plugin_directory(workspace), disabled=disabled, kinds=kinds)


def _find(taken: Collection[str], workspace: Path | None) -> dict[str, CommandSpec]:
    registry = survey(workspace, kinds=("commands",))
    found = {}
    for fault in registry.faults:
        _tell(str(fault))
    for spec in registry.commands.values():
        if spec.id in taken:
            _tell(f"The plug-in command '{spec.id}' is hidden by olav's own. Rename it in its CommandSpec.")
        else:
            found[spec.id] = spec
    return found


def _plugin_directory(workspace: Path | None) -> Path | None:
    from olav_core.workspace import find_workspace, workspace_at

    if workspace is not None:
        return workspace_at(workspace).plugin_directory
    try:
        return find_workspace().plugin_directory
    except (OlavError, OSError):
        return None


def _tell(message: str) -> None:
    click.secho(f"Warning: {message}", fg="yellow", err=True)
