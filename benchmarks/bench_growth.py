"""Growth: single writes, then concurrent recalls with access counts, maintenance running by itself.

python benchmarks/bench_growth.py [--writes 1000] [--recalls 10000] [--threads 40]
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from environment import save

import olav_core
from olav_core.store import tables

DIMENSION = 384
#: Categories that recall injects without a gate, so that every recall counts.
CATEGORIES = ("fact", "decision", "preference", "usage_guide")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--writes", type=int, default=1_000)
    parser.add_argument("--recalls", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=40)
    options = vars(parser.parse_args())
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), **options)
    print(figures)
    configuration = {**options, "embedder": f"hashing, {DIMENSION} dimensions", "maintain_after": 32}
    print(save("growth", configuration, figures))


def measure(folder: Path, *, writes: int, recalls: int, threads: int) -> dict[str, Any]:
    """Return versions, files and bytes after each phase, and whether every count is exact."""
    figures: dict[str, Any] = {}
    shown: Counter[str] = Counter()
    counting = threading.Lock()
    with olav_core.init(folder, embedder="hashing", options={"dimension": DIMENSION}) as memory:
        table = memory.workspace.database

        def write() -> None:
            for n in range(writes):
                memory.remember(
                    f"interface xe-0/0/{n} of router r{n % 97} was moved to vlan {n % 53}", category="fact"
                )

        def recall(n: int) -> None:
            found = memory.recall(f"which vlan has xe-0/0/{n % writes} of r{n % 97}?", tier="large")
            with counting:
                shown.update(item.id for item in found.items)

        def recall_all() -> None:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(recall, range(recalls)))

        figures["writes"] = phase(table, write)
        figures["recalls"] = phase(table, recall_all)
    with olav_core.open(folder) as memory:
        report = memory.optimize()
        counts = {record.id: record.access_count for record in memory.list()}
        rows = len(counts)
    wrong = sum(counts[identifier] != shown[identifier] for identifier in counts)
    live = live_bytes(table, folder / "live")
    size = total_bytes(table)
    figures["after_maintenance"] = {
        "versions": versions(table),
        "files": files(table),
        "bytes": size,
        "live_bytes": live,
        "ratio": round(size / live, 3),
        "failures": list(report.failures),
    }
    figures["counts"] = {"rows": rows, "hits": sum(shown.values()), "rows_with_a_wrong_count": wrong}
    return figures


def phase(table: Path, action: Callable[[], None]) -> dict[str, Any]:
    """Run the action, watching how many versions any table has meanwhile."""
    most: Counter[str] = Counter()
    largest = 0
    done = threading.Event()

    def watch() -> None:
        nonlocal largest
        while not done.wait(0.05):
            for name, count in versions(table).items():
                most[name] = max(most[name], count)
            largest = max(largest, total_bytes(table))

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.perf_counter()
    action()
    seconds = time.perf_counter() - began
    done.set()
    watcher.join()
    return {"seconds": round(seconds, 1), "most_versions": dict(most), "most_bytes": largest}


def versions(table: Path) -> dict[str, int]:
    return {
        path.parent.stem: sum(1 for _ in path.glob("*.manifest"))
        for path in sorted(table.glob("*/_versions"))
    }


def files(table: Path) -> int:
    return sum(1 for path in table.rglob("*") if path.is_file())


def total_bytes(table: Path) -> int:
    size = 0
    for path in table.rglob("*"):
        try:
            size += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:  # cleaned up meanwhile
            continue
    return size


def live_bytes(table: Path, copy: Path) -> int:
    """Return what the rows of every table take when each is written once."""
    source, target = tables.connect(str(table)), tables.connect(str(copy))
    for name in tables.table_names(source):
        rows = source.open_table(name).to_arrow()
        tables.create(target, name, rows.schema).add(rows)
    size = total_bytes(copy)
    shutil.rmtree(copy)
    return size


if __name__ == "__main__":
    main()
