"""`olav doctor`: what is wrong with a workspace, and what to do about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from olav_core.cli.failure import FAILED
from olav_core.cli.options import json_option, workspace_option
from olav_core.cli.terminal import Terminal

if TYPE_CHECKING:
    from olav_core.doctor.examination import Examination

_STYLES = {"ok": "green", "warning": "yellow", "error": "bold red"}


@click.command()
@click.option("--repair", is_flag=True, help="First do what is safe: index, side tables, clean-up.")
@workspace_option
@json_option
def doctor(repair: bool, workspace: Path | None, as_json: bool) -> None:
    """Examine the workspace: settings, plug-ins, store, embedder, index, captured calls.

    Looking changes nothing. --repair never changes or deletes a memory that has not expired. Exit code 1 when
    there is an error; warnings alone give 0.

    With --json: {"workspace", "level": "ok|warning|error", "counts": {level: n}, "findings": [{"check",
    "level", "what", "mend"}], "repairs": [{"check", "what", "repaired"}]}.
    """
    from olav_core.doctor.examination import examine

    terminal = Terminal(as_json=as_json)
    with terminal.guarded():
        found = examine(workspace, repair=repair)
    terminal.result(found.to_json(), *([] if as_json else _view(found)))
    if found.level == "error":
        click.get_current_context().exit(FAILED)


def _view(found: Examination) -> list[Any]:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, style="cyan")
    table.add_column(overflow="fold")
    for finding in found.findings:
        text = Text(finding.what)
        if finding.mend:
            text.append(f"\n{finding.mend}", style="cyan")
        table.add_row(Text(finding.level, style=_STYLES[finding.level]), finding.check, text)
    out: list[Any] = [Text(f"repaired · {item.check}: {item.repaired}") for item in found.repairs]
    counts = found.to_json()["counts"]
    summary = f"{counts['error']} errors, {counts['warning']} warnings, {counts['ok']} ok"
    return [*out, table, Text(summary, style=_STYLES[found.level])]
