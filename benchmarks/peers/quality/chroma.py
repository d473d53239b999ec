"""Chroma: a persistent collection, cosine over given vectors, the scope as a metadata filter."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

NAME = "Chroma"
CANNOT = "dense only: words are a filter, not a score; no life, quotas or redaction"
BATCH = 1_000


def version() -> str:
    return f"chromadb {metadata.version('chromadb')}"


class Store:
    def __init__(self, folder: Path, vectors: Any) -> None:
        import chromadb
        from chromadb.config import Settings

        self._vectors = vectors
        self._client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
        self._rows = self._client.create_collection(
            "memory", metadata={"hnsw:space": "cosine"}, embedding_function=None
        )

    def add(self, rows: list[dict[str, Any]]) -> None:
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            self._rows.add(
                ids=[row["id"] for row in batch],
                documents=[row["text"] for row in batch],
                embeddings=[self._vectors.passages[row["text"]] for row in batch],
                metadatas=[{"scope": row["scope"]} for row in batch],
            )

    def ask(self, query: str, scopes: tuple[str, ...], limit: int) -> list[str]:
        found = self._rows.query(
            query_embeddings=[self._vectors.queries[query]],
            n_results=limit,
            where={"scope": {"$in": list(scopes)}},
        )
        return list(found["ids"][0])

    def close(self) -> None:
        pass
