"""The command `olav learn`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import olav_core
from olav_core import Chat, Fault, Terminal, json_option, workspace_option
from olav_learn.patterns import PatternItem, PatternReport, learn_patterns
from olav_learn.reflections import learn_reflections, resolve, supersede
from olav_learn.run_record import audited_calls, read_calls
from olav_learn.single_flight import single_flight

FAILED = 1


@click.group()
def learn() -> None:
    """Learn patterns from events, lessons from failures.

    Patterns need the chat model of the settings `chat`; see docs/howto-learning.md.
    """


@learn.command()
@click.option("--tool", metavar="NAME", help="Only events of this tool.")
@click.option("--scope", "-s", help="Only events of this scope.")
@click.option("--min-samples", type=click.IntRange(2), help="Operations that a pattern needs.")
@click.option("--window-days", type=click.FloatRange(0, min_open=True), help="How far back events count.")
@click.option(
    "--dry-run", "-n", is_flag=True, help="Ask the model, show prompt, cost and result; write nothing."
)
@click.option("--plan", is_flag=True, help="Show what would be asked; call no model, write nothing.")
@workspace_option
@json_option
def patterns(
    tool: str | None,
    scope: str | None,
    min_samples: int | None,
    window_days: float | None,
    dry_run: bool,
    plan: bool,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Turn the events of each tool and scope into conventions.

    One call of the chat model for each group with new events, and one more when its answer has to be mended.
    Exit code 1 when the model failed on a group; the others are written all the same.

    With --json: {"applied", "calls", "written", "updated", "unchanged", "failed", "groups": [{"tool",
    "scope", "events", "outcome", "id", "text", "confidence", "prompt", "estimated_tokens", "prompt_tokens",
    "reply_tokens", "calls", "faults"}]}.
    """
    terminal = Terminal(as_json=as_json)
    with terminal.guarded(), olav_core.open(workspace) as memory, single_flight(memory):
        chat = None if plan else Chat(memory.settings.chat)
        with terminal.progress("Learning patterns") as on_progress:
            report = learn_patterns(
                memory,
                chat,
                tool=tool,
                scope=scope,
                min_samples=min_samples,
                window_days=window_days,
                dry_run=dry_run,
                on_progress=on_progress,
            )
        if chat is not None:
            chat.close()
    terminal.result(pattern_object(report), *([] if as_json else _pattern_view(report, dry_run or plan)))
    if report.count("failed"):
        click.get_current_context().exit(FAILED)


@learn.command()
@click.argument(
    "files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="[FILE]…"
)
@click.option("--dry-run", "-n", is_flag=True, help="Show what would be learnt; write nothing.")
@workspace_option
@json_option
def reflections(files: tuple[Path, ...], dry_run: bool, workspace: Path | None, as_json: bool) -> None:
    """Turn failed calls into lessons.

    The calls are read from JSON-lines files, or without a FILE from the audit trail.

    Each line is an object as `olav capture import` reads it: tool (needed), args, result, status, run, call,
    time; and error. No model is asked. Exit code 1 when a line has a fault; the others are read all the same.

    With --json: {"applied", "resolved": [id], "reflections": [{"tool", "text", "outcome", "failures", "id"}],
    "faults": [{"path", "line", "message"}]}.
    """
    from attrs import asdict

    terminal = Terminal(as_json=as_json)
    with terminal.guarded(), olav_core.open(workspace) as memory, single_flight(memory):
        faults: list[Fault] = []
        calls = [] if files else audited_calls(memory)
        for file in files:
            read, wrong = read_calls(memory, file)
            calls += read
            faults += wrong
        report = learn_reflections(memory, sorted(calls, key=lambda call: call.time), dry_run=dry_run)
    value = {
        "applied": report.applied,
        "resolved": list(report.resolved),
        "reflections": [asdict(item) for item in report.items],
        "faults": [{"path": fault.path, "line": fault.line, "message": fault.message} for fault in faults],
    }
    lines = [f"{item.outcome}: {item.text}" for item in report.items if item.outcome != "quarantined"]
    lines += [
        f"quarantined: {item.tool} ({item.failures} failures)"
        for item in report.items
        if item.outcome == "quarantined"
    ]
    lines += [f"resolved: {id}" for id in report.resolved]
    terminal.result(value, *(lines or ["Nothing to learn."]))
    for fault in faults:
        terminal.note(str(fault), style="red")
    if faults:
        click.get_current_context().exit(FAILED)


@learn.command("resolve")
@click.argument("identifier", metavar="ID")
@workspace_option
@json_option
def resolve_command(identifier: str, workspace: Path | None, as_json: bool) -> None:
    """Close a reflection whose cause is gone.

    It is kept, and not injected any more.

    With --json: {"id"}.
    """
    terminal = Terminal(as_json=as_json)
    with terminal.guarded(), olav_core.open(workspace) as memory:
        done = resolve(memory, identifier)
    terminal.result({"id": done}, f"Resolved {done}")


@learn.command("supersede")
@click.argument("identifier", metavar="ID")
@click.argument("by", metavar="BY_ID")
@workspace_option
@json_option
def supersede_command(identifier: str, by: str, workspace: Path | None, as_json: bool) -> None:
    """Close the reflection ID in favour of the reflection BY_ID.

    With --json: {"id"}.
    """
    terminal = Terminal(as_json=as_json)
    with terminal.guarded(), olav_core.open(workspace) as memory:
        done = supersede(memory, identifier, by)
    terminal.result({"id": done}, f"Superseded {done}")


def pattern_object(report: PatternReport) -> dict[str, Any]:
    """Return the `--json` form of a report."""
    from attrs import asdict

    counts = {name: report.count(name) for name in ("written", "updated", "unchanged", "failed")}
    groups = [asdict(item) for item in report.items]
    return {"applied": report.applied, "calls": report.calls, **counts, "groups": groups}


def _pattern_view(report: PatternReport, show_prompts: bool) -> list[Any]:
    from rich.text import Text

    lines: list[Any] = []
    for item in report.items:
        head = f"{item.tool} · {item.scope} · {item.events} events · "
        style = {"failed": "red", "written": "green", "updated": "green"}.get(item.outcome, "dim")
        lines.append(Text.assemble(head, (item.outcome, style), _cost(item)))
        if show_prompts and item.prompt:
            lines.append(Text(_indented(item.prompt), "dim"))
        if item.text and item.outcome != "unchanged":
            lines.append(Text(_indented(f"{item.text}\n(confidence {item.confidence})")))
        lines += [Text(_indented(fault), "red") for fault in item.faults]
    if not report.items:
        lines.append(Text("No events to learn from. `olav capture status` tells what was captured.", "dim"))
    elif not report.applied:
        lines.append(Text("Nothing was written.", "yellow"))
    return lines


def _cost(item: PatternItem) -> str:
    if item.calls:
        return f" · {item.calls} call(s), {item.prompt_tokens} + {item.reply_tokens} tokens"
    return f" · about {item.estimated_tokens} tokens" if item.estimated_tokens else ""


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
