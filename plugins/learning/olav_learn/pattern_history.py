"""What the journal keeps of each group of events: when the model was asked, what came of it, what it cost."""

from __future__ import annotations

from olav_core import Memory, clock
from olav_learn.event_group import EventGroup
from olav_learn.journal import GroupHistory, journal, read_journal
from olav_learn.pattern_report import PatternItem
from olav_learn.review import waits


def history_of(memory: Memory, group: EventGroup) -> GroupHistory:
    """Return what is known of the group. A draft that left the folder unwritten was rejected, or expired."""
    history = read_journal(memory).group(group.tool, group.scope)
    if history.outcome == "waiting" and not waits(memory, history.draft):
        history.outcome = "rejected"
    return history


def record(memory: Memory, group: EventGroup, item: PatternItem, *, absent: bool = False) -> None:
    """Count one answer of the model, or (`absent`) that it could not be reached."""
    with journal(memory) as kept:
        history = kept.group(group.tool, group.scope)
        same = history.events == group.digest
        history.last_run = clock.now().isoformat()
        history.outcome = item.outcome
        history.runs += 1
        history.calls += item.calls
        history.prompt_tokens += item.prompt_tokens
        history.reply_tokens += item.reply_tokens
        history.fault = item.faults[0] if item.faults else ""
        history.events = group.digest
        history.draft = item.draft
        if item.outcome != "failed":
            history.failed_in_a_row = 0
            return
        history.failures += 1
        # A server that was away says nothing of the events: the next run tries them again.
        history.failed_in_a_row = (history.failed_in_a_row if same else 0) + (0 if absent else 1)
