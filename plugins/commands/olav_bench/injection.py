"""Metrics of injection: what one tier put into prompts, for queries with an answer and without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from olav_bench.answer import Answer, Injection
from olav_bench.statistics import interval, mean
from olav_core import Suite

#: What is measured per query at each tier -> its meaning; on_negative is of queries that nothing answers.
MEANINGS: Mapping[str, str] = {
    "block_precision": "share of the block's memories that are relevant, where the query has an answer",
    "relevant_injected_share": "share of the relevant memories that are in the block",
    "rows_injected_per_negative": "memories in the block of a query that nothing answers",
    "negatives_with_any_row": "share of the queries that nothing answers whose block is not empty",
}
Values = dict[str, float]


def per_query(suite: Suite, answers: Sequence[Answer], tier: str) -> dict[str, Values]:
    """Return qid -> key of MEANINGS -> value, where it applies."""
    relevant = {query.qid: query.relevant for query in suite.queries}
    return {answer.qid: _values(answer.injected[tier], relevant[answer.qid]) for answer in answers}


def injection(
    suite: Suite, answers: Sequence[Answer], tier: str, groups: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Return the figures of one tier: overall, their intervals, by group, and what happened on the way."""
    values = per_query(suite, answers, tier)
    found: dict[str, Any] = {"k": answers[0].injected[tier].limit if answers else 0}
    found |= _figures(values, list(values))
    return found | {
        "intervals": {
            name: interval(sample) for name in MEANINGS if (sample := _sample(values, list(values), name))
        },
        "groups": {name: _figures(values, qids) for name, qids in groups.items()},
        **_on_negatives(suite, answers, tier),
        "decisions_on_relevant": _decisions(answers, tier),
        "gates": _gates(answers, tier),
        "quota_starvation": _starvation(answers, tier),
        **_tokens([answer.injected[tier].tokens for answer in answers]),
    }


def _values(injected: Injection, relevant: frozenset[str]) -> Values:
    if not relevant:
        return {
            "rows_injected_per_negative": float(len(injected.categories)),
            "negatives_with_any_row": float(bool(injected.categories)),
        }
    hits = len(relevant & set(injected.ids))
    found = {"relevant_injected_share": hits / len(relevant)}
    if injected.categories:
        found["block_precision"] = hits / len(injected.categories)
    return found


def _sample(values: Mapping[str, Values], qids: Sequence[str], name: str) -> list[float]:
    return [values[qid][name] for qid in qids if qid in values and name in values[qid]]


def _figures(values: Mapping[str, Values], qids: Sequence[str]) -> dict[str, Any]:
    figures: dict[str, Any] = {"n": sum(qid in values for qid in qids)}
    return figures | {
        name: mean(sample) if (sample := _sample(values, qids, name)) else None for name in MEANINGS
    }


def _on_negatives(suite: Suite, answers: Sequence[Answer], tier: str) -> dict[str, Any]:
    blank = {query.qid for query in suite.queries if not query.relevant}
    blocks = [answer.injected[tier].categories for answer in answers if answer.qid in blank]
    rows = Counter(name for block in blocks for name in block)
    queries = Counter(name for block in blocks for name in set(block))
    count = len(blocks)
    return {
        "negatives": count,
        "rows_injected_per_negative_by_category": {
            name: round(rows[name] / count, 4) for name in sorted(rows)
        },
        "negatives_with_any_row_by_category": {
            name: round(queries[name] / count, 4) for name in sorted(queries)
        },
    }


def _decisions(answers: Sequence[Answer], tier: str) -> dict[str, int]:
    found = Counter(decision for answer in answers for decision in answer.injected[tier].decisions.values())
    return dict(sorted(found.items()))


def _gates(answers: Sequence[Answer], tier: str) -> dict[str, dict[str, int]]:
    """Return gated category -> how many candidates its gates kept and dropped, relevant ones apart."""
    total: Counter[tuple[str, bool, bool]] = Counter()
    for answer in answers:
        total.update(answer.injected[tier].gates)
    return {
        category: {
            "relevant_kept": total[category, True, True],
            "relevant_dropped": total[category, True, False],
            "irrelevant_kept": total[category, False, True],
            "irrelevant_dropped": total[category, False, False],
        }
        for category in sorted({key[0] for key in total})
    }


def _starvation(answers: Sequence[Answer], tier: str) -> dict[str, Any]:
    """Return the share of queries in which a category got less than its quota of candidates that had passed
    gates and floor, and how often by category."""
    starved = [answer.injected[tier].starved for answer in answers]
    by_category = Counter(name for names in starved for name in names)
    return {
        "share": mean([float(bool(names)) for names in starved]),
        "queries": dict(sorted(by_category.items())),
    }


def _tokens(tokens: Sequence[int]) -> dict[str, float]:
    import numpy as np

    return {
        "tokens_p50": float(np.median(tokens)) if tokens else 0.0,
        "tokens_p95": float(np.percentile(tokens, 95)) if tokens else 0.0,
    }
