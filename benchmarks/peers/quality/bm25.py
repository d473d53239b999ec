"""BM25 alone, by bm25s with its own tokenizer: words of letters and digits, which no Chinese text has."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

NAME = "BM25 alone"
CANNOT = "no vectors: nothing across languages; its tokenizer does not cut Chinese"


def version() -> str:
    return f"bm25s {metadata.version('bm25s')}"


class Store:
    def __init__(self, folder: Path, vectors: Any) -> None:
        del vectors
        self._folder = folder

    def add(self, rows: list[dict[str, Any]]) -> None:
        import bm25s

        self._bm25s = bm25s
        self._ids = [row["id"] for row in rows]
        self._scopes = np.array([row["scope"] for row in rows])
        self._index = bm25s.BM25()
        self._index.index(
            bm25s.tokenize([row["text"] for row in rows], show_progress=False), show_progress=False
        )
        self._index.save(str(self._folder))

    def ask(self, query: str, scopes: tuple[str, ...], limit: int) -> list[str]:
        words = self._bm25s.tokenize(query, return_ids=False, show_progress=False)[0]
        scores = self._index.get_scores(words) if words else np.zeros(len(self._ids))
        scores = np.where(np.isin(self._scopes, scopes), scores, 0)
        best = np.argsort(-scores)[:limit]
        return [self._ids[row] for row in best if scores[row] > 0]

    def close(self) -> None:
        pass
