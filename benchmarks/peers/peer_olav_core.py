"""olav-core: the whole recall, with categories, gates, quotas, trace and the rendered block."""

from __future__ import annotations

import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from dataset import latency, read, report
from generator import drafts

import olav_core

#: Seconds after which a store that was written counts as at rest, as every other peer's is.
SETTLED = 3


def main() -> None:
    data = read(Path(sys.argv[1]))
    options = {"dimension": data.vectors.shape[1]}
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        with olav_core.init(folder, embedder="hashing", options=options) as memory:
            memory.remember_many(drafts(len(data.texts)))
            memory.optimize()
        build = time.perf_counter() - began
        time.sleep(SETTLED)
        with olav_core.open(folder) as memory:
            for query in data.queries:
                memory.embedder.query(query)  # kept: embedding is left out, as it is for every peer

            def ask(query: str, vector: np.ndarray, limit: int) -> Any:
                del vector
                tier = "small" if limit == 1 else "large"
                return memory.recall(query, agent="netops", tier=tier, limit=limit).items

            report("olav-core", version("olav-core"), build, latency(ask, data))


if __name__ == "__main__":
    main()
