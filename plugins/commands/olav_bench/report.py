"""Reports of a run: one JSON object, tables for a terminal, Markdown for a README."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from attrs import asdict

from olav_bench import metrics
from olav_bench.running import Answer, Configuration
from olav_core import Suite

if TYPE_CHECKING:
    from rich.table import Table

SHOWN = ("R@1", "R@5", "R@10", "all@5", "MRR@10", "nDCG@10")


def report(suite: Suite, configuration: Configuration, answers: Sequence[Answer]) -> dict[str, Any]:
    """Return everything measured, with the configuration, versions and raw rankings."""
    values = metrics.retrieval(suite, answers)
    return {
        "suite": suite.id,
        "unit": suite.unit,
        "pool": suite.pool,
        "memories": len(suite.memories),
        "queries": len(suite.queries),
        "configuration": {"name": configuration.name, **asdict(configuration)},
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("olav-core", "lancedb", "tantivy", "onnxruntime")},
        },
        "retrieval": {name: metrics.summary(values, qids) for name, qids in metrics.groups(suite).items()},
        "injection": {tier: metrics.injection(suite, answers, tier) for tier in configuration.tiers},
        "leaks": sum(len(answer.leaks) for answer in answers),
        "leaking_queries": [answer.qid for answer in answers if answer.leaks],
        "degraded": sorted({line for answer in answers for line in answer.degraded}),
        "latency": metrics.latency(answers),
        "per_query": values,
        "rankings": {answer.qid: list(answer.ranked) for answer in answers},
    }


def value(found: Mapping[str, Any], metric: str) -> float:
    """Return one figure by its name: `R@5`, `kind:typo/R@5`, `large/block_precision`, `leaks`.

    Raises KeyError for a name that the report does not have.
    """
    group, _, name = metric.rpartition("/")
    if metric == "leaks":
        return float(found["leaks"])
    if group in found["injection"]:
        return float(found["injection"][group][name])
    return float(found["retrieval"][group or "all"][name]["mean"])


def tables(found: Mapping[str, Any]) -> list[Table | str]:
    """Return what a terminal shows."""
    from rich.table import Table

    heading = (
        f"{found['suite']}: {found['memories']} memories, {found['queries']} queries, "
        f"{found['configuration']['name']}; unit {found['unit']}, pool {found['pool']}"
    )
    ranked = Table("queries", "n", *SHOWN, box=None, title="Ranking", title_justify="left")
    for name, group in found["retrieval"].items():
        ranked.add_row(name, str(group["n"]), *(_cell(group.get(metric)) for metric in SHOWN))
    injected = Table(
        "tier", "block precision", "relevant injected", "rows per negative", "negatives with any",
        "tokens p50 / p95",
        box=None, title="Injection", title_justify="left",
    )  # fmt: skip
    for tier, row in found["injection"].items():
        injected.add_row(
            tier,
            f"{row['block_precision']:.3f}",
            f"{row['relevant_injected_share']:.3f}",
            f"{row['rows_injected_per_negative']:.2f}",
            f"{row['negatives_with_any_row']:.3f}",
            f"{row['tokens_p50']:.0f} / {row['tokens_p95']:.0f}",
        )
    total = found["latency"].get("total", {})
    last = (
        f"scope leaks {found['leaks']} · recall p50 {total.get('p50_ms', 0):.1f} ms, "
        f"p95 {total.get('p95_ms', 0):.1f} ms"
    )
    return [heading, ranked, injected, last]


def markdown(found: Mapping[str, Any]) -> str:
    """Return the ranking table for a README."""
    head = f"| {found['suite']}, {found['configuration']['name']} | n | " + " | ".join(SHOWN) + " |"
    lines = [head, "|---" * (len(SHOWN) + 2) + "|"]
    for name, group in found["retrieval"].items():
        cells = " | ".join(_cell(group.get(metric)) for metric in SHOWN)
        lines.append(f"| {name} | {group['n']} | {cells} |")
    return "\n".join(lines)


def _cell(figure: Mapping[str, float] | None) -> str:
    return "–" if figure is None else f"{figure['mean']:.3f} [{figure['low']:.2f}–{figure['high']:.2f}]"
