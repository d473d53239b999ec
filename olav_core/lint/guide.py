"""The guides of a store as lint sees them: their triggers, and who sees two of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final

from attrs import frozen

from olav_core import clock
from olav_core.lint.finding import GuideRef
from olav_core.records import GLOBAL_SCOPE, MemoryRecord
from olav_core.text.analyzer import units

if TYPE_CHECKING:
    from olav_core.memory import Memory

Phrase = tuple[str, ...]
#: Share of the shorter keyword list that two guides have in common when their triggers count as equal.
NEAR: Final = 0.6


@frozen(kw_only=True)
class Guide:
    """One guide. `triggers`: keyword phrases, normalised as recall looks them up -> as they were written."""

    record: MemoryRecord
    triggers: dict[Phrase, str]
    intent: Phrase

    @property
    def name(self) -> str:
        data = self.record.metadata
        return str(data.get("intent") or data.get("tag") or self.record.id)

    @property
    def scope(self) -> str:
        return self.record.scope

    @property
    def ref(self) -> GuideRef:
        data = self.record.metadata
        path = "/".join(str(data[key]) for key in ("directory", "source") if data.get(key))
        return GuideRef(id=self.record.id, name=self.name, scope=self.scope, path=path)

    def shared(self, other: Guide) -> list[str]:
        """Return the keywords that both have, as this one writes them."""
        return [word for phrase, word in self.triggers.items() if phrase in other.triggers]


def load_guides(memory: Memory) -> list[Guide]:
    """Return the unexpired rows of every category that files with directives bring, by name."""
    importers = memory.registry.importers.values()
    found = []
    for category in sorted({spec.category for spec in importers if spec.directive}):
        spec = memory.registry.categories.get(category)
        for row in memory.list(category=category) if spec is not None else []:
            if row.expires_at is not None and row.expires_at <= clock.now():
                continue
            words = spec.keywords(row) if spec is not None and spec.keywords is not None else ()
            triggers = {phrase: word for word in words if (phrase := tuple(units(word)))}
            intent = str(row.metadata.get("intent") or row.metadata.get("tag") or "")
            found.append(Guide(record=row, triggers=triggers, intent=tuple(units(intent.replace("_", " ")))))
    return sorted(found, key=lambda guide: (guide.name, guide.scope, guide.record.id))


def pairs(memory: Memory, guides: Sequence[Guide]) -> Iterator[tuple[Guide, Guide]]:
    """Yield the pairs of one category that some agent sees both of."""
    sights = [set(memory.scopes_of(agent)) for agent in memory.settings.agents]
    for one, other in combinations(guides, 2):
        scopes = {one.scope, other.scope}
        met = len(scopes) == 1 or GLOBAL_SCOPE in scopes or any(scopes <= sight for sight in sights)
        if met and one.record.category == other.record.category:
            yield one, other


def same_trigger(one: Guide, other: Guide) -> bool:
    """Tell whether one query may well mean both: a keyword in common, or the same words as intent."""
    if any(phrase in other.triggers for phrase in one.triggers):
        return True
    return bool(one.intent) and _overlap(set(one.intent), set(other.intent)) == 1.0


def near_equal_triggers(one: Guide, other: Guide) -> bool:
    """Tell whether most keywords of the one with fewer are keywords of the other."""
    return _overlap(set(one.triggers), set(other.triggers)) >= NEAR


def _overlap(one: set[Phrase] | set[str], other: set[Phrase] | set[str]) -> float:
    least = min(len(one), len(other))
    return len(one & other) / least if least else 0.0
