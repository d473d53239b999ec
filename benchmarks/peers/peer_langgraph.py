"""LangGraph's InMemoryStore with an index: cosine over the values of one namespace. It has no lexical leg."""

from __future__ import annotations

import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from dataset import latency, read, report
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore


def main() -> None:
    data = read(Path(sys.argv[1]))
    known = dict(zip(data.queries, data.query_vectors.tolist(), strict=True))
    known |= dict(zip(data.texts, data.vectors.tolist(), strict=True))
    began = time.perf_counter()
    store = InMemoryStore(
        index={
            "dims": data.vectors.shape[1],
            "embed": lambda texts: [known[text] for text in texts],
            "fields": ["text"],
        }
    )
    rows = enumerate(zip(data.texts, data.scopes, strict=True))
    store.batch([PutOp(("memories", scope), str(row), {"text": text}) for row, (text, scope) in rows])
    build = time.perf_counter() - began

    def ask(query: str, vector: np.ndarray, limit: int) -> Any:
        found = [
            item
            for scope in data.scope
            for item in store.search(("memories", scope), query=query, limit=limit)
        ]
        return sorted(found, key=lambda item: -(item.score or 0))[:limit]

    report("LangGraph InMemoryStore", f"langgraph {version('langgraph')}", build, latency(ask, data))


if __name__ == "__main__":
    main()
