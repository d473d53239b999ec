"""What a rescan found and did."""

from __future__ import annotations

from typing import Any, Literal

from attrs import asdict, define, field, frozen

from olav_core.specs import Fault

Action = Literal["masked", "moved", "merged"]


@frozen(kw_only=True)
class RescannedRow:
    """A row that held secrets: the id that it had, the id that it has now, its category, and what became of
    it. `moved`: its id follows from its content, so it has another; `merged`: that id was there already."""

    was: str
    id: str
    category: str
    action: Action


@define(kw_only=True)
class RescanReport:
    """`rows`, `lines` (of the spool), `queries` (kept ones, and those of thumbs) and `drafts` (files) were
    read; `items` are the rows that held secrets, `kinds` what was found, by kind. `links`: rows that named a
    moved row. `faults`: what could not be masked, by id or file. With `applied` False nothing was written."""

    applied: bool
    rows: int = 0
    items: list[RescannedRow] = field(factory=list)
    kinds: dict[str, int] = field(factory=dict)
    links: int = 0
    lines: int = 0
    masked_lines: int = 0
    queries: int = 0
    masked_queries: int = 0
    drafts: int = 0
    masked_drafts: int = 0
    faults: list[Fault] = field(factory=list)

    def count(self, kinds: dict[str, int]) -> None:
        """Add findings by kind."""
        for kind, number in kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + number

    def to_dict(self) -> dict[str, Any]:
        """Return the object of `olav kb rescan --json`."""
        by_action = dict.fromkeys(("masked", "moved", "merged"), 0)
        for item in self.items:
            by_action[item.action] += 1
        return {
            "rows": self.rows,
            "changed": len(self.items),
            **by_action,
            "kinds": dict(sorted(self.kinds.items())),
            "links": self.links,
            "lines": self.lines,
            "masked_lines": self.masked_lines,
            "queries": self.queries,
            "masked_queries": self.masked_queries,
            "drafts": self.drafts,
            "masked_drafts": self.masked_drafts,
            "applied": self.applied,
            "items": [asdict(item) for item in self.items],
            "faults": [asdict(fault) for fault in self.faults],
        }
