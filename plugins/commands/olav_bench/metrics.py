"""Metrics of a run: retrieval over the ranked candidates, injection per tier, latency, by group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from olav_bench.running import Answer
from olav_core import OlavError, Suite, SuiteQuery

#: Resamples of the bootstrap and of the permutation test; the seed makes both repeatable.
RESAMPLES = 2_000
SEED = 20261201
#: Retrieval metrics by name; all@k: every relevant memory among the best k.
CUTS = (1, 5, 10)


def retrieval(suite: Suite, answers: Sequence[Answer]) -> dict[str, dict[str, float]]:
    """Return qid -> metric -> value for queries with relevant memories: R@k (share of the relevant), all@k
    (strict), hit@k (any), MRR@10, nDCG@10; all but all@k by ir-measures."""
    try:
        import ir_measures
        from ir_measures import RR, R, Success, nDCG
    except ImportError as error:
        raise OlavError("olav bench needs the extra `bench`: pip install 'olav-core[bench]'.") from error

    asked = {query.qid: query for query in suite.queries if query.relevant}
    qrels = [ir_measures.Qrel(qid, key, 1) for qid, query in asked.items() for key in query.relevant]
    # Ties are broken by rank, not by the evaluator's order of ids.
    run = [
        ir_measures.ScoredDoc(answer.qid, key, float(len(answer.ranked) - rank))
        for answer in answers
        for rank, key in enumerate(answer.ranked)
    ]
    names = {
        **{R @ k: f"R@{k}" for k in CUTS},
        **{Success @ k: f"hit@{k}" for k in CUTS},
        RR @ 10: "MRR@10",
        nDCG @ 10: "nDCG@10",
    }
    values: dict[str, dict[str, float]] = {qid: dict.fromkeys(names.values(), 0.0) for qid in asked}
    if run and qrels:
        for metric in ir_measures.iter_calc(list(names), qrels, run):
            if metric.query_id in values:
                values[metric.query_id][names[metric.measure]] = float(metric.value)
    for answer in answers:
        if answer.qid in asked:
            relevant = asked[answer.qid].relevant
            for k in CUTS:
                values[answer.qid][f"all@{k}"] = float(relevant <= set(answer.ranked[:k]))
    return values


def injection(suite: Suite, answers: Sequence[Answer], tier: str) -> dict[str, Any]:
    """Return what one tier put into prompts: precision of blocks and recall of the relevant, rows injected by
    negatives (all and per category), decisions on relevant memories, tokens."""
    asked = {query.qid: query for query in suite.queries}
    precision, recall, tokens, rows = [], [], [], []
    decisions: dict[str, int] = defaultdict(int)
    by_category: dict[str, int] = defaultdict(int)
    negatives = 0
    for answer in answers:
        injected = answer.injected[tier]
        relevant = asked[answer.qid].relevant
        tokens.append(injected.tokens)
        if relevant:
            if injected.ids:
                precision.append(len(relevant & set(injected.ids)) / len(injected.ids))
            recall.append(len(relevant & set(injected.ids)) / len(relevant))
            for decision in injected.decisions.values():
                decisions[decision] += 1
        else:
            negatives += 1
            rows.append(len(injected.ids))
            for category in injected.categories:
                by_category[category] += 1
    return {
        "block_precision": _mean(precision),
        "relevant_injected_share": _mean(recall),
        "decisions_on_relevant": dict(sorted(decisions.items())),
        "negatives": negatives,
        "rows_injected_per_negative": _mean(rows),
        "negatives_with_any_row": _mean([count > 0 for count in rows]),
        "rows_injected_per_negative_by_category": {
            name: round(count / negatives, 4) for name, count in sorted(by_category.items())
        },
        "tokens_p50": float(np.median(tokens)) if tokens else 0.0,
        "tokens_p95": float(np.percentile(tokens, 95)) if tokens else 0.0,
    }


def latency(answers: Sequence[Answer]) -> dict[str, dict[str, float]]:
    """Return stage -> {p50_ms, p95_ms} of the timed recall."""
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


def groups(suite: Suite) -> dict[str, list[str]]:
    """Return group -> qids: all, by kind, by `query language->memory language`."""
    found: dict[str, list[str]] = {"all": [query.qid for query in suite.queries if query.relevant]}
    for query in suite.queries:
        if not query.relevant:
            continue
        if query.kind:
            found.setdefault(f"kind:{query.kind}", []).append(query.qid)
        pair = _pair(query, suite.languages)
        if pair:
            found.setdefault(f"lang:{pair}", []).append(query.qid)
    return found


def summary(values: Mapping[str, Mapping[str, float]], qids: Sequence[str]) -> dict[str, Any]:
    """Return n and, per metric, its mean and 95% bootstrap interval over the queries."""
    names = list(next(iter(values.values()))) if values else []
    return {
        "n": len(qids),
        **{name: interval([values[qid][name] for qid in qids]) for name in names},
    }


def interval(sample: Sequence[float]) -> dict[str, float]:
    """Return {mean, low, high}: percentile bootstrap of the mean, 95%."""
    data = np.asarray(sample, dtype=np.float64)
    mean = float(data.mean()) if len(data) else 0.0
    if len(data) < 2 or data.std() == 0:
        return {"mean": round(mean, 4), "low": round(mean, 4), "high": round(mean, 4)}
    random = np.random.default_rng(SEED)
    means = data[random.integers(0, len(data), (RESAMPLES, len(data)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return {"mean": round(mean, 4), "low": round(float(low), 4), "high": round(float(high), 4)}


def paired(before: Sequence[float], after: Sequence[float]) -> dict[str, float]:
    """Return the mean difference after - before, its 95% bootstrap interval, and p of the paired sign-flip
    permutation test."""
    difference = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    random = np.random.default_rng(SEED)
    signs = random.choice([-1.0, 1.0], size=(RESAMPLES, len(difference)))
    flipped = np.abs((signs * difference).mean(axis=1))
    p = (1 + int((flipped >= abs(difference.mean()) - 1e-12).sum())) / (RESAMPLES + 1)
    return {"difference": interval(difference.tolist())["mean"], **_bounds(difference), "p": round(p, 4)}


def _bounds(difference: np.ndarray) -> dict[str, float]:
    found = interval(difference.tolist())
    return {"low": found["low"], "high": found["high"]}


def _pair(query: SuiteQuery, languages: Mapping[str, str]) -> str:
    spoken = {languages.get(key, "") for key in query.relevant} - {""}
    return f"{query.lang}->{spoken.pop()}" if query.lang and len(spoken) == 1 else ""


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 4) if values else 0.0
