"""The report of one run: one JSON object with every figure, the raw rankings and the whole configuration."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import olav_bench.injection as injections
from olav_bench.answer import Answer
from olav_bench.configuration import Configuration, described
from olav_bench.groups import groups, negatives
from olav_bench.latency import latency
from olav_bench.retrieval import MEANINGS, full_name, retrieval, summary
from olav_core import Registry, Suite, build_registry, write_atomically

#: Grows when a key of a report changes its meaning.
FORMAT = 1
_VERSIONS = ("olav-core", "lancedb", "tantivy", "onnxruntime", "numpy", "ir-measures")


def report(
    suite: Suite,
    configuration: Configuration,
    answers: Sequence[Answer],
    *,
    registry: Registry | None = None,
    rows: Mapping[str, tuple[str, str]] | None = None,
    expired: int = 0,
    fitted: Sequence[str] = (),
) -> dict[str, Any]:
    """Return everything measured. `rows`: (text, category) of the memories by suite id, where the suite
    itself holds none. `expired`: how many of them had expired, and so could not be recalled.
    `fitted`: what was changed to fit memories to their categories."""
    rows = rows or {key: (draft.text, draft.category) for key, draft in suite.memories.items()}
    texts = {key: text for key, (text, _) in rows.items()}
    found = groups(suite, texts, {key: name for key, (_, name) in rows.items()})
    apart = {**found, **_apart(negatives(suite))}
    values = retrieval(suite, answers)
    tiers = configuration.tiers
    blocks = {tier: injections.per_query(suite, answers, tier) for tier in tiers}
    return {
        "format": FORMAT,
        "suite": suite.id,
        "unit": suite.unit,
        "pool": suite.pool,
        "memories": len(rows),
        "expired_memories": expired,
        "fitted": list(fitted),
        "queries": len(suite.queries),
        "data_sha256": digest(suite),
        "configuration": described(configuration, registry or build_registry()),
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **_versions()},
        "machine": {"system": platform.system(), "arch": platform.machine(), "cores": os.cpu_count()},
        "metric_names": {
            **{key: full_name(key, suite) for key in MEANINGS},
            **{
                f"{tier}/{key}": f"{text}, tier {tier}"
                for tier in tiers
                for key, text in injections.MEANINGS.items()
            },
        },
        "groups": apart,
        "retrieval": {name: summary(suite, values, qids) for name, qids in found.items()},
        "injection": {tier: injections.injection(suite, answers, tier, apart) for tier in tiers},
        "leaks": sum(len(answer.leaks) for answer in answers),
        "leaking_queries": [answer.qid for answer in answers if answer.leaks],
        "degraded": sorted({line for answer in answers for line in answer.degraded}),
        "latency": latency(answers),
        "latency_tier": configuration.timed,
        "per_query": {
            answer.qid: values.get(answer.qid, {})
            | {f"{tier}/{key}": figure for tier in tiers for key, figure in blocks[tier][answer.qid].items()}
            for answer in answers
        },
        "rankings": {answer.qid: list(answer.ranked) for answer in answers},
        "scores": {answer.qid: list(answer.scores) for answer in answers},
        "injected": {
            answer.qid: {tier: list(answer.injected[tier].ids) for tier in tiers} for answer in answers
        },
    }


def digest(suite: Suite) -> str:
    """Return what two reports of the same data share: a hash of the suite's memories and queries."""
    told = hashlib.sha256()
    for key, draft in suite.memories.items():
        told.update(json.dumps([key, draft.text, draft.category, draft.scope], ensure_ascii=True).encode())
    for query in suite.queries:
        told.update(json.dumps([query.qid, query.query, query.agent, sorted(query.relevant)]).encode())
    return told.hexdigest()


def save(found: Any, path: Path) -> None:
    """Write a report as JSON, whole or not at all."""
    write_text(path, json.dumps(found, ensure_ascii=False, indent=1))


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text)


def _apart(found: Mapping[str, list[str]]) -> dict[str, list[str]]:
    return {f"negative {name}" if name == "all" else name: qids for name, qids in found.items()}


def _versions() -> dict[str, str]:
    found = {}
    for name in _VERSIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
