"""The PyPI package `olav` 0.27.0: its own recall middleware over its own store, rows added in bulk.

Only its embedder is replaced, by precomputed vectors. Its access counts are part of its recall.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import tempfile
import time
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from dataset import Dataset, latency, read, report
from olav.core.memory import MEMORY_TABLE, LanceDBStore
from olav.core.memory.middleware import AutoRecallMiddleware


def filled(store: LanceDBStore, data: Dataset) -> None:
    """Add every row, then index the text anew, as the store does for a new table."""
    table = store.create_table()
    now, rows = datetime.now(), len(data.texts)
    columns: dict[str, Any] = {
        "id": [str(row) for row in range(rows)],
        "text": data.texts,
        "vector": list(data.vectors),
        "category": data.categories,
        "scope": data.scopes,
        "metadata": ["{}"] * rows,
        "timestamp": [now] * rows,
        "created_at": [now] * rows,
        "access_count": [0] * rows,
        "weight": [1.0] * rows,
        "origin": ["agent"] * rows,
        "confidence": [0.5] * rows,
        "tags": ["[]"] * rows,
        "expires_at": [None] * rows,
    }
    schema = store.get_schema(MEMORY_TABLE)
    table.add(pa.table({field.name: columns[field.name] for field in schema}, schema=schema))
    table.create_fts_index("text", replace=True)
    table.optimize()


def main() -> None:
    data = read(Path(sys.argv[1]))
    logging.disable(logging.WARNING)
    known = dict(zip(data.queries, data.query_vectors.tolist(), strict=True))
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        store = LanceDBStore(folder, embedding_dim=data.vectors.shape[1])
        filled(store, data)
        build = time.perf_counter() - began
        middlewares = {limit: AutoRecallMiddleware(store, top_k=limit) for limit in data.limits}
        for middleware in middlewares.values():
            middleware._embed = known.__getitem__

        def ask(query: str, vector: np.ndarray, limit: int) -> Any:
            del vector
            answer = asyncio.run(middlewares[limit].enrich(query, scope=data.scope[0]))
            if answer == query:
                raise RuntimeError(f"olav recalled nothing for {query!r}")
            return answer

        report("olav", f"olav {version('olav')}", build, latency(ask, data))


if __name__ == "__main__":
    main()
