"""`olav agent`: skill folders, installed with their guides and formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from olav_core.cli.main import LazyGroup
from olav_core.cli.options import json_option, workspace_option
from olav_core.cli.session import open_memory
from olav_core.cli.terminal import Terminal

if TYPE_CHECKING:
    from olav_core.packages.agents import InstalledAgent


COMMANDS = {
    "install": "olav_core.cli.agent:install",
    "list": "olav_core.cli.agent:list_agents",
    "remove": "olav_core.cli.agent:remove",
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
def agent() -> None:
    """Install, list and remove agents: skill folders with guides."""


@click.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="DIR|ZIP")
@click.option("--any-scope", is_flag=True, help="Also files whose key `scope` names others than the agent.")
@workspace_option
@json_option
def install(source: Path, any_scope: bool, workspace: Path | None, as_json: bool) -> None:
    """Install the skill folder DIR, or a zip of one; a later version takes the place of an earlier one.

    A skill folder has a SKILL.md or AGENT.md whose front matter names the agent, and if wanted guides/,
    formats/ and references/. It is copied to .olav/agents/NAME; its guides and formats become memories in
    the agent's scope at once, those that this version lacks are retired. All of it or nothing, also when
    the process is killed.

    With --json: {"name", "version", "folder", "static_context": [path], "references": [path], "import":
    object of `olav kb import-guides`}.
    """
    from olav_core.cli.kb_import import import_view
    from olav_core.packages.agents import install_agent

    terminal = Terminal(as_json=as_json)
    with (
        open_memory(workspace, terminal) as memory,
        terminal.progress(f"Installing {source.name}") as on_progress,
    ):
        skill, report = install_agent(memory, source, any_scope=any_scope, on_progress=on_progress)
    if as_json:
        terminal.result(
            {
                "name": skill.name,
                "version": skill.version,
                "folder": str(skill.folder),
                "static_context": [each.path for each in skill.static],
                "references": [each.path for each in skill.references()],
                "import": report.to_dict(),
            }
        )
    else:
        terminal.print(f"Installed {skill.name} {skill.version}".rstrip(), *import_view(report))


@click.command("list")
@workspace_option
@json_option
def list_agents(workspace: Path | None, as_json: bool) -> None:
    """List the installed agents.

    With --json: {"agents": [{"name", "folder", "description", "version", "bundle", "source",
    "installed_at", "fault"}]}; "bundle" names the bundle that brought it.
    """
    from olav_core.packages.agents import list_agents as installed

    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory:
        found = installed(memory.workspace)
    if as_json:
        terminal.result({"agents": [each.to_dict() for each in found]})
    elif found:
        terminal.print(_table(found))
    else:
        terminal.print("No agent is installed. `olav agent install DIR` installs one.")
    for each in found:
        if each.fault:
            terminal.note(each.fault, style="red")


@click.command()
@click.argument("name")
@workspace_option
@json_option
def remove(name: str, workspace: Path | None, as_json: bool) -> None:
    """Remove the agent NAME and exactly the memories that it brought.

    What you or the agent itself remembered in its scope stays.

    With --json: {"name", "removed", "left"}: memories removed, and memories that stay in its scope.
    """
    from olav_core.doctor.diagnosis import memories
    from olav_core.packages.agents import remove_agent

    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory:
        removed = remove_agent(memory, name)
        left = len(memory.list(scopes=[name]))
    facts: dict[str, Any] = {"name": name, "removed": removed, "left": left}
    stay = f"; {left} of its scope stay: `olav kb list --scope {name}`" if left else ""
    terminal.result(facts, f"Removed {name} and {memories(removed)} that it brought{stay}.")


def _table(found: list[InstalledAgent]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0))
    for header in ("agent", "version", "from", "description"):
        table.add_column(header, overflow="fold", no_wrap=header != "description")
    for each in found:
        origin = f"bundle {each.bundle}" if each.bundle else each.source
        table.add_row(*(Text(cell) for cell in (each.name, each.version, origin, each.description)))
    return table
