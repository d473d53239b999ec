"""The PyPI package `olav` 0.27.0: its own hybrid search, and, where time counts, its recall middleware.

Only its embedder is replaced. Rows are added in bulk, as its store lays them out; its own way is one by one.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Any

NAME = "olav"
CANNOT = (
    "one scope and `global` a search, several are merged by rank; its text index does not cut Chinese; "
    "access counts are written while it recalls"
)


def version() -> str:
    return f"olav {metadata.version('olav')}"


class Store:
    def __init__(self, folder: Path, vectors: Any) -> None:
        from olav.core.memory import LanceDBStore
        from olav.core.memory.middleware import AutoRecallMiddleware

        logging.disable(logging.WARNING)
        self._vectors = vectors
        self._store = LanceDBStore(str(folder), embedding_dim=vectors.dimension)
        self._middleware = AutoRecallMiddleware(self._store, top_k=5)
        self._middleware._embed = lambda text: vectors.queries[text].tolist()

    def add(self, rows: list[dict[str, Any]]) -> None:
        import pyarrow as pa
        from olav.core.memory import MEMORY_TABLE

        table = self._store.create_table()
        now, count = datetime.now(), len(rows)
        columns: dict[str, Any] = {
            "id": [row["id"] for row in rows],
            "text": [row["text"] for row in rows],
            "vector": [self._vectors.passages[row["text"]] for row in rows],
            "category": [row["category"] for row in rows],
            "scope": [row["scope"] for row in rows],
            "metadata": ["{}"] * count,
            "timestamp": [now] * count,
            "created_at": [now] * count,
            "access_count": [0] * count,
            "weight": [1.0] * count,
            "origin": ["agent"] * count,
            "confidence": [0.5] * count,
            "tags": ["[]"] * count,
            "expires_at": [None] * count,
        }
        schema = self._store.get_schema(MEMORY_TABLE)
        table.add(pa.table({field.name: columns[field.name] for field in schema}, schema=schema))
        table.create_fts_index("text", replace=True)
        table.optimize()

    def ask(self, query: str, scopes: tuple[str, ...], limit: int) -> list[str]:
        from olav.core.memory import hybrid_search

        vector = self._vectors.queries[query].tolist()
        found = [
            (place, row["id"])
            for scope in [scope for scope in scopes if scope != "global"] or ["global"]
            for place, row in enumerate(
                hybrid_search(store=self._store, query=query, query_vector=vector, limit=limit, scope=scope)
            )
        ]
        return [id for _, id in sorted(found, key=lambda item: item[0])][:limit]

    def recall(self, query: str, scopes: tuple[str, ...], limit: int) -> Any:
        del limit
        return asyncio.run(self._middleware.enrich(query, scope=scopes[0]))

    def close(self) -> None:
        pass
