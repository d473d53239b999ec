"""What each ranker adds: chains of rankers on one store, through the product's recall path.

    python benchmarks/ablation.py --cache DIR --set golden=native:MEMORIES,QUERIES:dev \\
        --set locomo=locomo:FILE --chain default= --chain maxsim=+maxsim \\
        --output benchmarks/results/ablation.json

A chain is the default one with rankers added (`+id`) or left out (`-id`), and options (`id.option=value`),
separated by commas. The store of a set is kept in DIR, its token vectors too. Figures: R@k (share of the
relevant memories among the best k), nDCG@10, with 95 % bootstrap intervals, the paired difference from the
first chain, and the median and 95th percentile of the stages in milliseconds.
"""

from __future__ import annotations

import argparse
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve
from environment import environment
from olav_bench.selection import select_queries

import olav_core
from olav_core import Settings, Suite, build_registry
from olav_core.config import DEFAULT_RANKERS
from olav_core.recall.chain import build_chain

RESAMPLES = 2_000
SEED = 20261201
METRICS = ("R@1", "R@5", "R@10", "nDCG@10")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument(
        "--set", dest="sets", action="append", required=True, metavar="NAME=SUITE:PATHS[:SPLIT]"
    )
    parser.add_argument("--chain", dest="chains", action="append", required=True, metavar="NAME=CHANGES")
    parser.add_argument("--embedder", default="e5")
    parser.add_argument("--embedder-options", default="{}", help="JSON")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    rows = []
    for each in arguments.sets:
        rows += run_set(each, arguments)
        if arguments.output:
            save(arguments.output, rows)


