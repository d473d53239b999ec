"""Plain LanceDB: hybrid search as its documentation shows it, reciprocal rank fusion, scope as a filter."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

NAME = "LanceDB hybrid"
CANNOT = "a table, not a memory: no categories, gates, life or redaction; a query in double quotes fails"


def version() -> str:
    return f"lancedb {metadata.version('lancedb')}"


class Store:
    def __init__(self, folder: Path, vectors: Any) -> None:
        import lancedb

        self._vectors = vectors
        self._database = lancedb.connect(str(folder))

    def add(self, rows: list[dict[str, Any]]) -> None:
        import pyarrow as pa
        from lancedb.index import FTS
        from lancedb.rerankers import RRFReranker

        vectors = np.stack([self._vectors.passages[row["text"]] for row in rows])
        columns = {name: [row[name] for row in rows] for name in ("id", "text", "scope")}
        flat = pa.array(vectors.reshape(-1))
        columns["vector"] = pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
        self._table = self._database.create_table("memory", pa.table(columns))
        self._table.create_index("text", config=FTS(base_tokenizer="icu/split", max_token_length=128))
        self._reranker = RRFReranker()

    def ask(self, query: str, scopes: tuple[str, ...], limit: int) -> list[str]:
        quoted = ", ".join("'" + scope.replace("'", "''") + "'" for scope in scopes)
        search = self._table.search(query_type="hybrid").vector(self._vectors.queries[query])
        search = search.text(query.replace('"', " ")).where(f"scope IN ({quoted})")
        return [row["id"] for row in search.rerank(self._reranker).limit(limit).to_list()]

    def close(self) -> None:
        pass
