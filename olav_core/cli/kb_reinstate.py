"""`olav kb reinstate`: undo that one memory superseded another."""

from __future__ import annotations

from pathlib import Path

import click

from olav_core.cli.options import json_option, workspace_option
from olav_core.cli.session import open_memory
from olav_core.cli.terminal import Terminal


@click.command()
@click.argument("identifier", metavar="ID")
@click.option("--beside", is_flag=True, help="Both hold from now on; they do not contradict.")
@workspace_option
@json_option
def reinstate(identifier: str, beside: bool, workspace: Path | None, as_json: bool) -> None:
    """Put a superseded memory in force again.

    The one that superseded it goes out of force, unless --beside. Both are kept.

    With --json: {"id", "changed": [id]}.
    """
    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory:
        id = memory.get(identifier).id
        changed = memory.reinstate(id, beside=beside)
    others = [other for other in changed if other != id]
    if as_json:
        terminal.result({"id": id, "changed": changed})
        return
    from rich.text import Text

    tail = f"; {', '.join(others)} {'stays beside it' if beside else 'is out of force'}" if others else ""
    terminal.print(Text.assemble(("In force again: ", "green"), (id, "cyan"), tail))
