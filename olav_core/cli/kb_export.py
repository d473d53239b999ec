"""`olav kb export`: every row of the store to a file, for a backup or another workspace."""

from __future__ import annotations

from pathlib import Path

import click

from olav_core.cli.options import json_option, workspace_option
from olav_core.cli.session import open_memory
from olav_core.cli.terminal import Terminal


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.jsonl")
@click.option("--category", "-c", metavar="ID", help="Only this category.")
@click.option("--scope", "-s", "scopes", multiple=True, help="Only this scope; repeatable.")
@click.option(
    "--vectors", is_flag=True, help="Add the vectors: an import with the same embedder embeds nothing."
)
@workspace_option
@json_option
def export(
    file: Path,
    category: str | None,
    scopes: tuple[str, ...],
    vectors: bool,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Write memories to a JSON lines file that `olav kb import` brings back as they were.

    Every category and scope, also those whose plug-in is missing; with ids, times and counts. The file is
    readable by you alone, and appears when it is complete.

    With --json: {"file", "rows", "vectors"}.
    """
    from olav_core.importing.export import export_memories

    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory, terminal.progress("Exporting") as on_progress:
        rows = export_memories(
            memory, file, category=category, scopes=scopes or None, vectors=vectors, on_progress=on_progress
        )
    if as_json:
        terminal.result({"file": str(file), "rows": rows, "vectors": vectors})
        return
    from rich.text import Text

    from olav_core.doctor.diagnosis import memories

    terminal.print(Text.assemble(("Exported ", "green"), f"{memories(rows)} to {file}"))
