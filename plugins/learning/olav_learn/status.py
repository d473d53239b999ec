"""What is due, group by group, and what learning did so far."""

from __future__ import annotations

from typing import Any

from attrs import asdict, field, frozen

from olav_core import Memory, clock
from olav_learn.audit_trail import audited_calls
from olav_learn.event_group import EventGroup, event_groups
from olav_learn.journal import Journal, read_journal
from olav_learn.pattern_history import history_of
from olav_learn.run_files import fresh_files


@frozen(kw_only=True)
class GroupStatus:
    """One tool and scope. `state`: `due` when the next run asks about it, else why not. `samples`: operations
    in the window, `new`: those that no pattern knows yet, `planted`: those that give orders, left out."""

    tool: str
    scope: str
    state: str
    samples: int
    new: int
    planted: int = 0
    pattern: str = ""
    confidence: float = 0.0
    last_run: str = ""
    last_outcome: str = ""
    runs: int = 0
    failures: int = 0
    failed_in_a_row: int = 0
    fault: str = ""
    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0


@frozen(kw_only=True)
class LearningStatus:
    """`chat`: the model that learns, empty when none is set. `reflections`: rows by status, failures in the
    audit trail since the last `olav learn run`, and the counts of the journal."""

    chat: str
    review: bool
    min_samples: int
    window_days: float
    last_run: str
    groups: tuple[GroupStatus, ...] = field(factory=tuple)
    reflections: dict[str, Any] = field(factory=dict)

    @property
    def due(self) -> int:
        return sum(group.state == "due" for group in self.groups)

    def to_dict(self) -> dict[str, Any]:
        """Return the stable JSON object of `olav learn status --json`."""
        return {**asdict(self), "due": self.due}


def learning_status(memory: Memory) -> LearningStatus:
    """Return what `olav learn run` would do now. No model is asked; captured calls are stored first."""
    settings = memory.settings
    kept = read_journal(memory)
    return LearningStatus(
        chat=settings.chat.model or settings.chat.factory or "",
        review=settings.learning.review,
        min_samples=settings.learning.min_samples,
        window_days=settings.learning.window_days,
        last_run=kept.last_run,
        groups=tuple(_group(memory, group) for group in event_groups(memory)),
        reflections=_reflections(memory, kept),
    )


def _group(memory: Memory, group: EventGroup) -> GroupStatus:
    history = history_of(memory, group)
    few = len(group.events) < memory.settings.learning.min_samples
    return GroupStatus(
        tool=group.tool,
        scope=group.scope,
        state=group.state(memory.settings.learning.min_samples, history),
        samples=len(group.events),
        new=len(group.events) if few else group.new,
        planted=0 if few else len(group.planted),
        pattern=group.row.id if group.row is not None else "",
        confidence=group.row.confidence if group.row is not None else 0.0,
        last_run=history.last_run,
        last_outcome=history.outcome,
        runs=history.runs,
        failures=history.failures,
        failed_in_a_row=history.failed_in_a_row,
        fault=history.fault,
        calls=history.calls,
        prompt_tokens=history.prompt_tokens,
        reply_tokens=history.reply_tokens,
    )


def _reflections(memory: Memory, kept: Journal) -> dict[str, Any]:
    now = clock.now()
    rows = memory.list(category="reflection")
    expired = [row for row in rows if row.expires_at is not None and row.expires_at <= now]
    living = [row for row in rows if row not in expired]
    states = [str(row.metadata.get("status", "active")) for row in living]
    history = kept.reflections
    unseen = [call for call in audited_calls(memory) if call.failed and call.time.isoformat() > kept.last_run]
    return {
        **{state: states.count(state) for state in ("active", "superseded", "resolved")},
        "expired": len(expired),
        "new_failures": len(unseen),
        "new_files": len(fresh_files(memory, history)),
        "last_run": history.last_run,
        "failures": history.failures,
        "quarantined": history.quarantined,
        "fault": history.fault,
        "calls": history.calls,
        "prompt_tokens": history.prompt_tokens,
        "reply_tokens": history.reply_tokens,
    }
