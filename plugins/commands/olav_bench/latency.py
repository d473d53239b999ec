"""Latency of recall by stage, the query's embedding included."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from olav_bench.answer import Answer


def latency(answers: Sequence[Answer]) -> dict[str, dict[str, float]]:
    """Return stage -> {p50_ms, p95_ms} of each query's first recall. `total` is the whole recall; `embed`
    runs beside the lexical leg, `embed_wait` is what the recall waited for it."""
    import numpy as np

    stages: dict[str, list[float]] = defaultdict(list)
    for answer in answers:
        for stage, value in answer.timings_ms.items():
            stages[stage].append(value)
    return {
        stage: {
            "p50_ms": round(float(np.percentile(values, 50)), 3),
            "p95_ms": round(float(np.percentile(values, 95)), 3),
        }
        for stage, values in stages.items()
    }
