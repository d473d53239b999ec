"""Many small writes and many recalls leave a small store with exact counts, without anybody's doing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import bench_growth

    yield bench_growth.measure
    for name in ("bench_growth", "environment"):
        sys.modules.pop(name, None)


def test_writes_and_forty_concurrent_recalls_stay_bounded_and_exact(measure, tmp_path: Path) -> None:
    """The full figures, 1,000 writes and 10,000 recalls, are in benchmarks/results/growth.json."""
    figures = measure(tmp_path, writes=150, recalls=800, threads=40)
    after = figures["after_maintenance"]
    assert after["failures"] == []
    assert max(after["versions"].values()) <= 50
    assert after["ratio"] <= 2
    # without maintenance the writes alone leave 150 versions
    assert figures["writes"]["most_versions"]["memory"] < 100
    assert figures["counts"]["hits"] > 800
    assert figures["counts"]["rows_with_a_wrong_count"] == 0
