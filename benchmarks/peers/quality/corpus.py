"""What every peer is given: the same texts with the same vectors, and queries with what answers them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np


class Vectors:
    """Text -> float32 vector, for passages and for queries. Peers that embed by themselves call these."""

    def __init__(self, passages: dict[str, np.ndarray], queries: dict[str, np.ndarray]) -> None:
        self.passages = passages
        self.queries = queries
        self.dimension = len(next(iter(passages.values())))
        self._by_trimmed = {text.strip(): vector for text, vector in {**queries, **passages}.items()}

    def any(self, text: str) -> np.ndarray:
        """Return the vector of a text that a peer hands, perhaps trimmed, to its one embedding function."""
        return self._by_trimmed[text.strip()]


def write(folder: Path, corpora: dict[str, Any], vectors: Vectors) -> None:
    """`corpora`: name -> {"rows": [{"id", "text", "scope", "category", "draft"}], "queries": [{"query",
    "scopes", "relevant", "group"}]}."""
    (folder / "corpora.json").write_text(json.dumps(corpora, ensure_ascii=False), encoding="utf-8")
    for name, table in (("passages", vectors.passages), ("queries", vectors.queries)):
        (folder / f"{name}.json").write_text(json.dumps(list(table), ensure_ascii=False), encoding="utf-8")
        np.save(folder / f"{name}.npy", np.stack(list(table.values())).astype(np.float32))


def read(folder: Path) -> tuple[dict[str, Any], Vectors]:
    tables = []
    for name in ("passages", "queries"):
        texts = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        tables.append(dict(zip(texts, np.load(folder / f"{name}.npy"), strict=True)))
    return json.loads((folder / "corpora.json").read_text(encoding="utf-8")), Vectors(*tables)
