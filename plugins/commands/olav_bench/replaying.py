"""Replaying the query log under another configuration: what would be injected, and what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import Factory, define

from olav_bench.configuration import Configuration
from olav_bench.running import filled, nothing
from olav_bench.statistics import interval, mean, paired
from olav_core import Suite

if TYPE_CHECKING:
    from olav_core import Feedback, LoggedQuery, RecalledMemory, Registry

Progress = Callable[[int, int], None]


@define
class Replayed:
    """What one configuration injects: per query the memories and the block's tokens."""

    items: list[tuple[RecalledMemory, ...]] = Factory(list)
    tokens: list[int] = Factory(list)
    degraded: set[str] = Factory(set)


def distinct(logged: Sequence[LoggedQuery]) -> list[tuple[LoggedQuery, int]]:
    """Return every query once, as it was asked last, with how often it was asked; the latest first."""
    times: Counter[tuple[Any, ...]] = Counter()
    last: dict[tuple[Any, ...], LoggedQuery] = {}
    for query in logged:
        key = (query.query_hash, query.agent, query.scopes, query.tier, query.limit)
        times[key] += 1
        last.pop(key, None)
        last[key] = query
    return [(query, times[key]) for key, query in reversed(last.items())]


def replay(
    workspace: Path,
    queries: Sequence[LoggedQuery],
    configuration: Configuration,
    *,
    registry: Registry,
    cache: Path | None = None,
    on_write: Progress = nothing,
    on_query: Progress = nothing,
) -> Replayed:
    """Return what `configuration` injects for the queries today, in a copy of the workspace's rows."""
    suite = Suite(id="replay", memories={}, queries=(), unit="memory", pool="", workspace=workspace)
    found = Replayed()
    with filled(suite, configuration, cache=cache, registry=registry, on_write=on_write) as (memory, _):
        for number, query in enumerate(queries, 1):
            recall = memory.recall(
                query.query,
                agent=query.agent,
                scopes=query.scopes,
                tier=query.tier,
                limit=query.limit,
                category=configuration.category,
                log=False,
            )
            found.items.append(recall.items)
            found.tokens.append(recall.tokens)
            found.degraded.update(recall.degraded)
            on_query(number, len(queries))
    return found


def difference(
    asked: Sequence[tuple[LoggedQuery, int]], before: Replayed, after: Replayed, thumbs: Sequence[Feedback]
) -> dict[str, Any]:
    """Return what differs: overall, by category, per query, and on the memories that people gave thumbs."""
    rows = []
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("added", "removed", "kept")}
    for (query, times), old, new in zip(asked, before.items, after.items, strict=True):
        was, now = {item.id: item for item in old}, {item.id: item for item in new}
        parts = {
            "added": [item for id, item in now.items() if id not in was],
            "removed": [item for id, item in was.items() if id not in now],
            "kept": [item for id, item in now.items() if id in was],
        }
        for name, items in parts.items():
            counts[name].update(item.category for item in items)
        about = {"query": query.query, "agent": query.agent, "tier": query.tier, "times": times}
        shown = {name: [_shown(item) for item in items] for name, items in parts.items()}
        rows.append(about | shown | {"order_changed": list(was) != list(now)})
    changed = [float(bool(row["added"] or row["removed"])) for row in rows]
    return {
        "queries": len(rows),
        "changed": interval(changed),
        "rows": {name: dict(sorted(counter.items())) for name, counter in counts.items()},
        "tokens": {
            "before": mean(before.tokens),
            "after": mean(after.tokens),
            **(paired(before.tokens, after.tokens) if rows else {}),
        },
        "thumbs": _on_thumbs(asked, before, after, thumbs),
        "degraded": sorted(before.degraded | after.degraded),
        "per_query": rows,
    }


def _on_thumbs(
    asked: Sequence[tuple[LoggedQuery, int]], before: Replayed, after: Replayed, thumbs: Sequence[Feedback]
) -> dict[str, dict[str, int]]:
    """Return, for thumbs up and down on these queries, how many of their memories each side injects."""
    last = {(thumb.query_hash, thumb.memory_id): thumb.verdict for thumb in thumbs}
    found = {verdict: {"known": 0, "before": 0, "after": 0} for verdict in ("up", "down")}
    for (query, _), old, new in zip(asked, before.items, after.items, strict=True):
        for (digest, id), verdict in last.items():
            if digest == query.query_hash:
                found[verdict]["known"] += 1
                found[verdict]["before"] += any(item.id == id for item in old)
                found[verdict]["after"] += any(item.id == id for item in new)
    return found


def _shown(item: RecalledMemory) -> dict[str, str]:
    return {"id": item.id, "category": item.category, "text": item.record.text[:200]}
