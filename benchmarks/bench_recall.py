"""Recall latency by stage at several store sizes, beside the flat numpy scan.

    python benchmarks/bench_recall.py --rows 1000 10000 100000

The store is written through the product; embedder `hashing` at 384 dimensions stands in for the model, since
what is measured is everything beyond the embedding (`--embedder e5` measures with it). The numpy scan over
as many vectors, best 13 of all rows, is taken in the same run: the physical reference.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
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
WRITES = 15


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


def rss_mib() -> int:
    """Return the memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20)


def numpy_scan(rows: int, repeats: int) -> dict[str, float]:
    random = np.random.default_rng(5)
    matrix = random.standard_normal((rows, DIMENSION), dtype=np.float32)
    query = random.standard_normal(DIMENSION, dtype=np.float32)

    def scan() -> None:
        scores = matrix @ query
        best = np.argpartition(-scores, 13)[:13]
        best[np.argsort(-scores[best])]

    return timed(scan, repeats)


def child(step: str, folder: str, rows: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """Run one step in a process of its own and return what it found."""
    options = ["--rows", str(rows), "--queries", str(arguments.queries), "--embedder", arguments.embedder]
    command = [sys.executable, __file__, *options, step, folder]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def write(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Fill a new workspace."""
    (rows,) = arguments.rows
    options = {"dimension": DIMENSION} if arguments.embedder == "hashing" else {}
    with olav_core.init(folder, embedder=arguments.embedder, options=options) as memory:
        began = time.perf_counter()
        outcomes = memory.remember_many(drafts(rows))
        seconds = time.perf_counter() - began
        failed = sum(outcome.error is not None for outcome in outcomes)
        began = time.perf_counter()
        memory.recall("build the index", agent="netops")
        built = time.perf_counter() - began
        memory.optimize()
    return {"refused": failed, "written_rows_per_s": round(rows / seconds), "index_build_s": round(built, 2)}


def measure(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Open the workspace cold and ask it."""
    (rows,), count = arguments.rows, arguments.queries
    asked = queries(count + WARM)
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
        resident = rss_mib()
        caught_up = []
        for n in range(WRITES):
            memory.remember(f"new row {n} that the index has to take up", scope="netops")
            began = time.perf_counter()
            memory.recall(f"new row {n}", agent="netops", log=False)
            caught_up.append(time.perf_counter() - began)
    return {
        "cold_open_s": round(opened, 3),
        "recall_after_one_write": percentiles(caught_up),
        "recall": tiers,
        "numpy_scan": numpy_scan(rows, count),
        "rss_mib": resident,
        "peak_rss_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "load_average": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--embedder", default="hashing")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)  # the child that fills a store
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)  # and the one that asks it
    arguments = parser.parse_args()
    if arguments.write or arguments.measure:
        step = write if arguments.write else measure
        found = step(arguments.write or arguments.measure, arguments)
        print(json.dumps(found))
        return
    figures = []
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory() as folder:
            # Processes of their own: what one leaves in memory is not the other's.
            written, asked = (child(step, folder, rows, arguments) for step in ("--write", "--measure"))
            figures.append({"rows": rows, **written, **asked})
        print(figures[-1])
    suffix = "" if arguments.embedder == "hashing" else f"-{arguments.embedder}"
    configuration = {"embedder": arguments.embedder, "queries": arguments.queries, "agent": "netops"}
    print(save(f"recall{suffix}", configuration, figures))


if __name__ == "__main__":
    main()
