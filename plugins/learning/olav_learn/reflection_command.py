"""The command `olav learn reflections`."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from olav_core import Fault, Terminal, json_option, open_chat, workspace_option
from olav_learn.audit_trail import audited_calls
from olav_learn.captured_calls import captured_calls
from olav_learn.reflection_report import ReflectionReport
from olav_learn.reflections import learn_reflections
from olav_learn.run_record import read_calls
from olav_learn.session import FAILED, session


@click.command()
@click.argument(
    "files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="[FILE]…"
)
@click.option("--dry-run", "-n", is_flag=True, help="Show what would be learnt; write nothing.")
@click.option("--plan", is_flag=True, help="Show what a model would be asked; call none, write nothing.")
@click.option("--no-model", is_flag=True, help="Learn only what the calls show themselves.")
@workspace_option
@json_option
def reflections(
    files: tuple[Path, ...],
    dry_run: bool,
    plan: bool,
    no_model: bool,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Turn failed calls into lessons.

    The calls are read from files, or without a FILE from the audit trail and the captured events. A file is
    JSON or JSON lines: calls as `olav capture import` reads them (and error), messages of LangChain or of a
    LangGraph state, runs of a LangChain tracer, or events of astream_events. What calls show themselves needs
    no model; where one is set it is asked about the other failures, many in one call and each once. Exit code
    1 when a line has a fault or an answer could not be used; the others count all the same.

    With --json: {"applied", "resolved": [id], "asked", "calls", "failed", "prompt_tokens", "reply_tokens",
    "estimated_tokens", "prompts", "written", "refreshed", "superseding", "waiting", "quarantined",
    "unsettled", "reflections": [{"tool", "text", "outcome", "failures", "id", "source"}], "faults": [{"path",
    "line", "message"}]}; a fault of an answer has the path "chat".
    """
    terminal = Terminal(as_json=as_json)
    with session(terminal, workspace) as memory, terminal.progress("Asking about failures") as on_progress:
        faults: list[Fault] = []
        calls = [] if files else [*audited_calls(memory), *captured_calls(memory)]
        for file in files:
            read, wrong = read_calls(memory, file)
            calls += read
            faults += wrong
        asks = memory.settings.chat.chosen and not (plan or no_model)
        with open_chat(memory.settings.chat) if asks else nullcontext() as chat:
            ordered = sorted(calls, key=lambda call: call.time)
            report = learn_reflections(
                memory, ordered, chat, dry_run=dry_run or plan, on_progress=on_progress
            )
    faults += [Fault("chat", 0, fault) for fault in report.faults]
    value = report.to_dict()
    value["faults"] = [{"path": f.path, "line": f.line, "message": f.message} for f in faults]
    terminal.result(value, *([] if as_json else reflection_view(report, show_prompts=dry_run or plan)))
    for fault in faults:
        terminal.note(str(fault), style="red")
    if report.failed or len(faults) > len(report.faults):
        click.get_current_context().exit(FAILED)


def reflection_view(report: ReflectionReport, *, show_prompts: bool) -> list[Any]:
    """Return a report for a person."""
    lines = list(report.prompts) if show_prompts else []
    for item in report.items:
        would = "would be " if not report.applied and item.outcome in ("written", "refreshed") else ""
        lines.append(f"{would}{item.outcome}: {item.text or f'{item.tool} ({item.failures} failures)'}")
    lines += [f"resolved: {id}" for id in report.resolved]
    if report.calls:
        cost = f"{report.prompt_tokens} + {report.reply_tokens} tokens"
        lines.append(f"{report.asked} failures in {report.calls} call(s), {cost}")
    if lines and not report.applied:
        lines.append("Nothing was written.")
    return lines or ["Nothing to learn."]
