"""`olav kb prime`: bring what olav and plug-ins ship up to date."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from olav_core.cli.failure import FAILED
from olav_core.cli.options import json_option, workspace_option
from olav_core.cli.session import open_memory
from olav_core.cli.terminal import Terminal


@click.command()
@workspace_option
@json_option
def prime(workspace: Path | None, as_json: bool) -> None:
    """Bring the shipped guides and formats up to date.

    What a plug-in ships no longer is retired. A guide that you forgot stays out, and one of your own with
    the same agent, intent and scope stays. When the configured embedder is not the store's, a store with
    nothing but shipped rows is moved to it; any other is left as it is, with the mismatch error.

    With --json: {"directives": {id: object of `olav kb import-guides`}}.
    """
    from olav_core.cli.kb_import import import_view
    from olav_core.packages.shipped import prime_directives

    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory, terminal.progress("Priming") as on_progress:
        reports = prime_directives(memory, on_progress=on_progress)
        names = list(memory.registry.directives)
    found: dict[str, Any] = {name: report.to_dict() for name, report in zip(names, reports, strict=True)}
    if as_json:
        terminal.result({"directives": found})
    for name, report in zip(names, reports, strict=True):
        terminal.print(name, *import_view(report))
        for fault in report.faults:
            terminal.note(str(fault), style="red")
    if any(report.faults for report in reports):
        click.get_current_context().exit(FAILED)
