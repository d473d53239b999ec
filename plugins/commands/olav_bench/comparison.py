"""Comparing reports query by query: paired differences, their intervals and significance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from olav_bench.statistics import holm, paired
from olav_core import RecordError

METRICS = ("R@1", "R@5", "R@10", "all@5", "MRR@10", "nDCG@10")
#: Below this p, adjusted for the number of metrics compared, a difference is called significant.
ALPHA = 0.05


def compare_reports(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return, per metric, the paired difference after - before over the queries that both reports have.

    Rankings first, then what the tiers of both injected. `p_adjusted` is Holm's, over all rows;
    `significant` is p_adjusted < ALPHA. Raises RecordError for reports of different data, unit or pool.
    """
    shared = [qid for qid in before["per_query"] if qid in after["per_query"]]
    if not shared:
        raise RecordError("The two reports share no query: they are of different data.")
    for part in ("unit", "pool"):
        if before[part] != after[part]:
            raise RecordError(
                f"The two reports have another {part}, {before[part]!r} and {after[part]!r}: their figures "
                "mean different things. Run both on the same suite."
            )
    names = before["metric_names"]
    rows = []
    for metric in (*METRICS, *(name for name in names if "/" in name and name in after["metric_names"])):
        both = [
            (before["per_query"][qid][metric], after["per_query"][qid][metric])
            for qid in shared
            if metric in before["per_query"][qid] and metric in after["per_query"][qid]
        ]
        if both:
            rows.append(
                {
                    "name": after["configuration"]["name"],
                    "against": before["configuration"]["name"],
                    "metric": metric,
                    "metric_name": names[metric],
                    "n": len(both),
                    **paired([pair[0] for pair in both], [pair[1] for pair in both]),
                }
            )
    for row, adjusted in zip(rows, holm([row["p"] for row in rows]), strict=True):
        row |= {"p_adjusted": adjusted, "significant": adjusted < ALPHA}
    return rows


def pairs(
    before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the runs of two report files that belong together: by name where names are shared and there are
    several, else the first of `before` with every one of `after`."""
    named = {run["configuration"]["name"]: run for run in before}
    shared = [(named[name], run) for run in after if (name := run["configuration"]["name"]) in named]
    return shared if len(before) > 1 and shared else [(before[0], run) for run in after]
