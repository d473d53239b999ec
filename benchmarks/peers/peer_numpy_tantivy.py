"""The physical reference: one matrix product and one tantivy query, cut to the scopes, nothing else."""

from __future__ import annotations

import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import tantivy
from dataset import latency, read, report


def main() -> None:
    data = read(Path(sys.argv[1]))
    began = time.perf_counter()
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("row", fast=True)
    builder.add_text_field("body", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("scope", tokenizer_name="raw", index_option="basic")
    schema = builder.build()
    index = tantivy.Index(schema)
    writer = index.writer(50_000_000, 1)
    for row, (text, scope) in enumerate(zip(data.texts, data.scopes, strict=True)):
        document = tantivy.Document(body=text.casefold(), scope=scope)
        document.add_unsigned("row", row)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    inside = np.isin(np.array(data.scopes), data.scope)
    build = time.perf_counter() - began
    scoped = tantivy.Query.const_score_query(
        tantivy.Query.term_set_query(schema, "scope", list(data.scope)), 0.0
    )

    def ask(query: str, vector: np.ndarray, limit: int) -> Any:
        scores = data.vectors @ vector
        scores[~inside] = -1
        terms = [tantivy.Query.term_query(schema, "body", word) for word in set(query.casefold().split())]
        words = tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])
        both = tantivy.Query.boolean_query([(tantivy.Occur.Must, words), (tantivy.Occur.Must, scoped)])
        hits = searcher.search(both, 2_000, count=False).hits
        rows = np.array(searcher.fast_field_values("row", [address for _, address in hits]), dtype=np.int64)
        if len(rows):
            scores[rows] += np.array([score for score, _ in hits], dtype=np.float32) / 30
        best = np.argpartition(-scores, limit)[:limit]
        return [data.texts[row] for row in best[np.argsort(-scores[best])]]

    versions = f"numpy {version('numpy')} + tantivy {version('tantivy')}"
    report("numpy scan + tantivy", versions, build, latency(ask, data))


if __name__ == "__main__":
    main()
