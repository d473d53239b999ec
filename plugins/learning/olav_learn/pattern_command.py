"""The command `olav learn patterns`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from olav_core import FiniteFloat, Terminal, json_option, open_chat, workspace_option
from olav_learn.pattern_report import PatternItem, PatternReport
from olav_learn.patterns import learn_patterns
from olav_learn.session import FAILED, session


@click.command()
@click.option("--tool", metavar="NAME", help="Only events of this tool.")
@click.option("--scope", "-s", help="Only events of this scope.")
@click.option("--min-samples", type=click.IntRange(2), help="Operations that a pattern needs.")
@click.option("--window-days", type=FiniteFloat(0, 100_000, min_open=True), help="How far back events count.")
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
    With `learning.review` they wait in `olav drafts`. Exit code 1 when the model failed on a group; the
    others are written all the same.

    With --json: {"applied", "calls", "written", "updated", "unchanged", "waiting", "failed", "groups":
    [{"tool", "scope", "events", "outcome", "id", "text", "confidence", "prompt", "estimated_tokens",
    "prompt_tokens", "reply_tokens", "calls", "planted", "draft", "faults"}]}.
    """
    terminal = Terminal(as_json=as_json)
    with session(terminal, workspace) as memory, terminal.progress("Learning patterns") as on_progress:
        options: dict[str, Any] = {
            "tool": tool, "scope": scope, "min_samples": min_samples, "window_days": window_days,
            "dry_run": dry_run, "on_progress": on_progress,
        }  # fmt: skip
        if plan:
            report = learn_patterns(memory, None, **options)
        else:
            with open_chat(memory.settings.chat) as chat:
                report = learn_patterns(memory, chat, **options)
    view = [] if as_json else pattern_view(report, dry_run or plan)
    terminal.result(report.to_dict(), *view)
    if report.count("failed"):
        click.get_current_context().exit(FAILED)


def pattern_view(report: PatternReport, show_prompts: bool) -> list[Any]:
    """Return a report for a person."""
    from rich.text import Text

    lines: list[Any] = []
    for item in report.items:
        head = f"{item.tool} · {item.scope} · {item.events} events · "
        style = {"failed": "red", "written": "green", "updated": "green", "waiting": "yellow"}
        outcome = (item.outcome, style.get(item.outcome, "dim"))
        lines.append(Text.assemble(head, outcome, _cost(item)))
        if show_prompts and item.prompt:
            lines.append(Text(_indented(item.prompt), "dim"))
        if item.text and item.outcome != "unchanged":
            lines.append(Text(_indented(f"{item.text}\n(confidence {item.confidence})")))
        if item.planted:
            lines.append(Text(_indented(f"{item.planted} event(s) give orders and were left out"), "yellow"))
        if item.draft:
            lines.append(Text(_indented(f"olav drafts commit {item.draft}"), "yellow"))
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
