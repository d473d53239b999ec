"""The commands `olav learn run`, for a timer, and `olav learn status`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from olav_core import Terminal, json_option, workspace_option
from olav_learn import single_flight as flight
from olav_learn.learning_run import LearningRun, run_learning
from olav_learn.pattern_command import pattern_view
from olav_learn.reflection_command import reflection_view
from olav_learn.session import FAILED, LearnerBusyError, session
from olav_learn.status import GroupStatus, LearningStatus, learning_status


@click.command()
@workspace_option
@json_option
def run(workspace: Path | None, as_json: bool) -> None:
    """Do what is due; for cron or a systemd timer.

    Patterns of groups with new events, reflections from the audit trail and from new files of
    `learning.runs`; what a later success resolves is closed, what expired is deleted. Without a chat model
    only what needs none is done. Exit code 0: done, also when nothing was due; 1: something failed, the rest
    is done and the next run tries again; 75: another learner works here, nothing was done.

    With --json: {"failed", "patterns": as `learn patterns` without prompts, "reflections": as `learn
    reflections` without prompts, "asleep", "expired", "faults": [{"path", "line", "message"}], "upkeep"}.
    """
    terminal = Terminal(as_json=as_json)
    with (
        session(terminal, workspace, alone=False) as memory,
        terminal.progress("Learning") as on_progress,
    ):
        try:
            done = run_learning(memory, on_progress=on_progress)
        except flight.LearnerBusyError as error:
            raise LearnerBusyError(str(error)) from error
    terminal.result(done.to_dict(), *([] if as_json else _run_view(done)))
    if done.asleep:
        terminal.note(
            f"{done.asleep} group(s) are due, and no chat model is set. See docs/howto-learning.md."
        )
    notes = (*map(str, done.faults), *done.reflections.faults, *done.upkeep)
    for note in notes:
        terminal.note(note, style="red")
    if done.failed:
        click.get_current_context().exit(FAILED)


@click.command()
@workspace_option
@json_option
def status(workspace: Path | None, as_json: bool) -> None:
    """Show what is due, what was learnt and what failed.

    With --json: {"chat", "review", "min_samples", "window_days", "last_run", "due", "groups": [{"tool",
    "scope", "state", "samples", "new", "planted", "pattern", "confidence", "last_run", "last_outcome",
    "runs", "failures", "failed_in_a_row", "fault", "calls", "prompt_tokens", "reply_tokens"}],
    "reflections": {"active", "superseded", "resolved", "expired", "new_failures", "new_files", "last_run",
    "failures", "quarantined", "fault", "calls", "prompt_tokens", "reply_tokens"}}. `state` is one of due,
    few, unchanged, waiting, rejected, forgotten, "given up".
    """
    terminal = Terminal(as_json=as_json)
    with session(terminal, workspace, alone=False) as memory:
        found = learning_status(memory)
    terminal.result(found.to_dict(), *([] if as_json else _status_view(found)))


def _run_view(done: LearningRun) -> list[Any]:
    groups = [item for item in done.patterns.items if item.outcome not in ("few", "unchanged")]
    lines: list[Any] = [
        f"{len(done.patterns.items)} group{'' if len(done.patterns.items) == 1 else 's'} of events, "
        f"{len(groups)} with something new"
    ]
    if groups:
        from attrs import evolve

        lines += pattern_view(evolve(done.patterns, items=tuple(groups)), False)
    changed = [item for item in done.reflections.items if item.outcome != "unchanged"]
    if changed or done.reflections.resolved or done.reflections.calls:
        from attrs import evolve

        lines += reflection_view(evolve(done.reflections, items=tuple(changed)), show_prompts=False)
    else:
        lines.append("No new lessons")
    return [*lines, *([f"{done.expired} expired memories deleted"] if done.expired else [])]


def _status_view(found: LearningStatus) -> list[Any]:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("tool", "scope", "state", "samples", "new", "last run", "outcome", "failures"):
        table.add_column(name, overflow="fold")
    for group in found.groups:
        style = "green" if group.state == "due" else "red" if group.state == "given up" else "dim"
        table.add_row(group.tool, group.scope, Text(group.state, style), *_figures(group))
    told = found.reflections
    lessons = ", ".join(f"{told[name]} {name}" for name in ("active", "superseded", "resolved", "expired"))
    return [
        f"{found.due} due · chat model: {found.chat or 'none is set'} · last run: {_day(found.last_run)}",
        *([table] if found.groups else ["No events to learn from."]),
        f"reflections: {lessons} · {told['new_failures']} new failures, {told['new_files']} new files · "
        f"{told['failures']} failed answers, {told['quarantined']} quarantined",
        *[
            Text(f"{group.tool} · {group.scope}: {group.fault}", "red")
            for group in found.groups
            if group.fault
        ],
    ]


def _figures(group: GroupStatus) -> tuple[str, ...]:
    failures = f"{group.failures} ({group.failed_in_a_row} in a row)" if group.failures else "0"
    return str(group.samples), str(group.new), _day(group.last_run), group.last_outcome or "–", failures


def _day(time: str) -> str:
    return f"{time[:16].replace('T', ' ')}Z" if time else "never"
