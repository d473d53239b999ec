"""Run one peer over corpora: `-m quality.run PEER FOLDER NAME…`. Prints what bench_peer_quality.py reads."""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from quality.corpus import read

DEPTH = 5
#: Unmeasured queries before the measured ones, and how many are timed at most.
WARM, TIMED = 20, 100


def main() -> None:
    peer = importlib.import_module(f"quality.{sys.argv[1]}")
    corpora, vectors = read(Path(sys.argv[2]))
    tell({"peer": peer.NAME, "version": peer.version(), "cannot": peer.CANNOT})
    for name in sys.argv[3:]:
        corpus = corpora[name]
        with tempfile.TemporaryDirectory(prefix="olav-peer-") as folder:
            tell({name: measure(peer, corpus, vectors, Path(folder))})


def tell(part: dict[str, Any]) -> None:
    """Print a part of the result at once: what came before an end without patience counts."""
    sys.stdout.write("\nRESULT " + json.dumps(part) + "\n")
    sys.stdout.flush()


def measure(peer: Any, corpus: dict[str, Any], vectors: Any, folder: Path) -> dict[str, Any]:
    rows, queries = corpus["rows"], corpus["queries"]
    began, cpu = time.perf_counter(), time.process_time()
    store = peer.Store(folder, vectors)
    store.add(rows)
    ingest, ingest_cpu = time.perf_counter() - began, time.process_time() - cpu
    for query in queries[:WARM]:
        store.ask(query["query"], tuple(query["scopes"]), DEPTH)
    found: dict[str, list[float]] = {}
    #: What the product does for an agent, where that is more than to rank.
    recall = getattr(store, "recall", store.ask)
    taken, taken_cpu = [], []
    for query in queries[-TIMED:]:
        began, cpu = time.perf_counter(), time.process_time()
        recall(query["query"], tuple(query["scopes"]), DEPTH)
        taken.append(time.perf_counter() - began)
        taken_cpu.append(time.process_time() - cpu)
    for query in queries:
        answer = list(dict.fromkeys(store.ask(query["query"], tuple(query["scopes"]), DEPTH)))[:DEPTH]
        relevant = set(query["relevant"])
        if relevant:
            share = len(relevant.intersection(answer)) / len(relevant)
            for group in ("all", query["group"]):
                found.setdefault(group, []).append(share)
    store.close()
    p50, p95 = np.percentile(np.array(taken) * 1e3, [50, 95])
    return {
        "rows": len(rows),
        "ingest_per_s": round(len(rows) / ingest, 1),
        "ingest_per_cpu_s": round(len(rows) / ingest_cpu, 1),
        "p50_ms": round(float(p50), 2),
        "p95_ms": round(float(p95), 2),
        "cpu_ms": round(float(np.mean(taken_cpu)) * 1e3, 2),
        "recall_at_5": {group: round(sum(shares) / len(shares), 4) for group, shares in found.items()},
        "queries": {group: len(shares) for group, shares in found.items()},
        "peak_rss_mib": peak_rss(),
        "disk_mib": round(disk(folder) / 2**20, 1),
    }


def peak_rss() -> int:
    """Return MiB. Not ru_maxrss: that begins with what the parent held when it forked."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) // 1024
    return 0


def disk(folder: Path) -> int:
    files = (Path(base, name) for base, _, names in os.walk(folder) for name in names)
    return sum(file.lstat().st_size for file in files)


if __name__ == "__main__":
    main()
