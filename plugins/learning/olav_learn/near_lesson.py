"""Which row tells of the same failure as a lesson: the same cause, or nearly so by words and distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from olav_core import Memory, MemoryRecord, query_terms
from olav_learn.lesson import Lesson
from olav_learn.run_call import cause_key

#: Share of the words of two causes of one tool from which on they are one, whatever their distance.
NEAR_CAUSE: Final = 0.6
#: Share that is enough when the texts are this near on the canonical scale, where a true hit lies at 0.36.
RELATED_CAUSE: Final = 0.2
NEAR_DISTANCE: Final = 0.36
#: Rows that a search looks at.
LOOKED_AT: Final = 5


def same_lesson(memory: Memory, rows: Sequence[MemoryRecord], lesson: Lesson) -> MemoryRecord | None:
    """Return the row of this tool with the same cause, else the nearest one.

    A superseded one is returned only when none that holds tells of the cause.
    """
    own = [row for row in rows if row.metadata["tool"] == lesson.tool]
    shares = {row.id: cause_share(str(row.metadata["cause"]), lesson.cause) for row in own}

    def merit(row: MemoryRecord) -> tuple[bool, bool, float]:
        return shares[row.id] >= NEAR_CAUSE, row.metadata["status"] != "superseded", shares[row.id]

    best = max(own, key=merit, default=None)
    if best is None or shares[best.id] >= NEAR_CAUSE:
        return best
    holding = [row for row in own if row.metadata["status"] != "superseded"]
    related = {row.id: row for row in holding if shares[row.id] >= RELATED_CAUSE}
    if not related:
        return None
    found = memory.search(lesson.text, scopes=["global"], category="reflection", limit=LOOKED_AT)
    near = [item for item in found.items if item.id in related and _is_near(item.canonical_distance)]
    return related[near[0].id] if near else None


def cause_share(first: str, second: str) -> float:
    """Return the share of words that two causes have in common, in [0, 1]; what varies does not count."""
    if cause_key(first) == cause_key(second):
        return 1.0
    ours, theirs = (set(query_terms(cause_key(text))) for text in (first, second))
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 0.0


def _is_near(distance: float | None) -> bool:
    return distance is not None and distance <= NEAR_DISTANCE
