"""A draft: a memory before it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen


@frozen(kw_only=True)
class Draft:
    """A memory that is about to be written; the core gives it id, times, vector and validation."""

    text: str
    category: str
    scope: str | None = None
    metadata: Mapping[str, Any] = field(factory=dict)
    origin: str = "user"
    confidence: float = 1.0
    tags: tuple[str, ...] = ()
    timestamp: Any = None
    expires_at: Any = None
    line: int = 0
