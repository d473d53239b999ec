"""Metrics of rankings, by ir-measures; their full names say any, all or share, the unit and the pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from olav_bench.answer import Answer
from olav_bench.statistics import interval
from olav_core import OlavError, Suite

CUTS = (1, 5, 10)
#: Key of a metric -> what it counts. R@k is the textbook recall; hit@k asks for one, all@k for every
#: relevant.
MEANINGS: Mapping[str, str] = {
    **{f"R@{k}": f"R@{k} share of the relevant" for k in CUTS},
    **{f"hit@{k}": f"R@{k} any of the relevant" for k in CUTS},
    **{f"all@{k}": f"R@{k} all of the relevant, strict" for k in CUTS},
    "MRR@10": "MRR@10 first of the relevant",
    "nDCG@10": "nDCG@10 all of the relevant, binary gain",
}


def full_name(metric: str, suite: Mapping[str, Any] | Suite) -> str:
    """Return the metric's name with its unit and pool: `R@5 any of the relevant (unit memory; pool …)`."""
    unit, pool = (suite.unit, suite.pool) if isinstance(suite, Suite) else (suite["unit"], suite["pool"])
    return f"{MEANINGS[metric]} (unit {unit}; pool {pool})"


def retrieval(suite: Suite, answers: Sequence[Answer]) -> dict[str, dict[str, float]]:
    """Return qid -> key of MEANINGS -> value, for queries with relevant memories."""
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
    values: dict[str, dict[str, float]] = {qid: dict.fromkeys(MEANINGS, 0.0) for qid in asked}
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


def summary(suite: Suite, values: Mapping[str, Mapping[str, float]], qids: Sequence[str]) -> dict[str, Any]:
    """Return n and, per metric, its full name, mean and 95% bootstrap interval over these queries."""
    known = [qid for qid in qids if qid in values]
    return {
        "n": len(known),
        **{
            key: {"name": full_name(key, suite), **interval([values[qid][key] for qid in known])}
            for key in MEANINGS
        },
    }
