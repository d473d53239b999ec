"""What the other processes of the multi-process tests run: `store_child.py ACTION URI …`."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from olav_core.records import MemoryRecord
from olav_core.store.reembed import reembed
from olav_core.store.store import Store


def fact(row_id: str, text: str) -> MemoryRecord:
    return MemoryRecord(id=row_id, text=text, search_text=text, category="fact")


def embed(texts: Sequence[str], dimension: int = 16) -> Any:
    raw = [hashlib.shake_128(text.encode()).digest(dimension) for text in texts]
    return np.stack([np.frombuffer(row, np.uint8) for row in raw]).astype(np.float32) + 1


def ready() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


def race(uri: str, name: str) -> None:
    """Insert the same five keys as every other process, one own, and update one shared row ten times."""
    store = Store.open(uri)
    ready()
    created = 0
    for key in range(5):
        records = [fact(f"fact:{key}", f"text {key}"), fact(f"fact:{name}-{key}", f"own {name} {key}")]
        written = store.upsert(records, np.ones((2, store.dimension)))
        created += sum(item.created for item in written)
    for n in range(10):
        store.log_recall(["fact:shared"], agent=name, query_hash="q", tier="small")
        store.upsert([fact("fact:shared", f"{name} {n}")], np.ones((1, store.dimension)))
        if n % 5 == 4:
            store.fold_access_counts()
    store.close()
    print(json.dumps({"created": created}), flush=True)


def write(uri: str) -> None:
    """Write and acknowledge until killed."""
    store = Store.open(uri)
    for n in range(100_000):
        store.upsert(
            [fact(f"fact:{n}", f"text {n}"), fact("fact:hot", f"hot {n}")], np.ones((2, store.dimension))
        )
        print(n, flush=True)
        if n % 7 == 6:
            store.optimize()


def move(uri: str, target: str, pause: str) -> None:
    """Re-embed slowly, telling every batch."""
    store = Store.open(uri)

    def slow(texts: list[str]) -> Any:
        time.sleep(float(pause))
        return embed(texts)

    report = reembed(
        store, slow, target, batch=20, on_progress=lambda done, total: print("batch", done, total, flush=True)
    )
    print(json.dumps({"embedded": report.embedded, "reused": report.reused}), flush=True)


if __name__ == "__main__":
    {"race": race, "write": write, "move": move}[sys.argv[1]](*sys.argv[2:])
