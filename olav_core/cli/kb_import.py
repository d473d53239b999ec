"""`olav kb import`, `import-guides` and `import-formats`: files become memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from olav_core.cli.failure import FAILED
from olav_core.cli.options import json_option, workspace_option
from olav_core.cli.session import open_memory
from olav_core.cli.terminal import Terminal

if TYPE_CHECKING:
    from rich.text import Text

    from olav_core.importing.report import ImportReport
    from olav_core.memory import Memory

F = TypeVar("F", bound=Callable[..., Any])
#: What can happen to a memory, in the order of telling.
_STYLES = {
    "added": "green",
    "changed": "yellow",
    "moved": "yellow",
    "unchanged": "dim",
    "retired": "red",
    "kept": "dim",
    "erased": "dim",
}


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


@click.command("import")
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="PATH..."
)
@click.option("--scope", "-s", help="global, an agent's name, or team:ID, for files that name none.")
@click.option("--agent", "-a", metavar="NAME", help="Only this agent sees them: the same as --scope NAME.")
@click.option("--strict", is_flag=True, help="Import nothing of a PATH when any of its files has a fault.")
@click.option("--dry-run", "-n", is_flag=True, help="Tell what would happen; write nothing.")
@workspace_option
@json_option
def import_files(
    paths: tuple[Path, ...],
    scope: str | None,
    agent: str | None,
    strict: bool,
    dry_run: bool,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Import documents, diagrams, guides and exports: every kind of file that an importer reads.

    A PATH is a file or a folder. Documents (md, txt, rst, html, pdf, docx) come in passages, diagrams
    (mmd, dot, svg) node by node. Importing again embeds only what changed, and retires what is gone. Without
    --scope a file keeps the scope that it had. A .jsonl file must be named itself: an export, or one
    memory a line. Exit code 1 when any file has a fault (the sound ones are imported).

    With --json: {"added", "changed", "moved", "unchanged", "retired", "kept", "erased", "embedded",
    "applied", "imports": [object of `olav kb import-guides`, one per PATH], "faults": [{"path", "line",
    "message", "blocks"}]}; "blocks" false: the rest of the file was imported.
    """
    from olav_core.importing.directory import import_directory
    from olav_core.importing.restore import import_jsonl

    if scope is not None and agent is not None and scope != agent:
        raise click.UsageError("--agent NAME is --scope NAME: give one of them.")
    terminal = Terminal(as_json=as_json)
    options: dict[str, Any] = {"scope": scope or agent, "strict": strict, "dry_run": dry_run}
    reports = []
    with open_memory(workspace, terminal) as memory:
        for path in paths:
            with terminal.progress(f"Importing {path.name or path}") as on_progress:
                if path.is_file() and path.suffix.lower() == ".jsonl":
                    reports.append(import_jsonl(memory, path, on_progress=on_progress, **options))
                else:
                    root = memory.workspace.root
                    reports.append(
                        import_directory(
                            memory,
                            path,
                            workspace=root,
                            on_read=on_progress,
                            on_progress=on_progress,
                            **options,
                        )
                    )
    if as_json:
        terminal.result(_together(reports))
    else:
        for report in reports:
            terminal.print(*files_view(report, dry_run=dry_run))
    faults = [fault for report in reports for fault in report.faults]
    for fault in faults:
        terminal.note(str(fault), style="red" if fault.blocks else "yellow")
    if faults:
        click.get_current_context().exit(FAILED)


def _together(reports: list[ImportReport]) -> dict[str, Any]:
    imports = [report.to_dict() for report in reports]
    counts = ("added", "changed", "moved", "unchanged", "retired", "kept", "erased", "embedded")
    return {
        **{name: sum(found[name] for found in imports) for name in counts},
        "applied": all(found["applied"] for found in imports),
        "imports": imports,
        "faults": [fault for found in imports for fault in found["faults"]],
    }


@click.command("import-guides")
@_import_options
def import_guides(
    directory: Path, strict: bool, dry_run: bool, workspace: Path | None, as_json: bool
) -> None:
    """Import the *.guide.yaml files below DIR.

    Unchanged guides cost nothing; guides whose file is gone from DIR are retired; exit code 1 when any file
    has a fault (the sound ones are imported, unless --strict).

    With --json: {"directory", "files", "marked", "added", "changed", "moved", "unchanged", "retired",
    "kept", "erased", "embedded", "applied", "items": [{"action", "id", "category", "scope", "path",
    "previous_id"}], "faults": [{"path", "line", "message", "blocks"}], "conflicts": [{"id", "text", "topic",
    "ours", "theirs", "outcome"}]}; a conflict is a memory that says otherwise than one that came in.
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

    out: list[Any] = [_head(report)]
    touched = [item for item in report.items if item.action != "unchanged"]
    if touched:
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for item in touched:
            table.add_row(Text(item.action, style=_STYLES[item.action]), item.scope, item.path)
        out.append(table)
    return [*out, *_foot(report, dry_run)]


def files_view(report: ImportReport, *, dry_run: bool = False) -> list[Any]:
    """Return the outcome of an import in a line, and each file that brought something new in another."""
    from rich.table import Table
    from rich.text import Text

    files: dict[tuple[str, str], Counter[str]] = {}
    for item in report.items:
        files.setdefault((item.path, item.scope), Counter())[item.action] += 1
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for (path, scope), counts in sorted(files.items()):
        said = [
            Text(f"{counts[name]} {name}", style=style) for name, style in _STYLES.items() if counts[name]
        ]
        if counts.keys() != {"unchanged"}:
            table.add_row(Text(" · ").join(said), scope, path)
    out = [_head(report), *([table] if table.row_count else [])]
    return [*out, *_foot(report, dry_run)]


def _head(report: ImportReport) -> Text:
    from rich.text import Text

    from olav_core.doctor.diagnosis import counted

    line = Text.assemble((counted(report.files, "file"), "bold"))
    if report.marked:
        line.append(" · ").append(f"{report.marked} marked as removed", style="dim")
    for name, style in {**_STYLES, "embedded": "dim"}.items():
        if getattr(report, name) or name == "embedded":
            line.append(" · ").append(f"{getattr(report, name)} {name}", style=style)
    if report.faults:
        line.append(" · ").append(counted(len(report.faults), "fault"), style="bold red")
    return line


def _foot(report: ImportReport, dry_run: bool) -> list[Any]:
    from rich.text import Text

    from olav_core.cli.view import conflict_lines

    out = conflict_lines(report.conflicts)
    if dry_run:
        out.append(Text("Dry run: nothing was written.", style="yellow"))
    elif not report.applied:
        text = "Nothing was imported (--strict): correct the faults and run it again."
        out.append(Text(text, style="red"))
    return out
