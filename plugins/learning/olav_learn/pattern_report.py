"""What a run of the pattern extractor did, group by group."""

from __future__ import annotations

from typing import Any, Literal

from attrs import asdict, field, frozen

#: `planned`: nothing was asked, or nothing was to be written. `few`: fewer than `min_samples`. `forgotten`: a
#: person erased this pattern, so it stays away. `waiting`: for a person's review; `rejected`: in that review.
#: `given up`: the model failed on these events often enough; new ones, or a run by hand, try again.
PatternOutcome = Literal[
    "written",
    "updated",
    "unchanged",
    "planned",
    "failed",
    "forgotten",
    "few",
    "waiting",
    "rejected",
    "given up",
]


@frozen(kw_only=True)
class PatternItem:
    """What became of one group of events. `planted`: events that give orders, which were left out.
    `draft`: what `olav drafts` calls it while it waits."""

    tool: str
    scope: str
    events: int
    outcome: PatternOutcome
    id: str = ""
    text: str = ""
    confidence: float = 0.0
    prompt: str = ""
    estimated_tokens: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    calls: int = 0
    planted: int = 0
    draft: str = ""
    faults: tuple[str, ...] = ()


@frozen(kw_only=True)
class PatternReport:
    """What one run did, group by group."""

    applied: bool
    items: tuple[PatternItem, ...] = field(factory=tuple)

    def count(self, outcome: PatternOutcome) -> int:
        return sum(item.outcome == outcome for item in self.items)

    @property
    def calls(self) -> int:
        return sum(item.calls for item in self.items)

    def to_dict(self, *, prompts: bool = True) -> dict[str, Any]:
        """Return the stable JSON object of `olav learn patterns --json`, without prompts if so wished."""
        names = ("written", "updated", "unchanged", "waiting", "failed")
        groups = [asdict(item) for item in self.items]
        for group in groups:
            if not prompts:
                del group["prompt"]
        return {
            "applied": self.applied,
            "calls": self.calls,
            **{name: self.count(name) for name in names},  # type: ignore[arg-type]
            "groups": groups,
        }
