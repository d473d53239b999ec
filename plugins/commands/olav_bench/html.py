"""The report as one HTML file: no outside request, plots inline, readable on paper and in the dark."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from olav_bench.plots import bars, forest, mean_of, whiskers_of
from olav_bench.retrieval import MEANINGS
from olav_bench.tables import last_lines
from olav_core import OlavError

Runs = Sequence[Mapping[str, Any]]
_SHOWN = ("R@1", "R@5", "R@10", "hit@5", "all@5", "MRR@10", "nDCG@10")
_STAGES_BY = "p50_ms"


def page(runs: Runs, comparisons: Sequence[Mapping[str, Any]]) -> str:
    """Return the page of a report's runs and their comparisons."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise OlavError("--html needs the extra `bench`: pip install 'olav-core[bench]'.") from error
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.get_template("report.html.jinja").render(
        runs=runs,
        first=runs[0],
        shown={key: MEANINGS[key] for key in _SHOWN},
        plots=_plots(runs, comparisons),
        comparisons=comparisons,
        remarks=[(_name(run), line) for run in runs for line in last_lines(run)],
        configurations=[
            (_name(run), json.dumps(run["configuration"], ensure_ascii=False, indent=2)) for run in runs
        ],
        tiers=list(runs[0]["injection"]),
    )


def _plots(runs: Runs, comparisons: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """Return (title, what it shows, SVG) of every plot that has something to show."""
    groups = list(runs[0]["retrieval"])
    found = []
    if "all" in groups:
        where = f"unit {runs[0]['unit']}; pool {runs[0]['pool']}"
        found.append(("Ranking", f"Mean over queries with 95% bootstrap interval; {where}.", _ranking(runs)))
    for prefix, title in (
        ("lang:", "By pair of languages"),
        ("kind:", "By kind"),
        ("category:", "By category"),
    ):
        names = [name for name in groups if name.startswith(prefix)]
        if names:
            about = "nDCG@10; n in brackets"
            about += "; language of the query → that of its memories." if prefix == "lang:" else "."
            found.append((title, about, _by_group(runs, names, prefix)))
    if runs[0]["injection"]:
        found += _injection(runs)
    if comparisons:
        several = len(runs) > 2
        labels = [_metric(row) + (f" · {row['name']}" if several else "") for row in comparisons]
        rows = [(row["difference"], row["low"], row["high"], row["significant"]) for row in comparisons]
        about = "Paired difference over the same queries, 95% interval; blue: significant after Holm."
        others = ", ".join(dict.fromkeys(str(row["name"]) for row in comparisons))
        found.append((f"{others} against {_name(runs[0])}", about, forest(labels, rows, unit="difference")))
    stages = [stage for stage in runs[0]["latency"] if stage != "total"]
    about = f"Median milliseconds per stage, tier {runs[0]['latency_tier']}; embed runs beside other stages."
    series = {_name(run): [_stage(run, stage) for stage in [*stages, "total"]] for run in runs}
    return [*found, ("Latency", about, bars([*stages, "total"], series, unit="ms, p50", top=None))]


def _metric(row: Mapping[str, Any]) -> str:
    return str(row["metric"]).replace("_", " ").replace("/", ": ")


def _name(run: Mapping[str, Any]) -> str:
    return str(run["configuration"]["name"])


def _stage(run: Mapping[str, Any], stage: str) -> float | None:
    return run["latency"][stage][_STAGES_BY] if stage in run["latency"] else None


def _ranking(runs: Runs) -> str:
    figures = {_name(run): [run["retrieval"]["all"][key] for key in _SHOWN] for run in runs}
    return bars(
        [MEANINGS[key].replace(" of the relevant", "").partition(",")[0] for key in _SHOWN],
        {name: [mean_of(each) for each in row] for name, row in figures.items()},
        errors={name: [whiskers_of(each) for each in row] for name, row in figures.items()},
    )


def _by_group(runs: Runs, names: Sequence[str], prefix: str) -> str:
    figures = {_name(run): [run["retrieval"].get(name, {}).get("nDCG@10") for name in names] for run in runs}
    labels = [
        f"{name.removeprefix(prefix).replace('->', ' → ')} ({runs[0]['retrieval'][name]['n']})"
        for name in names
    ]
    return bars(
        labels,
        {name: [mean_of(each) for each in row] for name, row in figures.items()},
        errors={name: [whiskers_of(each) for each in row] for name, row in figures.items()},
    )


def _injection(runs: Runs) -> list[tuple[str, str, str]]:
    tiers = list(runs[0]["injection"])
    keys = {"block_precision": "block precision", "relevant_injected_share": "relevant injected"}
    labels = [f"{tier}: {word}" for tier in tiers for word in keys.values()]
    series = {_name(run): [run["injection"][tier][key] for tier in tiers for key in keys] for run in runs}
    found = [
        ("Injection", "What the block of each tier holds, for queries with an answer.", bars(labels, series))
    ]
    tier = tiers[-1]
    by = "negatives_with_any_row_by_category"
    names = sorted({name for run in runs for name in run["injection"][tier][by]})
    if runs[0]["injection"][tier]["negatives"]:
        labels = ["any category", *names]
        series = {
            _name(run): [
                run["injection"][tier]["negatives_with_any_row"],
                *(run["injection"][tier][by].get(name, 0.0) for name in names),
            ]
            for run in runs
        }
        about = f"Share of queries without an answer for which tier {tier} injects this; lower is better."
        found.append(("Injected when irrelevant", about, bars(labels, series)))
    return found
