"""`olav kb rescan`: today's redactors over what was stored before them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from olav_core.cli.failure import FAILED
from olav_core.cli.options import json_option, workspace_option
from olav_core.cli.session import open_memory
from olav_core.cli.terminal import Terminal

if TYPE_CHECKING:
    from olav_core.redaction.report import RescanReport

#: Rows that a person is shown; --json has them all.
SHOWN = 20


@click.command()
@click.option("--dry-run", "-n", is_flag=True, help="Show what would be masked; write nothing.")
@workspace_option
@json_option
def rescan(dry_run: bool, workspace: Path | None, as_json: bool) -> None:
    """Mask secrets that were stored before today's redactors knew them.

    Reads every memory's text, search text, metadata and tags, the spool, the queries that were kept, and the
    drafts. What held a secret is embedded and written again; where the id follows from the text the memory
    gets a new one, and what names it follows. Old versions are purged and the word index is written anew, so
    that the secret leaves the disk. A draft that waits and held one must be shown again. Exports and backups
    are yours to mask. A run that was killed can be run again.

    Exit code 1 when something could not be masked; the rest is.

    With --json: {"rows", "changed", "masked", "moved", "merged", "kinds": {kind: count}, "links", "lines",
    "masked_lines", "queries", "masked_queries", "drafts", "masked_drafts", "applied", "items": [{"was",
    "id", "category", "action"}], "faults": [{"path", "line", "message"}]}.
    """
    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory, terminal.progress("Reading memories") as on_progress:
        report = memory.rescan(dry_run=dry_run, on_progress=on_progress)
    terminal.result(report.to_dict(), *([] if as_json else _view(report)))
    for fault in report.faults:
        terminal.note(str(fault), style="red")
    if report.faults:
        click.get_current_context().exit(FAILED)


def _view(report: RescanReport) -> list[Any]:
    from rich.text import Text

    from olav_core.doctor.diagnosis import counted, memories

    done = report.to_dict()
    verb = "Masked" if report.applied else "Would mask"
    lines = [
        Text(
            f"Read {memories(done['rows'])}, {counted(done['lines'], 'line')} of the spool, "
            f"{counted(done['queries'], 'query', 'queries')} and {counted(done['drafts'], 'draft')}."
        )
    ]
    masked = [done[name] for name in ("changed", "masked_lines", "masked_queries", "masked_drafts")]
    if not any(masked):
        return [*lines, Text("No secret was found.", style="green")]
    kinds = ", ".join(f"{kind} {count}" for kind, count in done["kinds"].items())
    lines.append(
        Text.assemble(
            (verb, "green" if report.applied else "yellow"),
            f" {memories(done['changed'])} ({done['moved']} with a new id, {done['merged']} merged), "
            f"{counted(masked[1], 'line')}, {counted(masked[2], 'query', 'queries')} and "
            f"{counted(masked[3], 'draft')}: {kinds}.",
        )
    )
    for item in report.items[:SHOWN]:
        arrow = "" if item.was == item.id else f" -> {item.id}"
        lines.append(Text(f"  {item.action:7} {item.was}{arrow}", style="dim"))
    if len(report.items) > SHOWN:
        lines.append(Text(f"  … and {len(report.items) - SHOWN} more; --json lists them all", style="dim"))
    return lines
