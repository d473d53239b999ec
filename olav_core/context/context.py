"""What a host gives its model beside the conversation, and why each part is in it or not."""

from __future__ import annotations

from typing import Any, Literal

from attrs import asdict, frozen

from olav_core.recall.recall import Recall

#: The order in which a model reads them; `recalled` stands directly before the query.
Layer = Literal["always", "on_intent", "recalled"]


@frozen(kw_only=True)
class ContextPart:
    """One file or memory. `name`: the file's path in the agent's folder, or the memory's id. `tokens` is
    estimated; of a memory that is out it is 0. `distance`: canonical, None where nothing was measured."""

    layer: Layer
    name: str
    included: bool
    reason: str
    tokens: int = 0
    distance: float | None = None
    keywords: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@frozen(kw_only=True)
class Context:
    """The context of one model call. `files`: the block of files, for the system prompt. `block`: the block
    of memories, to stand directly before the query. Either may be empty."""

    query: str
    agent: str
    tier: str
    budget: int
    tokens: int
    files: str
    block: str
    parts: tuple[ContextPart, ...]
    recall: Recall
    folder: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Both blocks, for a host with one place only."""
        return "\n\n".join(part for part in (self.files, self.block) if part)

    def to_dict(self) -> dict[str, Any]:
        """Return the stable JSON object of `olav context --json`."""
        return {
            "query": self.query,
            "agent": self.agent,
            "folder": self.folder,
            "tier": self.tier,
            "budget": self.budget,
            "tokens": self.tokens,
            "files": self.files,
            "block": self.block,
            "parts": [part.to_dict() for part in self.parts],
            "degraded": list(self.recall.degraded),
            "warnings": list(self.warnings),
        }
