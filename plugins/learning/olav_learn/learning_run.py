"""One round of learning: what is due, under the lock, as a timer calls it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import asdict, field, frozen

from olav_core import ChatModel, Fault, Memory, clock, open_chat
from olav_learn.audit_trail import audited_calls
from olav_learn.captured_calls import captured_calls
from olav_learn.journal import journal, read_journal
from olav_learn.pattern_report import PatternReport
from olav_learn.patterns import learn_patterns
from olav_learn.reflection_report import ReflectionReport
from olav_learn.reflections import learn_reflections
from olav_learn.run_files import fresh_files, read_files
from olav_learn.single_flight import single_flight


@frozen(kw_only=True)
class LearningRun:
    """What one round did. `asleep`: groups that are due while no chat model is set. `expired`: rows that were
    deleted since their life was over. `faults`: lines of run records; `upkeep`: steps of it that failed."""

    patterns: PatternReport
    reflections: ReflectionReport
    asleep: int = 0
    expired: int = 0
    faults: tuple[Fault, ...] = field(factory=tuple)
    upkeep: tuple[str, ...] = ()

    @property
    def failed(self) -> int:
        """How many groups, calls, lines and steps failed."""
        return self.patterns.count("failed") + self.reflections.failed + len(self.faults) + len(self.upkeep)

    def to_dict(self) -> dict[str, Any]:
        """Return the stable JSON object of `olav learn run --json`."""
        reflections = self.reflections.to_dict()
        del reflections["prompts"]
        return {
            "failed": self.failed,
            "patterns": self.patterns.to_dict(prompts=False),
            "reflections": reflections,
            "asleep": self.asleep,
            "expired": self.expired,
            "faults": [asdict(fault) for fault in self.faults],
            "upkeep": list(self.upkeep),
        }


def run_learning(
    memory: Memory,
    chat: ChatModel | Any | None = None,
    *,
    on_progress: Callable[[int, int], None] | None = None,
) -> LearningRun:
    """Do what is due: patterns, reflections from the audit trail and from new files of `learning.runs`, what
    a later success resolves, what expired.

    `chat`: an `olav_core.Chat` or a LangChain chat model; default: the settings'. With none at all only what
    needs no model is done. Raises LearnerBusyError at once when another learner works here.
    """
    with single_flight(memory):
        if chat is not None or not memory.settings.chat.chosen:
            return _run(memory, chat, on_progress)
        with open_chat(memory.settings.chat) as model:
            return _run(memory, model, on_progress)


def _run(memory: Memory, chat: Any, on_progress: Callable[[int, int], None] | None) -> LearningRun:
    patterns = learn_patterns(memory, chat, retry=False, on_progress=on_progress)
    files = fresh_files(memory, read_journal(memory).reflections)
    calls, faults, stamps = read_files(memory, files)
    calls += [*audited_calls(memory), *captured_calls(memory)]
    told = sorted(calls, key=lambda call: call.time)
    reflections = learn_reflections(memory, told, chat, on_progress=on_progress)
    with journal(memory) as kept:
        kept.reflections.files |= stamps
        kept.last_run = clock.now().isoformat()
    upkeep = memory.optimize()
    return LearningRun(
        patterns=patterns,
        reflections=reflections,
        asleep=patterns.count("planned"),
        expired=upkeep.expired,
        faults=tuple(faults),
        upkeep=upkeep.failures,
    )
