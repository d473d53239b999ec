"""The default embedder alone: load, memory, one query, a bulk of passages.

python benchmarks/bench_embedder.py
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
from environment import save
from generator import queries, texts

import olav_core

PASSAGES = 400
QUERIES = 150


def rss_mib() -> int:
    """Return the memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--embedder", default="e5")
    arguments = parser.parse_args()
    embedder = olav_core.build_registry().embedder(arguments.embedder).factory({})
    before, began = rss_mib(), time.perf_counter()
    embedder.embed_queries(["load"])
    loaded, memory = time.perf_counter() - began, rss_mib() - before
    taken = []
    for query in queries(QUERIES):
        began = time.perf_counter()
        embedder.embed_queries([query])
        taken.append(time.perf_counter() - began)
    p50, p95 = np.percentile(np.array(taken) * 1e3, [50, 95])
    bulk = [text for _, text in texts(PASSAGES)]
    began = time.perf_counter()
    embedder.embed_passages(bulk)
    rate = PASSAGES / (time.perf_counter() - began)
    figures = {
        "load_s": round(loaded, 2),
        "rss_mib": memory,
        "rss_after_bulk_mib": rss_mib() - before,
        "query_p50_ms": round(float(p50), 2),
        "query_p95_ms": round(float(p95), 2),
        "passages_per_s": round(rate, 1),
        "load_average": round(os.getloadavg()[0], 1),
    }
    print(figures)
    print(save("embedder", {"embedder": arguments.embedder, "passages": PASSAGES}, figures))


if __name__ == "__main__":
    main()
