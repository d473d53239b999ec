"""A report as Markdown, for a README."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from olav_bench.tables import COLUMNS, SHOWN, cell, injection_rows


def markdown(found: Mapping[str, Any]) -> str:
    """Return the figures for a README."""
    name = found["configuration"]["name"]
    head = f"| {found['suite']}, {name} | n | " + " | ".join(SHOWN.values()) + " |"
    lines = [f"Unit: {found['unit']}. Pool: {found['pool']}. Mean, 95% bootstrap interval.", ""]
    lines += [head, "|---" * (len(SHOWN) + 2) + "|"]
    for group, row in found["retrieval"].items():
        lines.append(f"| {group} | {row['n']} | " + " | ".join(cell(row[key]) for key in SHOWN) + " |")
    columns = ["tier", "K", *COLUMNS.values(), "tokens p50 / p95"]
    lines += ["", "| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in injection_rows(found)]
    total = found["latency"].get("total", {})
    lines += ["", f"Scope leaks: {found['leaks']}. Recall, its embedding included: p50 "]
    lines[-1] += f"{total.get('p50_ms', 0):.1f} ms, p95 {total.get('p95_ms', 0):.1f} ms."
    return "\n".join(lines)
