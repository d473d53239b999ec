"""Rule `shadowed`: of two guides with near-equal triggers, one is never the better for its own keywords."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from olav_core.lint.finding import LintFinding
from olav_core.lint.guide import Guide, near_equal_triggers, pairs
from olav_core.records import GLOBAL_SCOPE

if TYPE_CHECKING:
    from olav_core.memory import Memory

#: Queries asked for a guide: its first keywords.
MAX_QUERIES: Final = 8


def find_shadows(memory: Memory, guides: list[Guide]) -> Iterator[LintFinding]:
    """Yield one finding per guide that another one always outranks; asks the store its own keywords."""
    asked: dict[tuple[str, tuple[str, ...]], dict[str, float]] = {}

    def scores(query: str, scopes: tuple[str, ...]) -> dict[str, float]:
        if (query, scopes) not in asked:
            found = memory.recall(query, scopes=scopes, tier="large", log=False)
            asked[query, scopes] = {trace.id: trace.score for trace in found.trace}
        return asked[query, scopes]

    for one, other in pairs(memory, guides):
        if not near_equal_triggers(one, other):
            continue
        scopes = tuple(sorted({one.scope, other.scope, GLOBAL_SCOPE}))
        for loser, winner in ((one, other), (other, one)):
            queries = _queries(loser)
            found = [scores(query, scopes) for query in queries]
            lost = [
                each.get(winner.record.id, -1.0) > each.get(loser.record.id, -1.0)
                or (winner.record.id in each and loser.record.id not in each)
                for each in found
            ]
            if lost and all(lost):
                yield LintFinding(
                    rule="shadowed",
                    severity="warning",
                    heuristic=True,
                    message=f"'{loser.name}' never comes before '{winner.name}' for any of {len(queries)} of "
                    f"its own triggers ({', '.join(queries[:3])}, …): a small model never reads it.",
                    mend=f"Merge it into '{winner.name}', or give it keywords that only it has.",
                    guides=(loser.ref, winner.ref),
                )
                break


def _queries(guide: Guide) -> list[str]:
    return list(guide.triggers.values())[:MAX_QUERIES]
