"""Rule `contradiction`: two guides with one trigger tell opposite things. A heuristic: it reads words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from olav_core.lint.clause import OPPOSITES, Clause, clauses
from olav_core.lint.finding import LintFinding
from olav_core.lint.guide import Guide, pairs, same_trigger

if TYPE_CHECKING:
    from olav_core.memory import Memory

#: Share of the shorter sentence that both must have in common to be about one thing.
ABOUT: Final = 0.7
#: For values more: "keep logs 30 days" and "keep backups 90 days" share much and contradict nothing.
ABOUT_VALUES: Final = 0.8


def find_contradictions(memory: Memory, guides: list[Guide]) -> Iterator[LintFinding]:
    """Yield one finding per pair of guides, with the first two sentences that clash."""
    read = {guide.record.id: clauses(guide.record.text) for guide in guides}
    for one, other in pairs(memory, guides):
        if not same_trigger(one, other):
            continue
        clash = _first_clash(read[one.record.id], read[other.record.id])
        if clash is None:
            continue
        why, mine, theirs = clash
        yield LintFinding(
            rule="contradiction",
            severity="error",
            heuristic=True,
            message=f"'{one.name}' and '{other.name}' answer to one trigger and seem to contradict ({why}): "
            f"“{mine.text[:120]}” and “{theirs.text[:120]}”.",
            mend="Decide which one holds and correct the other, or part their keywords.",
            guides=(one.ref, other.ref),
        )


def _first_clash(ours: list[Clause], theirs: list[Clause]) -> tuple[str, Clause, Clause] | None:
    for one in ours:
        for other in theirs:
            if why := contradicts(one, other):
                return why, one, other
    return None


def contradicts(one: Clause, other: Clause) -> str:
    """Say how two sentences contradict, empty when they don't seem to."""
    about = one.about(other)
    if about < ABOUT:
        return ""
    opposed = [
        number
        for number, side in one.sides
        if (number, 1 - side) in other.sides and (number, side) not in other.sides
    ]
    if opposed and one.forbids == other.forbids:
        return " against ".join(OPPOSITES[min(opposed)])
    if one.forbids != other.forbids and not opposed:
        return "one forbids what the other asks for"
    if about >= ABOUT_VALUES and one.forbids == other.forbids:
        for number, unit in one.values:
            against = [theirs for theirs, their_unit in other.values if their_unit == unit]
            if against and number not in against:
                return f"{number}{unit} against {against[0]}{unit}"
    return ""
