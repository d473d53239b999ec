"""mem0 without a language model: `infer=False`, its local Qdrant, its own search and scoring."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path
from typing import Any

NAME = "mem0"
CANNOT = (
    "one memory an `add`; its keyword leg needs a model from a hub, so it is off here; one scope a search, "
    "several are merged by score; facts are made by a language model, which is off"
)
os.environ["MEM0_TELEMETRY"] = "False"


def version() -> str:
    return f"mem0ai {metadata.version('mem0ai')}"


class Store:
    def __init__(self, folder: Path, vectors: Any) -> None:
        os.environ["MEM0_DIR"] = str(folder / "home")
        from mem0 import Memory

        place = {"path": str(folder / "qdrant"), "embedding_model_dims": vectors.dimension, "on_disk": True}
        nobody = {"api_key": "none", "openai_base_url": "http://127.0.0.1:9/v1"}
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": place},
                "embedder": {"provider": "openai", "config": nobody},
                "llm": {"provider": "openai", "config": nobody},
                "history_db_path": str(folder / "history.db"),
            }
        )

        class Given:
            """Its embedding model, with the vectors that every peer gets."""

            config = self._memory.embedding_model.config

            def embed(self, text: str, memory_action: str | None = None) -> list[float]:
                del memory_action
                return vectors.any(text).tolist()  # type: ignore[no-any-return]

            def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
                return [self.embed(text, memory_action) for text in texts]

        self._memory.embedding_model = Given()

    def add(self, rows: list[dict[str, Any]]) -> None:
        for row in rows:
            self._memory.add(row["text"], user_id=row["scope"], metadata={"key": row["id"]}, infer=False)

    def ask(self, query: str, scopes: tuple[str, ...], limit: int) -> list[str]:
        found = []
        for scope in scopes:
            answer = self._memory.search(query, top_k=limit, filters={"user_id": scope})
            found += [(item["score"], item["metadata"]["key"]) for item in answer["results"]]
        return [key for _, key in sorted(found, reverse=True)][:limit]

    def close(self) -> None:
        pass
