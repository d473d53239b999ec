"""olav-core: its own write and recall paths, default configuration; its embedder is a table of vectors."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

NAME = "olav-core"
CANNOT = ""


def version() -> str:
    return f"olav-core {metadata.version('olav-core')}"


class Store:
    def __init__(self, folder: Path, vectors: Any) -> None:
        import attrs
        import numpy as np

        import olav_core

        registry = olav_core.build_registry()
        e5 = registry.embedder("e5")
        identity = e5.factory({}).identity

        class Given:
            """e5's place, with the vectors that every peer gets."""

            def __init__(self) -> None:
                self.identity = identity

            def embed_passages(self, texts: Any) -> Any:
                return np.stack([vectors.passages[text] for text in texts])

            def embed_queries(self, texts: Any) -> Any:
                return np.stack([vectors.queries[text] for text in texts])

        given = attrs.evolve(e5, factory=lambda options: Given())
        registry = attrs.evolve(registry, embedders={**registry.embedders, "e5": given})
        self._memory = olav_core.init(folder, embedder="e5", registry=registry)
        self._ids: dict[str, str] = {}

    def add(self, rows: list[dict[str, Any]]) -> None:
        from olav_core import Draft

        drafts = [Draft(**{**row["draft"], "tags": tuple(row["draft"]["tags"])}) for row in rows]
        for row, outcome in zip(rows, self._memory.remember_many(drafts), strict=True):
            if outcome.error is not None:
                raise outcome.error
            self._ids[outcome.id] = row["id"]
        self._memory.optimize()

    def ask(self, query: str, scopes: tuple[str, ...], limit: int) -> list[str]:
        found = self._memory.search(query, scopes=scopes, limit=limit)
        return [self._ids[item.id] for item in found.items if item.id in self._ids]

    def recall(self, query: str, scopes: tuple[str, ...], limit: int) -> Any:
        return self._memory.recall(query, scopes=scopes, tier="large", limit=limit, log=False)

    def close(self) -> None:
        self._memory.close()
