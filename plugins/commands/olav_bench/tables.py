"""A report for a person: tables of a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

#: Key of a metric -> its heading.
SHOWN: Mapping[str, str] = {
    "R@1": "R@1 share",
    "R@5": "R@5 share",
    "R@10": "R@10 share",
    "hit@5": "R@5 any",
    "all@5": "R@5 all",
    "MRR@10": "MRR@10",
    "nDCG@10": "nDCG@10",
}


def tables(found: Mapping[str, Any]) -> list[Table | str]:
    """Return what a terminal shows."""
    from rich.table import Table

    ranked = Table(box=None, title="Ranking, mean [95% interval]", title_justify="left")
    ranked.add_column("queries", no_wrap=True)
    for name in ("n", *SHOWN.values()):
        ranked.add_column(name, justify="right", no_wrap=True)
    for name, group in found["retrieval"].items():
        cells = (cell(group[key]) if key in _WITH_INTERVAL else f"{group[key]['mean']:.3f}" for key in SHOWN)
        ranked.add_row(name, str(group["n"]), *cells)
    return [
        heading(found),
        ranked,
        _injection(found),
        *_negatives(found),
        _latency(found),
        *last_lines(found),
    ]


def heading(found: Mapping[str, Any]) -> str:
    """Return what was measured, in a line."""
    return (
        f"{found['suite']}: {found['memories']} memories, {found['queries']} queries, "
        f"{found['configuration']['name']}; unit {found['unit']}, pool {found['pool']}"
    )


def last_lines(found: Mapping[str, Any]) -> list[str]:
    """Return the sentences below the tables: leaks, and what went wrong."""
    lines = [f"scope leaks: {found['leaks']}"]
    if found["leaks"]:
        lines[0] += f" in {', '.join(found['leaking_queries'][:10])}"
    if found["expired_memories"]:
        lines.append(f"{found['expired_memories']} memories had expired and could not be recalled.")
    lines += [f"fitted: {line}" for line in found["fitted"]]
    return lines + [f"degraded: {line}" for line in found["degraded"]]


def cell(figure: Mapping[str, float] | None) -> str:
    """Return `mean [low–high]`."""
    if figure is None:
        return "–"
    return f"{figure['mean']:.3f} [{figure['low']:.2f}–{figure['high']:.2f}]"


#: The one whose interval a terminal has room for; the report has all.
_WITH_INTERVAL = "R@5"
#: Key of a tier's figure -> its heading.
COLUMNS = {
    "block_precision": "block precision",
    "relevant_injected_share": "relevant injected",
    "rows_injected_per_negative": "rows per negative",
    "negatives_with_any_row": "negatives with any",
}


def injection_rows(found: Mapping[str, Any]) -> list[list[str]]:
    """Return the cells of the table of tiers."""
    return [
        [
            tier,
            str(row["k"]),
            *("–" if row[key] is None else f"{row[key]:.3f}" for key in COLUMNS),
            f"{row['tokens_p50']:.0f} / {row['tokens_p95']:.0f}",
        ]
        for tier, row in found["injection"].items()
    ]


def _injection(found: Mapping[str, Any]) -> Table:
    from rich.table import Table

    columns = ("tier", "K", *COLUMNS.values(), "tokens p50 / p95")
    table = Table(*columns, box=None, title="Injection", title_justify="left")
    for row in injection_rows(found):
        table.add_row(*row)
    return table


def _negatives(found: Mapping[str, Any]) -> list[Table]:
    """Return, per category, what off-topic queries got and what its gates and quota did, at the last tier."""
    from rich.table import Table

    if not found["injection"]:
        return []
    tier, row = list(found["injection"].items())[-1]
    per_negative, any_row = "rows_injected_per_negative_by_category", "negatives_with_any_row_by_category"
    names = sorted({*row[per_negative], *row["gates"], *row["quota_starvation"]["queries"]})
    table = Table(
        "category", "rows per negative", "negatives with any", "gate: relevant kept/dropped",
        "others kept/dropped", "starved queries",
        box=None, title=f"By category, tier {tier}", title_justify="left",
    )  # fmt: skip
    for name in names:
        gate = row["gates"].get(name)
        table.add_row(
            name,
            f"{row[per_negative].get(name, 0):.3f}",
            f"{row[any_row].get(name, 0):.3f}",
            f"{gate['relevant_kept']}/{gate['relevant_dropped']}" if gate else "no gate",
            f"{gate['irrelevant_kept']}/{gate['irrelevant_dropped']}" if gate else "",
            str(row["quota_starvation"]["queries"].get(name, 0)),
        )
    return [table] if names else []


def _latency(found: Mapping[str, Any]) -> Table:
    from rich.table import Table

    title = f"Latency of a recall, tier {found['latency_tier']}, ms"
    table = Table("stage", "p50", "p95", box=None, title=title, title_justify="left")
    for stage, row in found["latency"].items():
        table.add_row(stage, f"{row['p50_ms']:.2f}", f"{row['p95_ms']:.2f}")
    return table
