"""Rules `no_keywords` and `shared_keyword`: guides that nothing lifts, and words that lift too many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from olav_core.lint.finding import LintFinding
from olav_core.lint.guide import Guide, Phrase
from olav_core.records import GLOBAL_SCOPE

if TYPE_CHECKING:
    from olav_core.memory import Memory

#: So many guides of one sight share a word before it tells them apart no more: a cap is 3 of a category.
MANY: Final = 5


def find_without_keywords(guides: list[Guide]) -> Iterator[LintFinding]:
    """Yield the guides without a keyword that recall could find."""
    for guide in guides:
        if guide.triggers:
            continue
        waits = guide.record.metadata.get("load") == "on_intent"
        why = "and waits for one (load: on_intent)" if waits else "so only its own words bring it"
        yield LintFinding(
            rule="no_keywords",
            severity="warning" if waits else "note",
            message=f"'{guide.name}' has no keywords, {why}.",
            mend="Add what people type when they need it, in every language that they type it in.",
            guides=(guide.ref,),
        )


def find_shared_keywords(memory: Memory, guides: list[Guide], many: int = MANY) -> Iterator[LintFinding]:
    """Yield keywords that `many` or more guides have that one agent sees together."""
    sights = {guide.scope: {guide.scope, GLOBAL_SCOPE} for guide in guides}
    sights |= {agent: set(memory.scopes_of(agent)) for agent in memory.settings.agents}
    told: set[tuple[Phrase, tuple[str, ...]]] = set()
    for sight in sights.values():
        having: dict[Phrase, list[Guide]] = {}
        for guide in guides:
            if guide.scope in sight:
                for phrase in guide.triggers:
                    having.setdefault(phrase, []).append(guide)
        for phrase, found in sorted(having.items()):
            key = phrase, tuple(guide.record.id for guide in found)
            if len(found) < many or key in told:
                continue
            told.add(key)
            word = found[0].triggers[phrase]
            names = ", ".join(guide.name for guide in found[:4])
            yield LintFinding(
                rule="shared_keyword",
                severity="warning",
                message=f"The keyword '{word}' tells none of {len(found)} guides apart: {names}, …",
                mend="Keep it in the one guide that it means, and give the others longer, rarer words.",
                guides=tuple(guide.ref for guide in found),
            )
