"""Recall latency by stage at several store sizes, beside the flat numpy scan.

    python benchmarks/bench_recall.py --rows 1000 10000 100000
    python benchmarks/bench_recall.py --rows 300000 1000000 --name recall-large

The store is written through the product; embedder `hashing` at 384 dimensions stands in for the model, since
what is measured is everything beyond the embedding (`--embedder e5` measures with it). The numpy scan over
as many vectors, best 13 of all rows, is taken in the same run: the physical reference.

Above 50,000 rows the rest are near copies of those (copies.py). Above `recall.resident_rows` the nearest 10
of a shortlist are compared with the nearest 10 of all rows, by exact vectors. `--keep DIR` keeps the stores,
and uses those that it finds there. `--priority` asks the system not to interrupt the queries (needs a right).
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

import copies
import numpy as np
from environment import save
from generator import queries

import olav_core
from olav_core import query_terms
from olav_core.index import scan
from olav_core.index.shortlist import shortlist
from olav_core.text.language import language_of

DIMENSION = 384
#: As those of e5 are kept on: the default chain compares token vectors.
TOKEN_DIMENSION = 128
WARM = 20
WRITES = 15
#: Rows changed at once, to see what one of many costs.
BATCH = 500
#: Vectors of the numpy scan, at most: 1.5 GB.
LARGEST_SCAN = 1_000_000


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


def memory_mib() -> dict[str, int]:
    """Return the memory of its own and the file pages that this process has mapped now."""
    lines = Path("/proc/self/status").read_text().splitlines()
    found = {name: int(rest.split()[0]) >> 10 for name, _, rest in (line.partition(":") for line in lines)
             if name in ("RssAnon", "RssFile", "RssShmem", "VmHWM")}  # fmt: skip
    return {"own": found["RssAnon"] + found["RssShmem"], "files": found["RssFile"], "peak": found["VmHWM"]}


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
    options += ["--priority"] if arguments.priority else []
    command = [sys.executable, __file__, *options, step, folder]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def write(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Fill a new workspace."""
    (rows,) = arguments.rows
    options = {"dimension": DIMENSION, "tokens": TOKEN_DIMENSION} if arguments.embedder == "hashing" else {}
    with olav_core.init(folder, embedder=arguments.embedder, options=options) as memory:
        seconds, written = copies.fill(memory, rows)
        memory.store.optimize()
        began = time.perf_counter()
        memory.recall("build the index", agent="netops")
        built = time.perf_counter() - began
        memory.optimize()
    refused = min(rows, copies.WRITTEN) - written
    return {
        "refused": refused,
        "written_rows_per_s": round(written / seconds),
        "index_build_s": round(built, 2),
        "disk_mib": copies.size_on_disk(folder) >> 20,
    }


def recall_at_10(memory: olav_core.Memory, asked: list[str]) -> float | None:
    """Return the share of the 10 nearest of all rows in scope that a shortlist of them brings; None below
    `recall.resident_rows`, where every row is compared."""
    pool = memory.index.pool(("netops", "global"), now=time.time())
    if not pool.approximate:
        return None
    vectors = np.stack([memory.index.center_query(memory.embedder.query(q), language_of(q)) for q in asked])
    exact = np.empty((len(asked), pool.size), dtype=np.float32)
    for start in range(0, pool.size, 8_192):
        rows = np.arange(start, min(start + 8_192, pool.size))
        exact[:, rows] = vectors @ pool.vectors(rows).T
    exact[:, ~pool.eligible] = -2
    shares = []
    for query, vector, scores in zip(asked, vectors, exact, strict=True):
        wanted = {pool.id_of(row) for row in np.argpartition(-scores, 10)[:10]}
        few = shortlist(pool, vector, query_terms(query), query, 26)
        nearest = np.argsort(-few.cosine(vector))[:10]
        shares.append(len(wanted & {few.id_of(row) for row in nearest}) / 10)
    return round(float(np.mean(shares)), 4)


def catch_up(memory: olav_core.Memory) -> dict[str, float]:
    """Return what a sync costs after one row, and after a batch of rows, was changed: ms a row."""
    found = {}
    for count, repeats in ((1, 5), (BATCH, 1)):
        taken = []
        for n in range(repeats):
            memory.remember_many(
                [olav_core.Draft(text=f"changed {count} {n} {i}", category="fact") for i in range(count)]
            )
            began = time.perf_counter()
            memory.index.sync()
            taken.append((time.perf_counter() - began) / count * 1e3)
        found[f"{count}_changed"] = round(float(np.median(taken)), 3)
    return found


def measure(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Open the workspace cold and ask it."""
    (rows,), count = arguments.rows, arguments.queries
    asked = queries(count + WARM)
    with olav_core.open(folder) as memory:
        began = time.perf_counter()
        memory.recall("open", agent="netops", log=False)
        opened = time.perf_counter() - began
        kind = "int8" if memory.index.pool(None, now=time.time()).approximate else "float32"
        for query in asked[:WARM]:
            memory.recall(query, agent="netops", tier="large")
        if arguments.priority:
            scan._helpers.cache_clear()  # they inherit it
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
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
        scanned = numpy_scan(min(rows, LARGEST_SCAN), count)
        if arguments.priority:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        resident, held, load = rss_mib(), memory_mib(), round(os.getloadavg()[0], 1)
        caught_up = []
        for n in range(WRITES):
            memory.remember(f"new row {n} that the index has to take up", scope="netops")
            began = time.perf_counter()
            memory.recall(f"new row {n}", agent="netops", log=False)
            caught_up.append(time.perf_counter() - began)
        rest = {
            "recall_at_10": recall_at_10(memory, asked[: min(count, 50)]),
            "catch_up_ms": catch_up(memory),
        }
    return {
        "vectors": kind,
        "cold_open_s": round(opened, 3),
        "recall_after_one_write": percentiles(caught_up),
        "recall": tiers,
        "numpy_scan": scanned,
        **rest,
        "rss_mib": resident,
        "memory_mib": held,
        "peak_rss_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "load_average": load,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--embedder", default="hashing")
    parser.add_argument("--name", default="recall", help="of the result file")
    parser.add_argument("--keep", type=Path, help="a folder for the stores")
    parser.add_argument("--priority", action="store_true", help="run the queries before all other work")
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
        with tempfile.TemporaryDirectory() as place:
            folder = arguments.keep / str(rows) if arguments.keep else Path(place)
            noted = folder / "written.json"
            # Processes of their own: what one leaves in memory is not the other's.
            if not noted.exists():
                folder.mkdir(parents=True, exist_ok=True)
                noted.write_text(json.dumps(child("--write", str(folder), rows, arguments)))
            asked = child("--measure", str(folder), rows, arguments)
            figures.append({"rows": rows, **json.loads(noted.read_text()), **asked})
        print(figures[-1], flush=True)
    suffix = "" if arguments.embedder == "hashing" else f"-{arguments.embedder}"
    configuration = {
        "embedder": arguments.embedder,
        "queries": arguments.queries,
        "agent": "netops",
        "written_by_the_product": copies.WRITTEN,
        "priority": arguments.priority,
    }
    print(save(f"{arguments.name}{suffix}", configuration, figures))


if __name__ == "__main__":
    main()
