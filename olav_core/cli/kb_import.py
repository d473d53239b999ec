"""`olav kb import-guides` and `import-formats`: files of a directory become memories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from olav_core.cli.failure import FAILED
from olav_core.cli.options import json_option, workspace_option
from olav_core.cli.session import open_memory
from olav_core.cli.terminal import Terminal

if TYPE_CHECKING:
    from olav_core.importing.report import ImportReport
    from olav_core.memory import Memory

F = TypeVar("F", bound=Callable[..., Any])


def _import_options(function: F) -> F:
    for option in (
        json_option,
        workspace_option,
        click.option("--dry-run", "-n", is_flag=True, help="Tell what would happen; write nothing."),
        click.option("--strict", is_flag=True, help="Import nothing when any file has a fault."),
        click.argument("directory", type=click.Path(exists=True, path_type=Path), metavar="DIR"),
    ):
        function = option(function)
    return function


@click.command("import-guides")
@_import_options
def import_guides(
    directory: Path, strict: bool, dry_run: bool, workspace: Path | None, as_json: bool
) -> None:
    """Import the *.guide.yaml files below DIR.

    Unchanged guides cost nothing; guides whose file is gone from DIR are retired; exit code 1 when any file
    has a fault (the sound ones are imported, unless --strict).

    With --json: {"directory", "files", "marked", "added", "changed", "moved", "unchanged", "retired",
    "embedded", "applied", "items": [{"action", "id", "category", "scope", "path", "previous_id"}],
    "faults": [{"path", "line", "message"}]}.
    """
    _run(
        "Importing guides",
        directory,
        strict,
        dry_run,
        workspace,
        as_json,
        lambda memory: memory.import_guides,
    )


@click.command("import-formats")
@_import_options
def import_formats(
    directory: Path, strict: bool, dry_run: bool, workspace: Path | None, as_json: bool
) -> None:
    """Import the *.format.yaml files below DIR.

    Works as `olav kb import-guides`.

    With --json: the object of `olav kb import-guides`.
    """
    _run(
        "Importing formats",
        directory,
        strict,
        dry_run,
        workspace,
        as_json,
        lambda memory: memory.import_formats,
    )


def _run(
    title: str,
    directory: Path,
    strict: bool,
    dry_run: bool,
    workspace: Path | None,
    as_json: bool,
    method: Callable[[Memory], Callable[..., ImportReport]],
) -> None:
    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory, terminal.progress(title) as on_progress:
        report = method(memory)(directory, strict=strict, dry_run=dry_run, on_progress=on_progress)
    if as_json:
        terminal.result(report.to_dict())
    else:
        terminal.print(*import_view(report, dry_run=dry_run))
    for fault in report.faults:
        terminal.note(str(fault), style="red")
    if report.faults:
        click.get_current_context().exit(FAILED)


def import_view(report: ImportReport, *, dry_run: bool = False) -> list[Any]:
    """Return the outcome of an import in a line, and the memories it touched as a table."""
    from rich.table import Table
    from rich.text import Text

    styles = {"added": "green", "changed": "yellow", "moved": "yellow", "unchanged": "dim", "retired": "red"}
    counts = [
        (f"{getattr(report, name)} {name}", style) for name, style in styles.items() if getattr(report, name)
    ]
    line = Text.assemble((f"{report.files} files", "bold"))
    for text, style in [*counts, (f"{report.embedded} embedded", "dim")]:
        line.append(" · ").append(text, style=style)
    if report.faults:
        line.append(" · ").append(f"{len(report.faults)} faults", style="bold red")
    out: list[Any] = [line]
    touched = [item for item in report.items if item.action != "unchanged"]
    if touched:
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for item in touched:
            table.add_row(Text(item.action, style=styles[item.action]), item.scope, item.path)
        out.append(table)
    if dry_run:
        out.append(Text("Dry run: nothing was written.", style="yellow"))
    elif not report.applied:
        out.append(Text("Nothing was imported (--strict): correct the faults and run it again.", style="red"))
    return out
