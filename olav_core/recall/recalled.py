"""Recalled memories: what was chosen, as its categories show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from olav_core.recall.recall import RecalledMemory

if TYPE_CHECKING:
    from olav_core.index.candidate import Candidate
    from olav_core.recall.run import Run
    from olav_core.specs import CategorySpec


def recalled(
    candidates: Sequence[Candidate], categories: Mapping[str, CategorySpec], run: Run
) -> tuple[RecalledMemory, ...]:
    """Return candidates, whose records are loaded, as recalled memories."""
    return tuple(
        RecalledMemory(
            id=candidate.id,
            category=candidate.category,
            scope=candidate.record.scope,
            text=_rendered(candidate, categories, run),
            score=candidate.score,
            distance=candidate.distance,
            canonical_distance=candidate.canonical_distance,
            record=candidate.record,
        )
        for candidate in candidates
    )


def _rendered(candidate: Candidate, categories: Mapping[str, CategorySpec], run: Run) -> str:
    """Return what the model reads; a category whose `render` fails is shown by its plain text."""
    record = candidate.record
    try:
        text = categories[candidate.category].render(record)
        if not isinstance(text, str):
            raise TypeError(f"render returned {type(text).__name__}, not a string")
    except Exception as error:
        run.failed(f"render {candidate.category}", error)
        return record.text
    return text
