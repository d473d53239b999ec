"""LangGraph's InMemoryStore: cosine over the values of a namespace; several scopes are several searches."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

NAME = "LangGraph InMemoryStore"
CANNOT = "nothing on disk, one process, dense only"


def version() -> str:
    return f"langgraph {metadata.version('langgraph')}"


class Store:
    def __init__(self, folder: Path, vectors: Any) -> None:
        from langgraph.store.memory import InMemoryStore

        del folder
        index: Any = {
            "dims": vectors.dimension,
            "embed": lambda texts: [vectors.any(text).tolist() for text in texts],
            "fields": ["text"],
        }
        self._store = InMemoryStore(index=index)

    def add(self, rows: list[dict[str, Any]]) -> None:
        from langgraph.store.base import PutOp

        self._store.batch([PutOp(("memories", r["scope"]), r["id"], {"text": r["text"]}) for r in rows])

    def ask(self, query: str, scopes: tuple[str, ...], limit: int) -> list[str]:
        found = [
            item
            for scope in scopes
            for item in self._store.search(("memories", scope), query=query, limit=limit)
        ]
        return [item.key for item in sorted(found, key=lambda item: -(item.score or 0))][:limit]

    def close(self) -> None:
        pass
