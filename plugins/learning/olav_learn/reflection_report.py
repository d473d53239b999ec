"""What a run of the reflector did, lesson by lesson."""

from __future__ import annotations

from typing import Any, Literal

from attrs import asdict, field, frozen

#: `closed`: a person or a later success closed it, and nothing new was seen. `superseding`: it took an older
#: row's place. `quarantined`: its failure carries instructions, so it is no lesson. `waiting`: for a person's
#: review; `rejected`: in that review. `unsettled`: one failure that teaches nothing by itself.
ReflectionOutcome = Literal[
    "written",
    "refreshed",
    "superseding",
    "unchanged",
    "closed",
    "quarantined",
    "forgotten",
    "waiting",
    "rejected",
    "unsettled",
]


@frozen(kw_only=True)
class ReflectionItem:
    """What became of one lesson. `source`: `calls` when they show it themselves, else `model`. What was
    quarantined has no text: it would give its orders to whoever reads the report."""

    tool: str
    text: str
    outcome: ReflectionOutcome
    failures: int
    id: str = ""
    source: Literal["calls", "model"] = "calls"


@frozen(kw_only=True)
class ReflectionReport:
    """What one run did. `resolved`: ids that a later success closed. `asked`: failures that the chat model
    was shown, in `calls` calls; `failed`: calls whose answer could not be used; `faults`: why. `prompts`:
    what was asked, or would be."""

    applied: bool
    items: tuple[ReflectionItem, ...] = field(factory=tuple)
    resolved: tuple[str, ...] = ()
    asked: int = 0
    calls: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    estimated_tokens: int = 0
    faults: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()

    def count(self, outcome: ReflectionOutcome) -> int:
        return sum(item.outcome == outcome for item in self.items)

    def to_dict(self) -> dict[str, Any]:
        """Return the stable JSON object of `olav learn reflections --json`."""
        names = ("written", "refreshed", "superseding", "waiting", "quarantined", "unsettled")
        value = asdict(self)
        reflections = value.pop("items")
        return {
            **value,
            **{name: self.count(name) for name in names},  # type: ignore[arg-type]
            "reflections": reflections,
        }
