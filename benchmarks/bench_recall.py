"""Recall latency by stage at several store sizes, beside the flat numpy scan.

    python benchmarks/bench_recall.py --rows 1000 10000 100000

The store is written through the product; embedder `hashing` at 384 dimensions stands in for the model, since
what is measured is everything beyond the embedding (`--embedder e5` measures with it). The numpy scan over
as many vectors, best 13 of all rows, is taken in the same run: the physical reference.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from environment import save
from generator import drafts, queries

import olav_core

DIMENSION = 384
WARM = 20


def percentiles(seconds: list[float]) -> dict[str, float]:
    p50, p95 = np.percentile(np.array(seconds) * 1e3, [50, 95])
    return {"p50_ms": round(float(p50), 3), "p95_ms": round(float(p95), 3)}


def timed(call: Callable[[], Any], repeats: int) -> dict[str, float]:
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return percentiles(taken)


def numpy_scan(rows: int, repeats: int) -> dict[str, float]:
    random = np.random.default_rng(5)
    matrix = random.standard_normal((rows, DIMENSION), dtype=np.float32)
    query = random.standard_normal(DIMENSION, dtype=np.float32)

    def scan() -> None:
        scores = matrix @ query
        best = np.argpartition(-scores, 13)[:13]
        best[np.argsort(-scores[best])]

    return timed(scan, repeats)


def measure(folder: Path, rows: int, count: int, embedder: str) -> dict[str, Any]:
    options = {"dimension": DIMENSION} if embedder == "hashing" else {}
    asked = queries(count + WARM)
    with olav_core.init(folder, embedder=embedder, options=options) as memory:
        began = time.perf_counter()
        outcomes = memory.remember_many(drafts(rows))
        written = time.perf_counter() - began
        failed = sum(outcome.error is not None for outcome in outcomes)
        memory.recall("build the index", agent="netops")
        memory.optimize()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with olav_core.open(folder) as memory:
        began = time.perf_counter()
        memory.recall("open", agent="netops", log=False)
        opened = time.perf_counter() - began
        for query in asked[:WARM]:
            memory.recall(query, agent="netops", tier="large")
        tiers: dict[str, Any] = {}
        for tier in ("small", "large"):
            stages: dict[str, list[float]] = {}
            for query in asked[WARM:]:
                recall = memory.recall(query, agent="netops", tier=tier)
                assert not recall.degraded, recall.degraded
                beyond = recall.timings_ms["total"] - recall.timings_ms["embed_wait"]
                for stage, value in {**recall.timings_ms, "beyond_embedding": beyond}.items():
                    stages.setdefault(stage, []).append(value / 1e3)
            tiers[tier] = {stage: percentiles(values) for stage, values in stages.items()}
        memory.remember("a new row that the index has to take up", scope="netops")
        began = time.perf_counter()
        memory.recall("a new row that the index has to take up", agent="netops", log=False)
        caught_up = time.perf_counter() - began
    return {
        "rows": rows,
        "refused": failed,
        "written_rows_per_s": round(rows / written),
        "cold_open_s": round(opened, 3),
        "recall_after_one_write_ms": round(caught_up * 1e3, 2),
        "recall": tiers,
        "numpy_scan": numpy_scan(rows, count),
        "peak_rss_mib": round(max(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--embedder", default="hashing")
    arguments = parser.parse_args()
    figures = []
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory() as folder:
            figures.append(measure(Path(folder), rows, arguments.queries, arguments.embedder))
        print(figures[-1])
    suffix = "" if arguments.embedder == "hashing" else f"-{arguments.embedder}"
    configuration = {"embedder": arguments.embedder, "queries": arguments.queries, "agent": "netops"}
    print(save(f"recall{suffix}", configuration, figures))


if __name__ == "__main__":
    main()
