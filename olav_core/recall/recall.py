"""What a recall returns: the memories, the block for the prompt, and the trace of every choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

# Named here for those who look for it beside its recall.
from olav_core.recall.trace import CandidateTrace as CandidateTrace
from olav_core.records import MemoryRecord


@frozen(kw_only=True)
class RecalledMemory:
    """One memory of a recall. `text` is what the model reads, not yet escaped. `distance` is the squared L2
    distance in the centred space, `canonical_distance` the same on the scale where gates speak; both are
    None when the query could not be embedded, the latter also when the embedder has no scale."""

    id: str
    category: str
    scope: str
    text: str
    score: float
    distance: float | None
    canonical_distance: float | None
    record: MemoryRecord

    def to_dict(self) -> dict[str, Any]:
        names = ("id", "category", "scope", "text", "score", "distance", "canonical_distance")
        return {name: getattr(self, name) for name in names}


@frozen(kw_only=True)
class Recall:
    """One recall. `degraded` names the legs and stages that failed and how; empty means that all ran, so
    that no items then means no memories. `timings_ms` holds the stages and `total`;
    `embed` runs beside other stages, `embed_wait` is what the recall waited for it."""

    query: str
    agent: str
    scopes: tuple[str, ...]
    tier: str
    limit: int
    items: tuple[RecalledMemory, ...] = ()
    block: str = ""
    tokens: int = 0
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    timings_ms: Mapping[str, float]
    trace: Sequence[CandidateTrace] = ()

    def to_dict(self, *, explain: bool = False) -> dict[str, Any]:
        """Return the stable JSON object of `olav recall --json`; with `explain`, the trace too."""
        out: dict[str, Any] = {
            "query": self.query,
            "agent": self.agent,
            "scopes": list(self.scopes),
            "tier": self.tier,
            "limit": self.limit,
            "items": [item.to_dict() for item in self.items],
            "block": self.block,
            "tokens": self.tokens,
            "degraded": list(self.degraded),
            "warnings": list(self.warnings),
            "timings_ms": dict(self.timings_ms),
        }
        if explain:
            out["trace"] = [candidate.to_dict() for candidate in self.trace]
        return out
