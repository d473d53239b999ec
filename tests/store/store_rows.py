"""Records, vectors and the embedding space that the store's tests write."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import numpy as np

from olav_core.records import MemoryRecord

DIMENSION = 8
SPACE = json.dumps({"dimension": DIMENSION, "name": "first"})
MOMENT = datetime(2026, 4, 29, 12, 0, 0, 123456, tzinfo=UTC)


def fact(row_id: str, text: str | None = None, **fields: Any) -> MemoryRecord:
    body = f"text of {row_id}" if text is None else text
    values = {"category": "fact", "timestamp": MOMENT, "search_text": body, **fields}
    return MemoryRecord(id=row_id, text=body, **values)


def vectors(count: int, seed: int = 0, dimension: int = DIMENSION) -> Any:
    return np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
