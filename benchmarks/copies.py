"""A store larger than a benchmark should have to write: real rows, and near copies of them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from generator import drafts

import olav_core

#: Rows written through the product; what lies above is copied from them.
WRITTEN = 50_000
#: Length of the noise that is added to a copy's unit vector: its cosine with the original is about 0.94.
NOISE = 0.35
_BATCH = 10_000


def fill(memory: olav_core.Memory, rows: int) -> tuple[float, int]:
    """Write `rows` memories; return the seconds that the product took for how many of them."""
    made = drafts(min(rows, WRITTEN))
    began, written = time.perf_counter(), 0
    while batch := list(islice(made, _BATCH)):
        written += sum(outcome.error is None for outcome in memory.remember_many(batch))
    seconds = time.perf_counter() - began
    table = memory.store.table
    if rows > written:
        original = table.to_arrow()
        for copy in _copies(original, rows - written):
            table.add(copy)
    return seconds, written


def _copies(original: pa.Table, rows: int) -> Iterator[pa.Table]:
    random = np.random.default_rng(11)
    number = 0
    while rows > 0:
        number += 1
        for start in range(0, original.num_rows, _BATCH):
            part = original.slice(start, min(_BATCH, rows)).combine_chunks()
            if part.num_rows:
                yield _copy(part, number, random)
            rows -= part.num_rows


def _copy(part: pa.Table, number: int, random: np.random.Generator) -> pa.Table:
    columns: dict[str, Any] = {name: part.column(name) for name in part.schema.names}
    for name in ("text", "search_text"):
        columns[name] = pa.array([f"{text} ~{number}" for text in part.column(name).to_pylist()])
    columns["id"] = pa.array([_id(id_, number) for id_ in part.column("id").to_pylist()])
    columns["revision"] = pa.array(random.integers(1, 2**62, part.num_rows), pa.int64())
    kind = part.schema.field("vector").type
    vectors = part.column("vector").combine_chunks().flatten().to_numpy().reshape(-1, kind.list_size)
    noise = random.standard_normal(vectors.shape, dtype=np.float32)
    vectors = vectors + noise * np.float32(NOISE / np.sqrt(kind.list_size))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    columns["vector"] = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), kind.list_size)
    return pa.Table.from_arrays([columns[field.name] for field in part.schema], schema=part.schema)


def _id(id_: str, number: int) -> str:
    category, _, _ = id_.rpartition(":")
    return f"{category}:{hashlib.sha256(f'{id_} {number}'.encode()).hexdigest()[:32]}"


def size_on_disk(folder: Path) -> int:
    """Return the bytes of every file below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
