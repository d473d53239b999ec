"""Rows with made-up vectors, and what a query finds among them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from olav_core import CategorySpec, MemoryRecord
from olav_core.index.index import RecallIndex
from olav_core.records import memory_id
from olav_core.store.store import Store

DIMENSION = 16
NOW = 1_800_000_000.0


def vector_of(text: str) -> np.ndarray:
    """A unit vector that depends on the text alone, in a narrow cone as real embeddings are."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    raw = np.random.default_rng(seed).normal(size=DIMENSION) + 1.0
    return (raw / np.linalg.norm(raw)).astype(np.float32)


def record(key: str, text: str, category: str = "fact", scope: str = "global", **rest: Any) -> MemoryRecord:
    id_ = memory_id(category, None, key)  # the scope may change under one id
    return MemoryRecord(id=id_, text=text, search_text=text, category=category, scope=scope, **rest)


def write(store: Store, *records: MemoryRecord) -> None:
    store.upsert(list(records), np.stack([vector_of(r.search_text) for r in records]))


CATEGORIES = {
    spec.id: spec
    for spec in (
        CategorySpec(id="fact", title="Fact", purpose="Facts"),
        CategorySpec(
            id="guide",
            title="Guide",
            purpose="Guides",
            keywords=lambda record: record.metadata.get("keywords", ()),
        ),
        CategorySpec(id="audit", title="Audit", purpose="Who did what", recallable=False),
    )
}


def found(index: RecallIndex, terms: Sequence[str], scopes: Sequence[str] | None = None) -> dict[str, float]:
    """Text -> lexical score of what a query of these terms matches, after a sync."""
    index.sync()
    pool = index.pool(scopes, now=NOW)
    hits = [c for c in pool.top(pool.lexical(terms), 1_000) if c.score > 0]
    return {candidate.record.text: candidate.score for candidate in hits}
