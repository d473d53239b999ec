"""How the cost of a recall grows with rows, candidates, categories and K; a plot of it.

    python benchmarks/bench_cost.py            # measures, writes results/cost.json and results/cost.svg
    python benchmarks/bench_cost.py --plot     # only draws results/cost.json anew

Drawing needs the extra `bench`. One thing varies at a time; the others stay at 10,000 rows, 24 candidates a
category, 9 categories, K=13.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import generator
import numpy as np
from environment import RESULTS, save

import olav_core

ROWS = (1_000, 3_000, 10_000, 30_000, 100_000)
CANDIDATES = (4, 8, 16, 24, 48, 96, 192)
CATEGORIES = (1, 2, 4, 6, 9)
LIMITS = (1, 2, 4, 8, 13, 26, 50)
FIXED_ROWS = 10_000
WARM = 15
QUERIES = 80


def p50(memory: olav_core.Memory, limit: int = 13) -> float:
    """Return the median recall beyond the embedding, ms."""
    taken = []
    for i, query in enumerate(generator.queries(WARM + QUERIES)):
        memory.embedder.query(query)
        recall = memory.recall(query, agent="netops", tier="large", limit=limit, log=False)
        if i >= WARM:
            taken.append(recall.timings_ms["total"] - recall.timings_ms["embed_wait"])
    return round(float(np.median(taken)), 3)


def filled(folder: str, rows: int, categories: Sequence[str] | None = None) -> Path:
    """Return a new workspace of `rows` memories."""
    path = Path(folder) / f"{rows}-{len(categories or ())}"
    drafts: Iterator[olav_core.Draft] = generator.drafts(rows)
    if categories:
        wanted, chosen = rows * 4, set(categories)
        drafts = (draft for draft in generator.drafts(wanted) if draft.category in chosen)
    with olav_core.init(path, embedder="hashing", options={"dimension": 384}) as memory:
        memory.remember_many([draft for draft, _ in zip(drafts, range(rows), strict=False)])
        memory.optimize()
    time.sleep(3)  # a store that is being written to is asked anew at each recall
    return path


def measure() -> dict[str, list[tuple[int, float]]]:
    figures: dict[str, list[tuple[int, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        figures["rows"] = []
        for rows in ROWS:
            with olav_core.open(filled(folder, rows)) as memory:
                figures["rows"].append((rows, p50(memory)))
                if rows == FIXED_ROWS:
                    figures["K"] = [(limit, p50(memory, limit)) for limit in LIMITS]
        figures["candidates a category"] = []
        variable = "OLAV_RECALL_CANDIDATES_PER_CATEGORY"
        for count in CANDIDATES:
            os.environ[variable] = str(count)
            with olav_core.open(Path(folder) / f"{FIXED_ROWS}-0") as memory:
                figures["candidates a category"].append((count, p50(memory, limit=2)))
        del os.environ[variable]
        figures["categories"] = []
        for count in CATEGORIES:
            with olav_core.open(filled(folder, FIXED_ROWS, list(generator.SHARES)[:count])) as memory:
                figures["categories"].append((count, p50(memory)))
    return figures


def plot(result: dict[str, Any]) -> Path:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "olav"
    figure, axes = pyplot.subplots(1, 4, figsize=(14, 3.2), layout="constrained")
    for axis, (name, points) in zip(axes, result["figures"].items(), strict=True):
        x, y = zip(*points, strict=True)
        axis.plot(x, y, marker="o", color="#1f6f8b")
        axis.set(xlabel=name, ylabel="ms", ylim=(0, max(y) * 1.15))
        if max(x) / min(x) > 20:
            axis.set_xscale("log")
        axis.grid(alpha=0.3)
    figure.suptitle("Recall beyond the embedding, p50 (one thing varies, the others stay)")
    path = RESULTS / "cost.svg"
    figure.savefig(path, metadata={"Date": None})
    return path


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--plot", action="store_true", help="only draw results/cost.json anew")
    arguments = parser.parse_args()
    if not arguments.plot:
        configuration = {"rows": FIXED_ROWS, "k": 13, "candidates_per_category": 24, "embedder": "hashing"}
        print(save("cost", configuration, measure()))
    print(plot(json.loads((RESULTS / "cost.json").read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
