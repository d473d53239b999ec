"""`olav capture`: tool calls that became, or are about to become, operational events."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from olav_core.cli.failure import FAILED
from olav_core.cli.main import LazyGroup
from olav_core.cli.options import json_option, workspace_option
from olav_core.cli.session import open_memory
from olav_core.cli.terminal import Terminal

if TYPE_CHECKING:
    from olav_core.capture.drain_report import DrainReport


COMMANDS = {
    "import": "olav_core.cli.capture:import_calls",
    "status": "olav_core.cli.capture:status",
    "drain": "olav_core.cli.capture:drain",
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
def capture() -> None:
    """Captured tool calls: what waits, what failed; import calls of any framework."""


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE")
@click.option("--agent", "-a", default=None, help="The agent of lines that name none; default: core.")
@click.option("--dry-run", "-n", is_flag=True, help="Tell what would be captured; write nothing.")
@workspace_option
@json_option
def import_calls(file: Path, agent: str | None, dry_run: bool, workspace: Path | None, as_json: bool) -> None:
    """Capture the tool calls of a JSON-lines file.

    Each line is an object: tool (needed), args, result, status, agent, scope, run, call (the call's own id),
    time (ISO 8601), capture (true or false, before every rule). Calls that change nothing or failed are
    passed over; importing a file twice counts nothing twice. Exit code 1 when a line has a fault or an event
    could not be stored; the others are captured all the same.

    With --json: {"lines", "captured", "skipped", "stored", "repeated", "known", "erased", "failed", "error",
    "applied", "calls": [{"line", "tool", "captured", "verb", "reason"}], "faults": [{"path", "line",
    "message"}]}.
    """
    from olav_core.capture.imports import import_file

    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory, terminal.progress("Capturing calls") as on_progress:
        report = import_file(memory, file, agent=agent, dry_run=dry_run, on_progress=on_progress)
    out = report.to_dict()
    terminal.result(out, *([] if as_json else _import_view(out)))
    for fault in report.faults:
        terminal.note(str(fault), style="red")
    if report.drained.error:
        terminal.note(f"The events wait: {report.drained.error}", style="red")
    if report.faults or report.drained.error or report.drained.failed:
        click.get_current_context().exit(FAILED)


@click.command()
@workspace_option
@json_option
def status(workspace: Path | None, as_json: bool) -> None:
    """Show what waits in the spool, what failed, and why.

    With --json: {"enabled", "spool", "waiting", "segments", "bytes", "max_bytes", "oldest_seconds",
    "last_error", "failed", "failures": [{"time", "tool", "error"}], "stored", "matchers": [id]}.
    """
    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory:
        out = memory.captures.status()
    terminal.result(out, *([] if as_json else _status_view(out)))


@click.command()
@click.option("--retry-failed", is_flag=True, help="Try the failed events again too.")
@workspace_option
@json_option
def drain(retry_failed: bool, workspace: Path | None, as_json: bool) -> None:
    """Store now what waits in the spool.

    It happens by itself while an agent runs, and when one ends. Exit code 1 when events have to wait on.

    With --json: {"stored", "repeated", "known", "erased", "failed", "error"}.
    """
    from attrs import asdict

    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory:
        report = memory.captures.drain(retry_failed=retry_failed)
    terminal.result(asdict(report), *([] if as_json else [_drain_line(report)]))
    if report.error:
        terminal.note(f"The events wait: {report.error}", style="red")
    if report.error or report.failed:
        click.get_current_context().exit(FAILED)


def _drain_line(report: DrainReport) -> Any:
    from rich.text import Text

    parts = [
        f"{report.stored} stored",
        f"{report.repeated} seen again",
        *([f"{report.known} counted before"] if report.known else []),
        *([f"{report.erased} erased before"] if report.erased else []),
        *([f"{report.failed} failed"] if report.failed else []),
    ]
    return Text(" · ".join(parts))


def _import_view(out: dict[str, Any]) -> list[Any]:
    from rich.table import Table
    from rich.text import Text

    from olav_core.doctor.diagnosis import counted

    head = f"{counted(out['lines'], 'line')} · {out['captured']} captured · {out['skipped']} passed over"
    if out["faults"]:
        head += f" · {counted(len(out['faults']), 'fault')}"
    if out["applied"]:
        head += f" · {out['stored']} stored, {out['repeated']} seen again, {out['known']} counted before"
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for _ in range(4):
        table.add_column(overflow="fold")
    for call in out["calls"][:50]:
        style = "green" if call["captured"] else "dim"
        table.add_row(
            str(call["line"]),
            Text("captured" if call["captured"] else "passed over", style),
            Text(call["tool"]),
            Text(call["reason"], "dim"),
        )
    lines: list[Any] = [Text(head), *([table] if out["calls"] else [])]
    if len(out["calls"]) > 50:
        lines.append(Text(f"… {len(out['calls']) - 50} more; --json has all.", style="dim"))
    if not out["applied"]:
        lines.append(Text("Dry run: nothing was written.", style="yellow"))
    return lines


def _status_view(out: dict[str, Any]) -> list[Any]:
    from rich.text import Text

    from olav_core.cli.view import facts_table

    waiting = f"{out['waiting']}" + (
        f" ({out['bytes']:,} bytes, the oldest for {out['oldest_seconds']:.0f} s)" if out["waiting"] else ""
    )
    lines: list[Any] = [
        facts_table(
            {
                "capture": "on" if out["enabled"] else "off",
                "events stored": out["stored"],
                "waiting": waiting,
                "failed": out["failed"],
                "matchers": ", ".join(out["matchers"]),
            }
        )
    ]
    if out["last_error"]:
        lines.append(Text(f"The last drain stopped: {out['last_error']}", style="red"))
    lines += [Text(f"{f['time']}  {f['tool']}  {f['error']}", style="red") for f in out["failures"]]
    if out["failed"]:
        lines.append(Text("`olav capture drain --retry-failed` tries them again.", style="dim"))
    return lines
