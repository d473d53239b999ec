"""memsearch over Milvus Lite: a Markdown file a memory in a folder a scope, its own hybrid search."""

from __future__ import annotations

import asyncio
import hashlib
from importlib import metadata
from pathlib import Path
from typing import Any

NAME = "memsearch, Milvus Lite"
CANNOT = (
    "memories are Markdown files; one folder a search, several are merged by score; one process a database"
)


def version() -> str:
    return f"memsearch {metadata.version('memsearch')}, milvus-lite {metadata.version('milvus-lite')}"


class Store:
    def __init__(self, folder: Path, vectors: Any) -> None:
        from memsearch import core

        class Given:
            """Its embedding provider, with the vectors that every peer gets."""

            model_name, dimension, batch_size = "given", vectors.dimension, 256

            async def embed(self, texts: list[str]) -> list[list[float]]:
                return [known(text).tolist() for text in texts]

        #: It strips blanks and comments from what it embeds.
        squeezed = {"".join(text.split()): vector for text, vector in vectors.passages.items()}

        def known(text: str) -> Any:
            found = vectors.queries.get(text)
            return squeezed["".join(text.split())] if found is None else found

        core.get_provider = lambda *_, **__: Given()
        self._folder = folder / "memories"
        self._folder.mkdir()
        self._search = core.MemSearch(
            [self._folder], milvus_uri=str(folder / "milvus.db"), max_chunk_size=100_000
        )
        self._keys: dict[str, str] = {}

    def add(self, rows: list[dict[str, Any]]) -> None:
        for number, row in enumerate(rows):
            path = self._place(row["scope"]) / f"{number}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text(row["text"], encoding="utf-8")
            self._keys[str(path.resolve())] = row["id"]
        asyncio.run(self._search.index())

    def ask(self, query: str, scopes: tuple[str, ...], limit: int) -> list[str]:
        found = []
        for scope in scopes:
            place = self._place(scope)
            if place.is_dir():
                search = self._search.search(query, top_k=limit, source_prefix=f"{place}")
                found += asyncio.run(search)
        found.sort(key=lambda item: -item["score"])
        return [self._keys[item["source"]] for item in found][:limit]

    def _place(self, scope: str) -> Path:
        # No folder's name begins with another's.
        return self._folder / hashlib.sha256(scope.encode()).hexdigest()[:12]

    def close(self) -> None:
        self._search.close()
