"""Plain LanceDB: hybrid search as its documentation shows it, scope as a filter, flat vectors."""

from __future__ import annotations

import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
from dataset import latency, read, report
from lancedb.index import FTS
from lancedb.rerankers import RRFReranker


def main() -> None:
    data = read(Path(sys.argv[1]))
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(data.vectors.reshape(-1)), data.vectors.shape[1])
        columns = {"text": data.texts, "scope": data.scopes, "category": data.categories, "vector": vectors}
        table = lancedb.connect(folder).create_table("memory", pa.table(columns))
        table.create_index("text", config=FTS(base_tokenizer="icu/split", max_token_length=128))
        build = time.perf_counter() - began
        where = f"scope IN ({', '.join(repr(scope) for scope in data.scope)})"
        reranker = RRFReranker()

        def ask(query: str, vector: np.ndarray, limit: int) -> Any:
            search = table.search(query_type="hybrid").vector(vector).text(query).where(where)
            return search.rerank(reranker).limit(limit).to_list()

        report("LanceDB hybrid", f"lancedb {version('lancedb')}", build, latency(ask, data))


if __name__ == "__main__":
    main()
