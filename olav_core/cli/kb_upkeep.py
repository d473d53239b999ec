"""`olav kb optimize` and `reembed`: keep the store small, or move it to another embedder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from olav_core.cli.failure import FAILED
from olav_core.cli.options import embedder_options, json_option, workspace_option
from olav_core.cli.session import open_memory
from olav_core.cli.terminal import Terminal


@click.command()
@workspace_option
@json_option
def optimize(workspace: Path | None, as_json: bool) -> None:
    """Compact the store: merge small files, drop old versions and expired rows.

    Exit code 1 when a step failed; the others are done all the same.

    With --json: {"folded", "expired", "log_rows_deleted", "versions", "fragments", "failures"}.
    """
    from attrs import asdict

    terminal = Terminal(as_json=as_json)
    with open_memory(workspace) as memory:
        report = asdict(memory.optimize())
    failures = list(report.pop("failures"))
    if as_json:
        terminal.result(report | {"failures": failures})
    else:
        from olav_core.cli.view import facts_table

        words = {
            "folded": "access counts folded",
            "expired": "expired rows deleted",
            "log_rows_deleted": "old recall-log rows deleted",
            "versions": "versions left",
            "fragments": "fragments left",
        }
        terminal.print(facts_table({words.get(name, name): value for name, value in report.items()}))
    for failure in failures:
        terminal.note(failure, style="red")
    if failures:
        click.get_current_context().exit(FAILED)


@click.command()
@click.option("--to", "embedder", required=True, metavar="ID", help="The embedder to move to.")
@embedder_options
@click.option("--purge", is_flag=True, help="Delete the old vectors once the new ones are in place.")
@workspace_option
@json_option
def reembed(
    embedder: str, options: dict[str, Any], purge: bool, workspace: Path | None, as_json: bool
) -> None:
    """Move the store to another embedder: resumable, proven, switched in one step."""
    raise NotImplementedError
