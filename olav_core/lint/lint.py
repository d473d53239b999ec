"""All lint rules over the guides of one store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core.errors import EmbedderError
from olav_core.lint.contradiction import find_contradictions
from olav_core.lint.finding import SEVERITIES, LintReport
from olav_core.lint.guide import load_guides
from olav_core.lint.keywords import MANY, find_shared_keywords, find_without_keywords
from olav_core.lint.shadow import find_shadows
from olav_core.lint.silence import MIN_RECALLS, RecallHistory, find_silent

if TYPE_CHECKING:
    from olav_core.memory import Memory


def lint_guides(memory: Memory, *, min_recalls: int = MIN_RECALLS, many: int = MANY) -> LintReport:
    """Return what is wrong with the guides and formats of a store; nothing is changed or logged.

    `min_recalls`: recalls before a silent guide is told of. `many`: guides that may not share a keyword.
    Raises EmbeddingSpaceMismatchError: shadows are found by asking the store.
    """
    guides = load_guides(memory)
    history = RecallHistory(memory)
    notes = []
    findings = [
        *find_contradictions(memory, guides),
        *find_without_keywords(guides),
        *find_shared_keywords(memory, guides, many),
        *find_silent(memory, guides, history, min_recalls),
    ]
    try:
        findings += find_shadows(memory, guides)
    except EmbedderError as error:
        notes.append(f"Shadowed guides were not looked for: {error}")
    if len(history) < min_recalls:
        notes.append(
            f"The log has {len(history)} recalls; guides that never fire are told of from {min_recalls} on."
        )
    order = {severity: number for number, severity in enumerate(SEVERITIES)}
    findings.sort(key=lambda each: (order[each.severity], each.rule, each.message))
    return LintReport(guides=len(guides), recalls=len(history), findings=tuple(findings), notes=tuple(notes))