def save(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows beside those of other sets, embedders and chains that are there already."""
    old = json.loads(path.read_text())["rows"] if path.exists() else []
    mine = {(row["set"], row["embedder"], row["chain"]) for row in rows}
    kept = [row for row in old if (row["set"], row["embedder"], row["chain"]) not in mine]
    names = ("olav-core", "lancedb", "tantivy", "onnxruntime", "numpy")
    about = {"environment": environment(), "versions": {name: version(name) for name in names}}
    path.write_text(json.dumps({**about, "rows": kept + rows}, ensure_ascii=False, indent=1) + "\n")


def run_set(told: str, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    name, _, where = told.partition("=")
    suite_id, paths, *split = where.split(":")
    registry = build_registry()
    suite = registry.suite(suite_id).load([Path(path) for path in paths.split(",")])
    suite = select_queries(suite, split=split[0] if split else None, kind=None, limit=None, seed=0)
    folder = arguments.cache / f"{name}-{arguments.embedder}"
    if not (folder / ".olav" / "config.yaml").exists():
        options = json.loads(arguments.embedder_options)
        olav_core.init(folder, embedder=arguments.embedder, options=options).close()
    settings = Settings.load(folder / ".olav" / "config.yaml", {})
    uses_tokens = any("maxsim" in chain for chain in arguments.chains)
    rankers = tuple(dict.fromkeys((*DEFAULT_RANKERS, "maxsim"))) if uses_tokens else DEFAULT_RANKERS
    recall = evolve(settings.recall, log=False, rankers=rankers)
    found: list[dict[str, Any]] = []
    with olav_core.open(folder, settings=evolve(settings, recall=recall)) as memory:
        ids: dict[str, tuple[str, ...]] = {}
        for key, outcome in zip(suite.memories, memory.remember_many(suite.memories.values()), strict=True):
            if outcome.error is not None:
                raise outcome.error
            ids[outcome.id] = (*ids.get(outcome.id, ()), key)
        memory.optimize()
        first: dict[str, dict[str, float]] = {}
        for chain in arguments.chains:
            label, _, changes = chain.partition("=")
            rankers, options = chain_of(changes)
            present = evolve(settings, recall=evolve(recall, rankers=rankers, ranker_options=options))
            memory._engine.pipeline.chain = build_chain(registry, present, memory.categories)
            values, stages, degraded = ask(memory, suite, ids)
            first = first or values
            row = {
                "set": name, "embedder": arguments.embedder, "chain": label, "rankers": list(rankers),
                "options": options, "unit": suite.unit, "pool": suite.pool,
                "split": split[0] if split else "all", "n": len(values),
                "degraded": sorted(degraded), "stages_ms": stages,
                "all": summary(values, first),
                "kinds": {
                    kind: summary({qid: values[qid] for qid in qids}, first)
                    for kind, qids in kinds(suite).items()
                },
            }  # fmt: skip
            found.append(row)
            figures = " ".join(f"{metric} {row['all'][metric]['mean']:.3f}" for metric in METRICS)
            print(f"{name} {label:34s} {figures} rerank {stages.get('rerank', {}).get('p50')} ms", flush=True)
            print(
                "    " + " ".join(f"{k} {v['R@5']['mean']:.3f}" for k, v in row["kinds"].items()), flush=True
            )
    return found


def chain_of(changes: str) -> tuple[tuple[str, ...], dict[str, dict[str, Any]]]:
    rankers, options = list(DEFAULT_RANKERS), {}
    for change in filter(None, changes.split(",")):
        if change.startswith("+"):
            rankers.append(change[1:])
        elif change.startswith("-"):
            rankers.remove(change[1:])
        else:
            name, _, value = change.partition("=")
            ranker, *path = name.split(".")
            place = options.setdefault(ranker, {})
            for step in path[:-1]:
                place = place.setdefault(step, {})
            place[path[-1]] = json.loads(value)
    return tuple(dict.fromkeys(rankers)), options


def ask(
    memory: olav_core.Memory, suite: Suite, ids: dict[str, tuple[str, ...]]
) -> tuple[dict[str, dict[str, float]], dict[str, Any], set[str]]:
    values: dict[str, dict[str, float]] = {}
    timings: dict[str, list[float]] = {}
    degraded: set[str] = set()
    for query in suite.queries:
        if not query.relevant:
            continue
        teams = (team if team.startswith("team:") else f"team:{team}" for team in query.teams)
        scopes = query.scopes or (query.agent, *teams, "global")
        found = memory.search(query.query, agent=query.agent, scopes=scopes, limit=10)
        degraded |= set(found.degraded)
        for stage, spent in found.timings_ms.items():
            timings.setdefault(stage, []).append(spent)
        ranked = [key for item in found.items for key in ids.get(item.id, ())]
        hits = [float(key in query.relevant) for key in ranked[:10]]
        ideal = sum(1 / np.log2(rank + 2) for rank in range(min(10, len(query.relevant))))
        values[query.qid] = {
            **{f"R@{k}": sum(hits[:k]) / len(query.relevant) for k in (1, 5, 10)},
            "nDCG@10": float(sum(hit / np.log2(rank + 2) for rank, hit in enumerate(hits)) / ideal),
        }
    stages = {
        stage: {f"p{p}": round(float(np.percentile(spent, p)), 2) for p in (50, 95)}
        for stage, spent in timings.items()
    }
    return values, stages, degraded


def kinds(suite: Suite) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for query in suite.queries:
        if not query.relevant:
            continue
        spoken = {suite.languages.get(key, "") for key in query.relevant} - {""}
        groups = [query.kind] if query.kind else []
        if query.lang in ("zh", "en") and len(spoken) == 1 and spoken != {query.lang}:
            groups.append("across languages")
        if suite.id.startswith("locomo") and query.kind != "adversarial":
            groups.append("categories 1-4")
        for group in groups:
            found.setdefault(group, []).append(query.qid)
    return found


def summary(values: dict[str, dict[str, float]], first: dict[str, dict[str, float]]) -> dict[str, Any]:
    random = np.random.default_rng(SEED)
    drawn = random.integers(0, len(values), (RESAMPLES, len(values)))
    result: dict[str, Any] = {"n": len(values)}
    for metric in METRICS:
        mine = np.array([row[metric] for row in values.values()])
        change = mine - np.array([first[qid][metric] for qid in values])
        low, high = np.percentile(mine[drawn].mean(axis=1), [2.5, 97.5])
        worse, better = np.percentile(change[drawn].mean(axis=1), [2.5, 97.5])
        result[metric] = {
            "mean": round(float(mine.mean()), 4), "low": round(float(low), 4), "high": round(float(high), 4),
            "change": round(float(change.mean()), 4), "change_low": round(float(worse), 4),
            "change_high": round(float(better), 4),
        }  # fmt: skip
    return result


if __name__ == "__main__":
    main()
