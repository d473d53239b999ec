"""The row of a pattern: what it keeps of its events and of what it said before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import evolve

from olav_core import Draft, ErasedTextError, Memory, MemoryRecord
from olav_learn.pattern_report import PatternOutcome
from olav_learn.shared_terms import shared_terms

#: Ids that a row keeps of its events.
MAX_SOURCES: Final = 1_000
#: Earlier texts that a row keeps.
MAX_HISTORY: Final = 5


def pattern_draft(tool: str, scope: str, text: str) -> Draft:
    """Return the row of a group's pattern, without what it was drawn from."""
    metadata = {"topic": tool, "group": tool}
    return Draft(text=text, category="expert_knowledge", scope=scope, metadata=metadata, origin="agent")


def updated(
    draft: Draft, old: MemoryRecord | None, samples: Sequence[MemoryRecord], confidence: float
) -> Draft:
    """Return the draft with its sources, their number, and the texts that `old` had."""
    known = dict(old.metadata) if old is not None else {}
    before = known.get("sources", ())
    sources = list(dict.fromkeys([*before, *(event.id for event in samples)]))
    history = list(known.get("history", ()))
    if old is not None and old.text != draft.text:
        history.append(old.text)
    metadata = {
        **draft.metadata,
        "sources": sources[-MAX_SOURCES:],
        "samples": int(known.get("samples", 0)) + len(sources) - len(before),
        "history": history[-MAX_HISTORY:],
        "terms": shared_terms(samples),
    }
    newest = max(event.timestamp for event in samples)
    return evolve(draft, metadata=metadata, confidence=confidence, timestamp=newest)


def write(memory: Memory, draft: Draft) -> PatternOutcome:
    """Write the row; raises the store's and the embedder's errors."""
    (written,) = memory.remember_many([draft])
    if isinstance(written.error, ErasedTextError):
        return "forgotten"
    if written.error is not None:
        raise written.error
    return "written" if written.created else "updated"
