"""What every peer is given: texts, scopes and vectors, precomputed, and queries with their vectors."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

#: Unmeasured queries before the measured ones.
WARM = 20


@frozen
class Dataset:
    """`vectors` float32 [rows, d] and `query_vectors` float32 [queries, d], unit rows."""

    texts: list[str]
    scopes: list[str]
    categories: list[str]
    vectors: np.ndarray
    queries: list[str]
    query_vectors: np.ndarray
    scope: tuple[str, ...]
    limits: tuple[int, ...]


def write(folder: Path, data: Dataset) -> None:
    np.savez(folder / "vectors.npz", vectors=data.vectors, query_vectors=data.query_vectors)
    names = ("texts", "scopes", "categories", "queries", "scope", "limits")
    rest = {name: getattr(data, name) for name in names}
    (folder / "rows.json").write_text(json.dumps(rest, ensure_ascii=False), encoding="utf-8")


def read(folder: Path) -> Dataset:
    with np.load(folder / "vectors.npz") as file:
        arrays = {name: file[name] for name in file.files}
    rest = json.loads((folder / "rows.json").read_text(encoding="utf-8"))
    rest |= {"scope": tuple(rest["scope"]), "limits": tuple(rest["limits"])}
    return Dataset(**rest, **arrays)


def latency(ask: Callable[[str, np.ndarray, int], Any], data: Dataset) -> dict[str, dict[str, float]]:
    """Return p50 and p95 in ms by limit of `ask(query, its vector, limit)`."""
    found = {}
    for limit in data.limits:
        taken = []
        for i, (query, vector) in enumerate(zip(data.queries, data.query_vectors, strict=True)):
            began = time.perf_counter()
            ask(query, vector, limit)
            if i >= WARM:
                taken.append(time.perf_counter() - began)
        p50, p95 = np.percentile(np.array(taken) * 1e3, [50, 95])
        found[f"k{limit}"] = {"p50_ms": round(float(p50), 3), "p95_ms": round(float(p95), 3)}
    return found


def report(what: str, version: str, build: float, found: dict[str, Any]) -> None:
    """Print the one line that bench_peers.py reads."""
    result = {"peer": what, "version": version, "build_s": round(build, 2), **found}
    sys.stdout.write("\nRESULT " + json.dumps(result) + "\n")
