"""The page beside others: the best is bold, a missing figure is a dash with its reason, a defeat is told."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import comparison


def peer(name: str, zh: float, **more: Any) -> dict[str, Any]:
    golden = {"rows": 2, "recall_at_5": {"zh": zh, "all": zh}, "queries": {"zh": 1, "all": 1}}
    return {"peer": name, "version": f"{name} 1", "cannot": "", "golden": golden, **more}


FIGURES = [
    peer("olav-core", 0.5, speed={"p50_ms": 3.0, "disk_mib": 2.0}),
    peer("other", 0.75, failed="speed: no end after 9 s"),
    peer("third", 0.5, speed={"p50_ms": 9.0, "disk_mib": 1.0}, cannot="forgets"),
]


def test_the_best_is_bold_and_what_is_missing_is_a_dash() -> None:
    head, rows = comparison.quality_table(FIGURES)
    cells = {row[0]: dict(zip(head, row, strict=True)) for row in rows}
    assert cells["other"]["golden, zh"] == "**0.750**"
    assert cells["olav-core"]["golden, zh"] == "0.500"
    assert cells["olav-core"]["recall p50, ms"] == "**3.0**"
    assert cells["other"]["recall p50, ms"] == "–"
    assert cells["third"]["LoCoMo dev"] == "–"


def test_where_another_is_ahead_is_told() -> None:
    told = "\n".join(comparison.beaten(FIGURES))
    assert "golden, zh** (0.500 here): other (0.750)" in told
    assert "disk, MiB** (2.0 here): third (1.0)" in told
    assert "p50" not in told


def test_the_page_has_reasons_and_keeps_what_stands_around_the_tables() -> None:
    text = comparison.write_page({"figures": FIGURES}, "here", lambda head, rows: str(rows))
    assert "no end after 9 s" in text
    assert "forgets" in text
    assert "How it is measured" in text
    assert comparison.write_page({"figures": FIGURES}, "here", lambda head, rows: str(rows)) == text
